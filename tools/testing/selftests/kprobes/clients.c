// SPDX-License-Identifier: GPL-2.0-only
/*
 * Users of kprobes that a shell script cannot be: perf events and BPF programs on the
 * functions of the module kp_shared, each of which must count exactly the hits. Prints a
 * line for each test, which clients.sh counts.
 *
 *	clients
 *	clients override FUNCTION VALUE		until it is killed
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define SHARED		"/sys/module/kp_shared/parameters/"
#define PMU		"/sys/bus/event_source/devices/kprobe/"
#define LIST		"/sys/kernel/debug/kprobes/list"
#define POINTS		"/sys/kernel/debug/kprobes/points"
#define KNOB		"/proc/sys/debug/kprobes-optimization"
#define TRACED		"kp_shared_traced"
#define PLAIN		"kp_shared_plain"

static void result(bool good, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf(good ? "ok " : "not_ok ");
	vprintf(format, args);
	printf(good ? "\n" : " # errno %d\n", errno);
	va_end(args);
	errno = 0;
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	int ret = fd < 0 ? -1 : write(fd, text, strlen(text));

	close(fd);
	return ret < 0 ? -1 : 0;
}

/* Return the first line of the file that has both texts, or NULL. */
static char *find_line(const char *path, const char *text, const char *more)
{
	static char line[512];
	bool found = false;
	FILE *file = fopen(path, "r");

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, text) && strstr(line, more);
	if (file)
		fclose(file);
	return found ? line : NULL;
}

/* Return the number that follows @word, or -1. */
static long long number(const char *path, const char *word, int base)
{
	char *line = find_line(path, word, "");

	if (!line)
		return -1;
	return strtoull(strstr(line, word) + strlen(word), NULL, base);
}

static uint64_t symbol(const char *name)
{
	return number(SHARED "results", name, 16);
}

static bool listed(const char *name)
{
	return find_line(LIST, name, "");
}

static bool calls(unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	return !put(SHARED "call", text);
}

static long long returned(const char *name)
{
	return number(SHARED "results", name, 10);
}

/* Open a perf event on a function or, when @name is NULL, on an address. */
static int perf_open(const char *name, uint64_t offset, bool is_return)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = number(PMU "type", "", 10),
		.config1 = (uintptr_t)name,
		.config2 = offset,
	};

	if (is_return)
		attr.config |= 1ULL << number(PMU "format/retprobe", "config:", 10);
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t perf_count(int fd)
{
	uint64_t count = -1;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return -1;
	return count;
}

static bool perf_refused(const char *name, uint64_t offset, bool is_return, int why)
{
	int fd = perf_open(name, offset, is_return);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == why;
}

static void test_perf_pair(const char *name, bool is_return)
{
	const char *kind = is_return ? "returns of" : "entries to";
	int a = perf_open(name, 0, is_return);
	int b = perf_open(NULL, symbol(name), is_return);
	bool good;

	result(a >= 0 && b >= 0, "perf: events for %s %s", kind, name);
	result(calls(7) && perf_count(a) == 7 && perf_count(b) == 7,
	       "perf: by name and by address, all %s %s count", kind, name);

	ioctl(a, PERF_EVENT_IOC_DISABLE, 0);
	good = calls(5) && perf_count(a) == 7 && perf_count(b) == 12;
	ioctl(a, PERF_EVENT_IOC_ENABLE, 0);
	good = good && calls(1) && perf_count(a) == 8 && perf_count(b) == 13;
	result(good, "perf: %s %s do not count while the event is off", kind, name);

	close(a);
	result(calls(2) && perf_count(b) == 15, "perf: %s %s count when one of two has left", kind,
	       name);
	close(b);
	result(!listed(name), "perf: none is left on %s %s", kind, name);
}

/* Most kernels allow events only on functions that ftrace can trace. */
static bool has_events_on(const char *name)
{
	int fd = perf_open(name, 0, false);

	if (fd < 0 && errno == EINVAL) {
		printf("skip events on %s: the kernel refuses them\n", name);
		return false;
	}
	result(fd >= 0, "perf: an event on %s, or none is allowed there", name);
	close(fd);
	return fd >= 0;
}

static void test_perf_many(const char *name)
{
	bool good = true;
	unsigned int i;
	int fds[24];

	for (i = 0; i < SIZE(fds); i++)
		fds[i] = perf_open(name, 0, i % 2);
	good = calls(11);
	for (i = 0; i < SIZE(fds); i++) {
		good = good && perf_count(fds[i]) == 11;
		close(fds[i]);
	}
	result(good && !listed(name), "perf: many events on %s", name);
}

static void test_perf_refusals(void)
{
	result(perf_refused("get_kprobe", 0, false, EINVAL),
	       "perf: what is on the blacklist is refused");
	result(perf_refused("kp_no_such_function", 0, false, ENOENT),
	       "perf: an unknown function is refused");
	result(perf_refused(NULL, 0x1000, false, EINVAL) || errno == ENOENT,
	       "perf: an address of user space is refused");
	result(perf_refused(TRACED, 12, true, EINVAL), "perf: a return from the middle is refused");
}

/* A function with an ftrace site and, if the kernel allows events on it, one without. */
static const char *const names[] = { TRACED, PLAIN };
static unsigned int nr_names;

static void test_perf(void)
{
	unsigned int i;

	if (number(PMU "type", "", 10) < 0) {
		printf("skip perf: all: no such events\n");
		return;
	}
	nr_names = 1 + has_events_on(PLAIN);
	for (i = 0; i < nr_names; i++) {
		test_perf_pair(names[i], false);
		test_perf_pair(names[i], true);
		test_perf_many(names[i]);
	}
	test_perf_refusals();
}

/* The system call bpf, with these members of its attributes. */
#define bpf(command, ...) \
	syscall(SYS_bpf, command, &(union bpf_attr){ __VA_ARGS__ }, sizeof(union bpf_attr))

#define INSN(c, d, s, o, i) \
	{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }

static int bpf_load(const struct bpf_insn *insns, unsigned int nr, int attach_type)
{
	return bpf(BPF_PROG_LOAD, .prog_type = BPF_PROG_TYPE_KPROBE, .insns = (uintptr_t)insns,
		   .insn_cnt = nr, .license = (uintptr_t)"GPL",
		   .expected_attach_type = attach_type);
}

struct seen {
	uint64_t hits;
	uint64_t func_ip;
};

static int map_create(void)
{
	return bpf(BPF_MAP_CREATE, .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
		   .value_size = sizeof(struct seen), .max_entries = 1);
}

/* Load a program that counts its runs and stores the result of bpf_get_func_ip(). */
static int load_counter(int map, int attach_type)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_func_ip),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_MAP_VALUE, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 2, 0, offsetof(struct seen, func_ip), 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 2, 1, offsetof(struct seen, hits), BPF_ADD),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return bpf_load(insns, SIZE(insns), attach_type);
}

/* Load a program that makes the function return @value at once. */
static int load_override(int value)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, value),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_override_return),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return bpf_load(insns, SIZE(insns), 0);
}

/* How a program is attached. */
enum kind { BY_IOCTL, BY_LINK, MULTI };

struct client {
	enum kind kind;
	bool is_return;
	int map;
	int event;
	int link;
	uint64_t hits;		/* the count at the last look */
};

static bool attach_prog(struct client *c, int prog, const char *name, uint64_t offset)
{
	uint64_t symbols[] = { (uintptr_t)name };

	c->event = c->link = -1;
	if (c->kind == MULTI) {
		c->link = bpf(BPF_LINK_CREATE, .link_create.prog_fd = prog,
			      .link_create.attach_type = BPF_TRACE_KPROBE_MULTI,
			      .link_create.kprobe_multi.flags =
					c->is_return ? BPF_F_KPROBE_MULTI_RETURN : 0,
			      .link_create.kprobe_multi.cnt = 1,
			      .link_create.kprobe_multi.syms = (uintptr_t)symbols);
		return c->link >= 0;
	}
	c->event = perf_open(name, offset, c->is_return);
	if (c->event < 0)
		return false;
	if (c->kind == BY_IOCTL)
		return !ioctl(c->event, PERF_EVENT_IOC_SET_BPF, prog);
	c->link = bpf(BPF_LINK_CREATE, .link_create.prog_fd = prog,
		      .link_create.target_fd = c->event,
		      .link_create.attach_type = BPF_PERF_EVENT);
	return c->link >= 0;
}

/* What it is attached to then keeps the program. */
static bool open_prog(struct client *c, int prog, const char *name, uint64_t offset)
{
	bool good = attach_prog(c, prog, name, offset);

	close(prog);
	return good;
}

static bool open_client(struct client *c, const char *name, uint64_t offset)
{
	c->hits = 0;
	c->map = map_create();
	return open_prog(c, load_counter(c->map, c->kind == MULTI ? BPF_TRACE_KPROBE_MULTI : 0),
			 name, offset);
}

static bool open_override(struct client *c, const char *name, int value)
{
	return open_prog(c, load_override(value), name, 0);
}

static void close_client(struct client *c)
{
	close(c->link);
	close(c->event);
	close(c->map);
}

static struct seen look(struct client *c)
{
	uint32_t key = 0;
	struct seen seen = { .hits = -1 };

	bpf(BPF_MAP_LOOKUP_ELEM, .map_fd = c->map, .key = (uintptr_t)&key,
	    .value = (uintptr_t)&seen);
	return seen;
}

/* Return whether @c has counted @n hits since the last look, all on the function at @func. */
static bool counted(struct client *c, unsigned int n, uint64_t func)
{
	struct seen seen = look(c);
	uint64_t new = seen.hits - c->hits;

	if (new == n && (seen.func_ip == func || !n)) {
		c->hits = seen.hits;
		return true;
	}
	printf("client %d%s: %llu hits, not %u, function %llx, not %llx\n", c->kind,
	       c->is_return ? " return" : "", (unsigned long long)new, n,
	       (unsigned long long)seen.func_ip, (unsigned long long)func);
	return false;
}

/* Failure X5: the function's address must be its symbol's, even if the probe is behind ENDBR. */
static void test_counter(const char *name, enum kind kind, bool is_return)
{
	const char *by = kind == BY_LINK ? "link" : "ioctl";
	const char *what = is_return ? "returns of" : "entries to";
	struct client c = { .kind = kind, .is_return = is_return };
	uint64_t func = symbol(name);
	bool good = open_client(&c, name, 0);

	result(good, "bpf: by %s, attached to %s %s", by, what, name);
	good = calls(9) && counted(&c, 9, func) && calls(1) && counted(&c, 1, func);
	/* The program returns nonzero, so the event itself counts all hits, too. */
	result(good && perf_count(c.event) == 10, "bpf: by %s, all %s %s count and tell it", by,
	       what, name);
	close_client(&c);
	result(calls(1) && !listed(name), "bpf: by %s, none is left on %s %s", by, what, name);
}

/* For a probe inside a function, bpf_get_func_ip() must not return the function. */
static void test_inside(const char *name)
{
	struct client c = { .kind = BY_LINK };
	/* Behind a landing pad, and the ftrace site. */
	uint64_t offset = strcmp(name, TRACED) ? 5 : 9;

	for (; offset < 32; offset++) {
		if (open_client(&c, name, offset))
			break;
		close_client(&c);
	}
	if (offset == 32)
		printf("skip bpf: inside %s: no instruction there\n", name);
	else
		result(calls(9) && counted(&c, 9, 0), "bpf: inside %s, all hits count", name);
	close_client(&c);
}

/* The list has [OPTIMIZED] from when a jump is queued. */
static bool optimized(const char *name)
{
	int i;

	for (i = 0; i < 200 && !find_line(POINTS, name, " optimized "); i++)
		usleep(50000);
	return i < 200;
}

/*
 * Override returns while the probe has a breakpoint and, Failure C15, while it has a jump.
 * Return probes and counters that were added later are called first, and must see all hits.
 */
static void test_override_on(const char *name, const char *key, bool jump)
{
	const char *how = jump ? "a jump" : "no jump";
	struct client counter = { .kind = BY_LINK };
	struct client returns = { .kind = BY_LINK, .is_return = true };
	struct client override = { .kind = BY_LINK, .map = -1 };
	uint64_t func = symbol(name);
	long long right = returned(key);

	result(open_override(&override, name, -ETIMEDOUT) && open_client(&counter, name, 0) &&
	       open_client(&returns, name, 0),
	       "bpf: override of %s, %s", name, how);
	if (jump)
		result(optimized(name), "bpf: override of %s has become a jump", name);
	result(calls(9) && returned(key) == -ETIMEDOUT, "bpf: %s is overridden, %s", name, how);
	result(counted(&counter, 9, func) && counted(&returns, 9, func),
	       "bpf: hits count while %s is overridden, %s", name, how);
	close_client(&override);
	result(calls(4) && returned(key) == right && counted(&counter, 4, func) &&
	       counted(&returns, 4, func), "bpf: %s is not overridden any more, %s", name, how);
	close_client(&counter);
	close_client(&returns);
}

/* Of two overriding programs the last must override, and what came before not be called. */
static void test_override_order(const char *name, const char *key)
{
	struct client first = { .kind = BY_LINK, .map = -1 }, second = first;
	struct client counter = { .kind = BY_LINK };
	bool good = open_client(&counter, name, 0) && open_override(&first, name, -ETIMEDOUT) &&
		    open_override(&second, name, -ENOLINK);

	result(good && calls(3) && returned(key) == -ENOLINK && counted(&counter, 0, 0),
	       "bpf: the last override of %s is the first to be called", name);
	close_client(&second);
	result(calls(3) && returned(key) == -ETIMEDOUT, "bpf: then the first override of %s", name);
	close_client(&first);
	result(calls(3) && counted(&counter, 3, symbol(name)), "bpf: then no override of %s", name);
	close_client(&counter);
}

static void test_override_refused(const char *name)
{
	struct client c = { .kind = BY_IOCTL, .map = -1 };

	result(!open_override(&c, name, -ETIMEDOUT) && errno == EINVAL,
	       "bpf: override of %s is refused", name);
	close_client(&c);
}

static void test_override(void)
{
	int prog = load_override(-ETIMEDOUT);

	close(prog);
	if (prog < 0 && !find_line("/proc/kallsyms", " bpf_override_return\n", "")) {
		printf("skip bpf: override: the kernel has none\n");
		return;
	}
	result(prog >= 0, "bpf: a program that overrides");
	test_override_on(TRACED, "traced", false);
	test_override_order(TRACED, "traced");
	test_override_refused("kp_shared_safe");
	if (nr_names == 1)
		return;
	test_override_order(PLAIN, "plain");
	put(KNOB, "0");
	test_override_on(PLAIN, "plain", false);
	if (put(KNOB, "1"))
		printf("skip bpf: override of a jump: the kernel makes none\n");
	else if (access(POINTS, F_OK))
		printf("skip bpf: override of a jump: only other kprobes tell when it is one\n");
	else
		test_override_on(PLAIN, "plain", true);
}

static bool all_counted(struct client **clients, unsigned int nr, uint64_t func)
{
	bool good = calls(3);
	unsigned int i;

	for (i = 0; i < nr; i++)
		good = counted(clients[i], 3, func) && good;
	return good;
}

/* Probes and fprobes, and the returns of both, are added and removed in different orders. */
static void test_beside_multi(const char *name, bool multi_first, bool last_in_first_out)
{
	struct client all[] = {
		{ .kind = BY_LINK }, { .kind = BY_LINK, .is_return = true },
		{ .kind = MULTI }, { .kind = MULTI, .is_return = true },
		{ .kind = BY_IOCTL, .is_return = true }, { .kind = MULTI, .is_return = true },
	};
	struct client *open[SIZE(all)];
	uint64_t func = symbol(name);
	unsigned int i, nr = SIZE(all);
	bool good = true;

	for (i = 0; i < nr; i++) {
		open[i] = &all[multi_first ? nr - 1 - i : i];
		good = open_client(open[i], name, 0) && good;
		good = all_counted(open, i + 1, func) && good;
	}
	result(good, "bpf: %s come to %s and all count",
	       multi_first ? "first fprobes, then probes" : "first probes, then fprobes", name);

	for (good = true, i = 0; i < SIZE(all); i++) {
		nr--;
		close_client(open[last_in_first_out ? nr : i]);
		good = all_counted(last_in_first_out ? open : open + i + 1, nr, func) && good;
	}
	result(good && !listed(name), "bpf: they leave %s, %s first, and the rest counts", name,
	       last_in_first_out ? "the last" : "the first");
}

static void test_multi(void)
{
	struct client c = { .kind = MULTI };
	bool good = open_client(&c, TRACED, 0);

	if (!good && errno == EOPNOTSUPP) {
		printf("skip bpf: fprobes beside probes: the kernel has none\n");
		close_client(&c);
		return;
	}
	result(good && calls(9) && counted(&c, 9, symbol(TRACED)), "bpf: fprobe alone");
	close_client(&c);
	test_beside_multi(TRACED, false, false);
	test_beside_multi(TRACED, true, true);
}

static void test_bpf(void)
{
	int map = map_create();
	unsigned int i;

	close(map);
	if (map < 0 && (errno == ENOSYS || errno == EPERM)) {
		printf("skip bpf: all: the kernel has none\n");
		return;
	}
	for (i = 0; i < 4 * nr_names; i++)
		test_counter(names[i / 4], i & 1 ? BY_LINK : BY_IOCTL, i & 2);
	for (i = 0; i < nr_names; i++)
		test_inside(names[i]);
	test_override();
	test_multi();
}

/* Override until killed; print "overridden" when it has begun. */
static int hold_override(const char *name, int value)
{
	struct client c = { .kind = BY_LINK, .map = -1 };

	if (!open_override(&c, name, value))
		return 1;
	puts("overridden");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	setbuf(stdout, NULL);
	if (argc == 4 && !strcmp(argv[1], "override"))
		return hold_override(argv[2], atoi(argv[3]));
	if (!calls(1)) {
		perror("no functions to call");
		return 1;
	}
	test_perf();
	test_bpf();
	return 0;
}
