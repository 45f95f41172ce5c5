// SPDX-License-Identifier: GPL-2.0-only
/*
 * load_kernel KERNEL INITRAMFS "COMMAND LINE" [crash]	loads the kernel that is to follow
 * load_kernel start					starts it
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_kexec_file_load
#define SYS_kexec_file_load -1		/* 32-bit x86 has none */
#endif

static int file(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "start")) {
		syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
			LINUX_REBOOT_CMD_KEXEC, NULL);
		err(1, "reboot");
	}
	if (argc < 4)
		errx(2, "a kernel, an initramfs and a command line");
	if (syscall(SYS_kexec_file_load, file(argv[1]), file(argv[2]), strlen(argv[3]) + 1,
		    argv[3], argv[4] ? KEXEC_FILE_ON_CRASH : 0))
		err(1, "kexec_file_load");
	return 0;
}
