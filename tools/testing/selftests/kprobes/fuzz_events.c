// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fuzzer for kprobe_events: it writes random lines by the grammar of that file, many of
 * them with an error, and enables some of the events for a moment while a child works. At
 * the end all events are removed. Between them it writes random places to debugfs "try", and
 * reads the verdicts.
 *
 *	fuzz_events SECONDS SEED
 *
 * prints how many lines were written and accepted, the number of hits, and of places for which
 * there was a verdict. The same seed gives the same lines for the same kernel at the same
 * addresses.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACE		"/sys/kernel/tracing/"
#define TRY		"/sys/kernel/debug/kprobes/try"
#define SYMBOLS		4096
#define EVENTS_MOST	100	/* before all are removed: each one slows down the worker */

static unsigned int rnd(unsigned int below)
{
	return random() % below;
}

static int one_in(unsigned int n)
{
	return !rnd(n);
}

/* -- the line under construction -- */

static char line[65536];
static size_t len;

static void put(const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line + len, sizeof(line) - len, format, args);
	va_end(args);
	if (n > 0)
		len += n;
	if (len >= sizeof(line))
		len = sizeof(line) - 1;
}

static char *symbols[SYMBOLS];
static unsigned long addresses[SYMBOLS];
static unsigned int nr_symbols;

/* Take a uniform sample of the kernel's functions. */
static void read_symbols(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned int seen = 0, at;
	unsigned long address;
	char name[600], type;

	while (f && fscanf(f, "%lx %c %599s%*[^\n]", &address, &type, name) == 3) {
		if (type != 't' && type != 'T')
			continue;
		at = seen < SYMBOLS ? seen : rnd(seen + 1);
		seen++;
		if (at >= SYMBOLS)
			continue;
		free(symbols[at]);
		symbols[at] = strdup(name);
		addresses[at] = address;
	}
	nr_symbols = seen < SYMBOLS ? seen : SYMBOLS;
	if (f)
		fclose(f);
}

static void garbage(void)
{
	static const char odd[] = "\t !\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~\x01\x7f\x80\xff";
	unsigned int n = one_in(20) ? rnd(5000) : rnd(12);

	while (n--)
		put("%c", one_in(3) ? odd[rnd(sizeof(odd) - 1)] : (int)rnd(255) + 1);
}

static void letters(void)
{
	unsigned int n;

	for (n = rnd(2) ? rnd(300) : 40 + rnd(50); n; n--)
		put("%c", 'a' + (int)rnd(26));
}

static void symbol(void)
{
	put("%s", symbols[rnd(nr_symbols)]);
}

static void address(void)
{
	put("0x%lx", addresses[rnd(nr_symbols)] + (one_in(2) ? 0 : rnd(64)));
}

/* -- the grammar, and mistakes -- */

/*
 * Any one of some texts. One with "N*" at its start is N times as likely as one without. In it,
 * <NAME> stands for the rule of that name, <NAME*N> for N times that rule, and <N> for a
 * number below N.
 */
static const struct rule {
	const char *name;
	void (*make)(void);
	const char *some[26];
} rules[] = {
	{ "garbage", .make = garbage },
	{ "letters", .make = letters },
	{ "symbol", .make = symbol },
	{ "address", .make = address },
	{ "line", .some = {
		"<garbage>", "#<garbage>", "5*-<colon><from><name><rest>",
		"<definition>\n<definition>", "32*<definition>" } },
	{ "colon", .some = { "19*:", "" } },
	{ "from", .some = { "", "fuzz/", "kprobes/" } },
	{ "rest", .some = { "19*", "<place>" } },
	{ "definition", .some = { "<kind><most><event> <place><arguments>" } },
	{ "kind", .some = { "2*p", "r" } },
	{ "most", .some = { "7*", "<number>" } },
	{ "event", .some = { "", "4*:<group><named>" } },
	{ "group", .some = { "3*", "2*fuzz/", "kprobes/", "/", "no-good/", "syscalls/" } },
	{ "named", .some = { "", "5*<name>" } },
	{ "name", .some = { "15*<letters>", "120*n<400>", "4*<garbage>", "236*<word>" } },
	{ "word", .some = {
		"a", "b", "c", "d", "e", "_x", "common_pid", "common_type", "__probe_ip", "1x",
		"a-b", "a.b", "a/b", "a b", "", "..", "kprobes", "FUNC" } },
	{ "number", .some = {
		"22*<64>", "0", "1", "-1", "4", "8", "16", "255", "4096", "0x7fffffff",
		"0x80000000", "4294967296", "0xffffffffffffffff", "-0x8000000000000000",
		"18446744073709551616", "99999999999999999999999999", "010", "0x", "1e3", "",
		"+1", "--1", "0b1" } },
	{ "place", .some = {
		"<garbage>", "<number>", "<address>", "<module>:<busy>", "no_such_function",
		"<busy>%return", "7*<busy>", "7*<symbol><offset>" } },
	{ "module", .some = { "kp_text", "no_such_module" } },
	/* Functions that the child calls, so that some events are hit. */
	{ "busy", .some = {
		"vfs_read", "vfs_write", "kernel_clone", "do_sys_openat2", "do_exit", "ksys_read",
		"pipe_write", "schedule", "wake_up_process", "__kmalloc_noprof", "getname_flags",
		"filp_close", "do_filp_open" } },
	{ "offset", .some = { "", "<sign><distance>" } },
	{ "sign", .some = { "7*+", "-" } },
	{ "distance", .some = { "2*<number>", "9*<32>", "9*0x<32>" } },
	/* Sometimes more than an event can have. */
	{ "arguments", .some = {
		"49*", "49*<argument>", "49*<argument*2>", "49*<argument*3>", "49*<argument*4>",
		"5*<argument*140>" } },
	{ "argument", .some = { "<space><label><source><as>" } },
	{ "space", .some = { "29* ", "\t" } },
	{ "label", .some = { "", "<name>=" } },
	{ "source", .some = {
		"23*<variable>", "16*<register>", "8*@<data><offset>", "8*@<where>",
		"8*\\<quote><value><quote>", "<garbage>", "32*<pointer><deeper>" } },
	{ "variable", .some = {
		"$comm", "$COMM", "$stack", "$stack0", "$stack7", "$stack4096", "$stack-1",
		"$retval", "$arg1", "$arg2", "$arg6", "$arg0", "$arg999", "$arg*", "$argx",
		"$nothing", "$", "$$", "$stack99999999999999999999", "comm", "$comm1",
		"$retval1" } },
	{ "register", .some = {
		"%ax", "%di", "%si", "%sp", "%ip", "%flags", "%cs", "%x0", "%x30", "%pc", "%a0",
		"%ra", "%s11", "%nosuch", "%", "%%", "%return" } },
	{ "data", .some = { "2*<symbol>", "jiffies" } },
	{ "where", .some = { "2*<address>", "<number>" } },
	{ "quote", .some = { "", "\"" } },
	{ "value", .some = { "<number>", "<name>" } },
	{ "pointer", .some = { "<way><user><number>(<source><close>" } },
	{ "close", .some = { "39*)", "" } },
	{ "way", .some = { "29*+", "10*-", "" } },
	{ "user", .some = { "2*", "u" } },
	/* Deeper than an argument may be. */
	{ "deeper", .some = { "199*", "<nested*100>" } },
	{ "nested", .some = { "+0(" } },
	{ "as", .some = { "", "2*:<type><array>" } },
	{ "type", .some = { "8*b<70>@<70>/<bits>", "<garbage>", "39*<known>" } },
	{ "bits", .some = { "8", "16", "32", "64", "128" } },
	{ "known", .some = {
		"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "x8", "x16", "x32", "x64",
		"char", "string", "ustring", "symbol", "symstr", "%pd", "%pD", "u7", "string8",
		"b1@2/8", "b" } },
	{ "array", .some = { "60*", "19*[<count>]", "[<count>" } },
	{ "count", .some = { "<number>", "<71>" } },
};

static const char *any_of(const char *const *some)
{
	unsigned int weight, total = 0;
	const char *chosen = "";
	char *end;

	for (; *some; some++) {
		weight = strtoul(*some, &end, 10);
		if (!weight || *end != '*')
			weight = 1;
		total += weight;
		if (rnd(total) < weight)
			chosen = *end == '*' ? end + 1 : *some;
	}
	return chosen;
}

static void expand(const char *text);

static void apply(const char *name)
{
	const struct rule *rule;

	if (isdigit(*name)) {
		put("%u", rnd(atoi(name)));
		return;
	}
	for (rule = rules; strcmp(rule->name, name); rule++)
		;
	if (rule->make)
		rule->make();
	else
		expand(any_of(rule->some));
}

static void expand(const char *text)
{
	unsigned int times;
	char name[16];
	int n;

	for (;;) {
		n = strcspn(text, "<");
		put("%.*s", n, text);
		text += n;
		if (sscanf(text, "<%15[^*>]%n", name, &n) != 1)
			return;
		times = text[n] == '*' ? atoi(text + n + 1) : 1;
		while (times--)
			apply(name);
		text = strchr(text, '>') + 1;
	}
}

static void make_line(void)
{
	len = 0;
	apply("line");
	if (one_in(30))
		line[rnd(len + 1)] = rnd(256);
	if (!one_in(20))
		put("\n");
}

/* -- the files -- */

static int store(const char *path, const char *text, size_t size, int flags)
{
	int fd = open(path, O_WRONLY | flags);
	ssize_t done = fd < 0 ? -1 : write(fd, text, size);

	/* The kernel handles a last line without a newline only at close(). */
	if (fd >= 0 && close(fd))
		return -1;
	return done == (ssize_t)size ? 0 : -1;
}

/* Return whether there is a verdict about a random place. */
static int try_place(void)
{
	int fd, lines = 0;

	len = 0;
	apply("place");
	if (store(TRY, line, len, 0))
		return 0;
	fd = open(TRY, O_RDONLY);
	while (read(fd, line, sizeof(line)) > 0)
		lines++;
	close(fd);
	return lines > 0;
}

static int switch_events(const char *value)
{
	int a = store(TRACE "events/fuzz/enable", value, 1, 0);
	int b = store(TRACE "events/kprobes/enable", value, 1, 0);

	return a && b ? -1 : 0;
}

/* Count the hits, too. */
static int remove_all(unsigned long long *all)
{
	FILE *f = fopen(TRACE "kprobe_profile", "r");
	unsigned long long hits;

	while (f && fscanf(f, "%*s %llu%*[^\n]", &hits) == 1)
		*all += hits;
	if (f)
		fclose(f);
	switch_events("0");
	return store(TRACE "kprobe_events", "\n", 1, O_TRUNC);
}

/* Number of rounds of the worker. */
static volatile unsigned long *worked;

/* The work that the events are to hit. */
static void work(void)
{
	char buf[512];
	int fd, ends[2];
	pid_t child;

	for (;;) {
		fd = open("/proc/self/status", O_RDONLY);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
		if (pipe(ends))
			_exit(1);
		child = fork();
		if (!child)
			_exit(write(ends[1], "x", 1) != 1);
		if (child < 0 || read(ends[0], buf, 1) != 1 || waitpid(child, NULL, 0) != child)
			_exit(1);
		close(ends[0]);
		close(ends[1]);
		++*worked;
	}
}

/* Wait for two complete rounds, with a limit: many events make them slow. */
static void let_work(void)
{
	unsigned long enough = *worked + 3;
	unsigned int i;

	for (i = 0; i < 100 && *worked < enough; i++)
		usleep(20000);
}

int main(int argc, char **argv)
{
	unsigned long written = 0, taken = 0, verdicts = 0, enough;
	unsigned long long hits = 0;
	int failed = 0, status;
	pid_t worker;
	time_t end;

	if (argc != 3)
		return 2;
	end = time(NULL) + atol(argv[1]);
	enough = 40 * atol(argv[1]);		/* even if each line takes long */
	srandom(atol(argv[2]));
	read_symbols();
	if (nr_symbols < 100)
		return 2;

	worked = mmap(NULL, sizeof(*worked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (worked == MAP_FAILED)
		return 2;
	worker = fork();
	if (!worker)
		work();

	while (time(NULL) < end || written < enough) {
		if (one_in(60) && !switch_events("1")) {
			let_work();
			switch_events("0");
		}
		if (one_in(10))
			verdicts += try_place();
		make_line();
		written++;
		if (!store(TRACE "kprobe_events", line, len, O_APPEND) &&
		    ++taken % EVENTS_MOST == 0)
			failed |= remove_all(&hits);
	}
	failed |= remove_all(&hits);

	/* The worker must not have died. */
	if (waitpid(worker, &status, WNOHANG) || kill(worker, SIGKILL) ||
	    waitpid(worker, &status, 0) != worker)
		failed |= 2;
	printf("written %lu taken %lu hits %llu verdicts %lu\n", written, taken, hits, verdicts);
	return failed ? 1 : 0;
}
