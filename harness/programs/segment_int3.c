// SPDX-License-Identifier: GPL-2.0-only
/*
 * A breakpoint in user space whose instruction pointer is that of a kernel function.
 *
 *	segment_int3 ADDRESS
 *
 * On 32 bits a code segment may begin anywhere, so that a kernel address as an offset can
 * be memory of the process. The process must get the trap, and not a probe.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef __i386__
#include <asm/ldt.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

extern const char back[];
static volatile int traps, elsewhere;

/* Return by the signal, because the emulator faults on the stack of a far call. */
static void on_trap(int number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint16_t cs;

	(void)info;
	traps += number == SIGTRAP;
	elsewhere = regs[REG_EIP];
	asm("mov %%cs, %0" : "=r" (cs));
	regs[REG_CS] = cs;
	regs[REG_EIP] = (uint32_t)back;
}

static struct user_desc segment(uint32_t base)
{
	return (struct user_desc){
		.base_addr = base,
		.limit = 0xfffff,
		.limit_in_pages = 1,
		.seg_32bit = 1,
		.contents = MODIFY_LDT_CONTENTS_CODE,
	};
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct { uint32_t offset; uint16_t selector; } there = { .selector = 0x7 };
	struct user_desc desc;
	uint8_t *code;

	if (argc != 2)
		return 1;
	there.offset = strtoul(argv[1], NULL, 0);
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	*code = 0xcc;

	desc = segment((uint32_t)code - there.offset);
	if (syscall(SYS_modify_ldt, 1, &desc, sizeof(desc))) {
		perror("modify_ldt");
		return 1;
	}
	sigaction(SIGTRAP, &action, NULL);
	asm volatile("ljmp *%0\n"
		     "back:" : : "m" (there) : "memory", "cc");
	printf("traps %d, the last at %#x\n", traps, elsewhere);
	return traps != 1 || (uint32_t)elsewhere != there.offset + 1;
}
#else
int main(void)
{
	puts("no such segments");
	return 1;
}
#endif
