// SPDX-License-Identifier: GPL-2.0-only
/*
 * An unprivileged process that causes random traps.
 *
 *	random_traps learn SEED ADDRESS FILE
 *	random_traps check SECONDS ADDRESS FILE
 *	random_traps segment ADDRESS
 *
 * The traps are breakpoints of all encodings, at the edges of the address space and in all
 * code segments, single steps, a debugger's requests, and signal frames with a wrong
 * instruction pointer, among them that of the kernel function at ADDRESS. "learn" writes
 * the result of each trap to FILE; "check" expects the same results again and again, while
 * probes in the kernel change. Prints the number of traps, and each different result.
 *
 * "segment" expects a signal for one breakpoint, whose instruction pointer is ADDRESS. On 32
 * bits a code segment may begin anywhere, so that this can be the address of a probe.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <asm/ldt.h>

#ifdef __x86_64__
#define IP		REG_RIP
#define USER_IP		offsetof(struct user, regs.rip)
#define SP		"rsp"
#else
#define IP		REG_EIP
#define USER_IP		offsetof(struct user, regs.eip)
#define SP		"esp"
#endif
#define TF		0x100
#define PAGE		4096ul
#define NR_TRAPS	1000
#define MAX_SHOWN	10
#define LDT_SELECTOR	0x7
#define SIZE(array)	(sizeof(array) / sizeof(*(array)))
#define pick(array)	((array)[draw(SIZE(array))])

struct outcome {
	int32_t signal, code;
	int64_t ip;
};

struct trap {
	unsigned int kind, place, offset, code, selector;
	uintptr_t odd;
};

/* What the file has. */
static struct {
	uint64_t seed;
	struct outcome outcomes[NR_TRAPS];
} known;

static struct outcome seen;
static sigjmp_buf out;
static unsigned int steps;
static uintptr_t odd_ip;
static uintptr_t kernel_address;

static unsigned int draw(unsigned int below)
{
	return random() % below;
}

/* -- the addresses of the traps -- */

static const uint64_t places[] = {
	0x10000, 0x20000000, 0x7ffff000, 0xbffff000, 0xfffff000, 0x100000000, 0x7fffffffe000,
};

static uint8_t *pages[SIZE(places)];

/* If an address is not available, the kernel chooses another. */
static void map_places(void)
{
	unsigned int i;

	for (i = 0; i < SIZE(places); i++) {
		pages[i] = mmap((void *)(uintptr_t)places[i], PAGE,
				PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages[i] == MAP_FAILED)
			exit(2);
	}
}

static const struct code {
	unsigned int len;
	uint8_t bytes[4];
} codes[] = {
	{ 1, { 0xcc } },		/* int3 */
	{ 2, { 0xcd, 0x03 } },		/* int 3 */
	{ 1, { 0xf1 } },		/* int1 */
	{ 2, { 0xcd, 0x01 } },		/* int 1 */
	{ 2, { 0xcd, 0x04 } },		/* int 4, the vector of into */
	{ 2, { 0x0f, 0x0b } },		/* ud2 */
	{ 1, { 0xf4 } },		/* hlt */
	{ 2, { 0xf3, 0xcc } },
	{ 2, { 0x66, 0xcc } },
};

/* The code may end at the end of the page; otherwise breakpoints follow it. */
static uint8_t *write_code(const struct trap *t)
{
	const struct code *code = &codes[t->code];
	unsigned int at = t->offset + code->len > PAGE ? PAGE - code->len : t->offset;
	uint8_t *page = pages[t->place];

	memset(page, 0xcc, PAGE);
	memcpy(page + at, code->bytes, code->len);

	return page + at;
}

/* -- the results -- */

static void on_trap(int number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	/* Count down the single steps. */
	if (steps && number == SIGTRAP && info->si_code == TRAP_TRACE) {
		if (!--steps)
			regs[REG_EFL] &= ~TF;
		return;
	}
	seen = (struct outcome){ number, info->si_code, regs[IP] };
	siglongjmp(out, 1);
}

static void on_user(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[IP] = odd_ip;
}

static void take_signals(void)
{
	static uint8_t stack[64 * 1024] __attribute__((aligned(16)));
	static const int faults[] = { SIGTRAP, SIGSEGV, SIGILL, SIGBUS, SIGFPE };
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };
	unsigned int i;

	sigaltstack(&alternative, NULL);
	for (i = 0; i < SIZE(faults); i++)
		sigaction(faults[i], &action, NULL);
	action.sa_sigaction = on_user;
	sigaction(SIGUSR1, &action, NULL);
}

/* -- ways to cause a trap -- */

static void by_call(const struct trap *t)
{
	((void (*)(void))write_code(t))();
}

/* Not by a far return, because the emulator accesses its stack as the kernel's. */
static void far_jump(unsigned int selector, uintptr_t ip)
{
	struct { uint32_t ip; uint16_t selector; } __attribute__((packed)) there = { ip, selector };

	asm volatile("ljmpl *%0" : : "m" (there) : "memory");
}

/* Use the code segments that every process has. The wrong one for the address faults. */
static void by_far_jump(const struct trap *t)
{
	far_jump(t->selector, (uintptr_t)write_code(t));
}

/* Use a segment whose base makes the code appear at an arbitrary address. */
static void by_own_segment(const struct trap *t)
{
	struct user_desc desc = {
		.limit = 0xfffff, .limit_in_pages = 1, .seg_32bit = 1,
		.contents = MODIFY_LDT_CONTENTS_CODE,
	};
	uint32_t ip = t->odd, at = (uint32_t)(uintptr_t)write_code(t);

	desc.base_addr = at - ip;
	if ((uintptr_t)pages[t->place] >> 31 >> 1 ||
	    syscall(SYS_modify_ldt, 1, &desc, sizeof(desc))) {
		seen.code = errno;
		return;
	}
	far_jump(LDT_SELECTOR, ip);
}

static void by_signal_frame(const struct trap *t)
{
	odd_ip = t->odd;
	raise(SIGUSR1);
}

static void by_step(const struct trap *t)
{
	uint8_t *code = write_code(t);

	steps = 1 + t->offset % 8;
	asm volatile("pushf\n\torl %0, (%%" SP ")\n\tpopf\n\tnop\n\tnop"
		     : : "i" (TF) : "memory", "cc");
	if (t->offset & 1)
		((void (*)(void))code)();
	syscall(SYS_getppid);
	while (steps)
		asm volatile("nop");
}

/* Let the child go, and record where and by which signal it stops next. */
static void let_go(pid_t pid, int how)
{
	int status;

	if (ptrace(how, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid) {
		seen.code = errno;
		return;
	}
	seen.signal = status;
	if (WIFSTOPPED(status) && how != PTRACE_SINGLESTEP)
		seen.ip = ptrace(PTRACE_PEEKUSER, pid, (void *)USER_IP, NULL);
}

static void by_debugger(const struct trap *t)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		uint8_t *code = write_code(t);

		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		((void (*)(void))code)();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		seen.code = errno;
		return;
	}
	if (t->offset % 4 == 3) {
		errno = 0;
		ptrace(PTRACE_POKEUSER, pid, (void *)offsetof(struct user, u_debugreg[0]),
		       (void *)t->odd);
		ptrace(PTRACE_POKEUSER, pid, (void *)offsetof(struct user, u_debugreg[7]),
		       (void *)1);
		seen.code = errno;
	} else {
		if (t->offset % 4 == 2)
			ptrace(PTRACE_POKEUSER, pid, (void *)USER_IP, (void *)t->odd);
		let_go(pid, t->offset % 4 == 1 ? PTRACE_SINGLESTEP : PTRACE_CONT);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static void (*const kinds[])(const struct trap *t) = {
	by_call, by_far_jump, by_own_segment, by_signal_frame, by_step, by_debugger,
};

static struct trap draw_trap(void)
{
	static const unsigned int selectors[] = { 0x23, 0x33, 0x73, 0x10, 0x8, 0x63, 0x2b };
	const uintptr_t odds[] = {
		0, 1, -1, -2, kernel_address, kernel_address + 1, 0xffffffff, 0xfffffffe,
		(uintptr_t)0x800000000000, (uintptr_t)0xffff800000000000, (uintptr_t)0x7ffffffff000,
		(uintptr_t)0xfffffffffffff000,
	};
	static const unsigned int offsets[] = { 0, 1, 2048, PAGE - 2, PAGE - 1 };
	struct trap t;

	t.kind = draw(SIZE(kinds));
	t.place = draw(SIZE(places));
	t.code = draw(SIZE(codes));
	t.selector = pick(selectors);
	t.odd = pick(odds);
	t.offset = draw(2) ? pick(offsets) : draw(PAGE);

	return t;
}

static struct outcome make(struct trap t)
{
	memset(&seen, 0, sizeof(seen));
	errno = 0;
	steps = 0;
	if (!sigsetjmp(out, 1))
		kinds[t.kind](&t);

	return seen;
}

static unsigned int differ(unsigned int i, struct trap t, struct outcome now)
{
	static unsigned int shown;
	struct outcome was = known.outcomes[i];

	if (!memcmp(&was, &now, sizeof(now)))
		return 0;
	if (shown++ < MAX_SHOWN) {
		printf("trap %u, kind %u code %u place %u odd %#lx: ",
		       i, t.kind, t.code, t.place, (unsigned long)t.odd);
		printf("signal %d code %d ip %#llx, not %d %d %#llx\n",
		       now.signal, now.code, (long long)now.ip,
		       was.signal, was.code, (long long)was.ip);
	}

	return 1;
}

/* Write or read the file. */
static void keep(const char *name, int learn)
{
	FILE *file = fopen(name, learn ? "w" : "r");

	if (!file || (learn ? fwrite(&known, sizeof(known), 1, file) :
			      fread(&known, sizeof(known), 1, file)) != 1 || fclose(file)) {
		perror(name);
		exit(2);
	}
}

static int gets_signal(uint32_t address)
{
	struct trap t = { .odd = address };

	map_places();
	take_signals();
	if (!sigsetjmp(out, 1))
		by_own_segment(&t);
	printf("signal %d code %d ip %#llx\n", seen.signal, seen.code, (long long)seen.ip);

	return seen.signal == SIGTRAP && (uint32_t)seen.ip == address + 1;
}

int main(int argc, char **argv)
{
	unsigned int bad = 0, i;
	unsigned long done = 0;
	time_t end;
	int learn;

	if (argc == 3)
		return !gets_signal(strtoul(argv[2], NULL, 16));
	if (argc != 5)
		return 2;
	learn = !strcmp(argv[1], "learn");
	known.seed = strtoul(argv[2], NULL, 0);
	end = time(NULL) + known.seed;
	kernel_address = strtoull(argv[3], NULL, 16);
	if (!learn)
		keep(argv[4], 0);
	if (setgid(1000) || setuid(1000))
		return 2;
	map_places();
	take_signals();

	/* Cause all traps of the seed, once or again and again. */
	do {
		srandom(known.seed);
		for (i = 0; i < NR_TRAPS && (learn || time(NULL) < end); i++, done++) {
			struct trap t = draw_trap();
			struct outcome now = make(t);

			if (learn)
				known.outcomes[i] = now;
			else
				bad += differ(i, t, now);
		}
	} while (!learn && time(NULL) < end);
	printf("traps %lu different %u\n", done, bad);
	if (learn)
		keep(argv[4], 1);

	return bad || !done;
}
#else
int main(void)
{
	puts("not on this architecture");
	return 1;
}
#endif
