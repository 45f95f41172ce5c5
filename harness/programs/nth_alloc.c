// SPDX-License-Identifier: GPL-2.0-only
/*
 * nth_alloc N COMMAND-FILE COMMAND FILE: writes COMMAND to COMMAND-FILE, then reads FILE
 * to its end while the kernel's N-th allocation for it fails. Prints whether that
 * allocation was reached.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void put(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		err(2, "%s", text);
}

int main(int argc, char **argv)
{
	static char text[1 << 16];
	int command, file, nth;

	if (argc != 5)
		errx(2, "four arguments");
	command = open(argv[2], O_WRONLY);
	file = open(argv[4], O_RDONLY);
	nth = open("/proc/self/fail-nth", O_RDWR);
	if (command < 0 || file < 0 || nth < 0)
		err(2, "open");
	put(command, argv[3]);
	put(nth, argv[1]);
	while (read(file, text, sizeof(text)) > 0)
		;
	if (pread(nth, text, sizeof(text), 0) <= 0)
		err(2, "fail-nth");
	put(nth, "0");
	puts(text[0] == '0' ? "failed" : "no more");
	return 0;
}
