// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work for a kernel that is being probed. Every result is checked.
 *
 *	workload ROUNDS SEED [MODULE.ko]
 *
 * With 0 for ROUNDS it does only one piece of the work, which SEED chooses. Prints the failed
 * check with its round and seed, and exits 1. Prints nothing and exits 0 otherwise. Features
 * that this kernel lacks are skipped.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/kvm.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT		120	/* seconds for one piece of work, even with sanitizers */
#define MANY		(96 * 1024)
#define SMALL		3000
#define PAGES		24

static const char *module, *work;
static unsigned long seed, rounds;
static size_t page;
static uint64_t state;

static void complain(int line, const char *what)
{
	dprintf(2, "workload: %s: line %d: %s (errno %d), seed %lu round %lu\n",
		work, line, what, errno, seed, rounds);
}

/* May be used in any process: the parent checks its child's status, and fails too. */
#define CHECK(good)							\
	do {								\
		errno = 0;						\
		if (!(good)) {						\
			complain(__LINE__, #good);			\
			_exit(1);					\
		}							\
	} while (0)

/* Lacking a feature is no failure. */
#define LACKS(result)	((result) < 0 && (errno == ENOSYS || errno == EAFNOSUPPORT || \
					  errno == EOPNOTSUPP || errno == EPROTONOSUPPORT))

static uint64_t next(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static unsigned int below(unsigned int n)
{
	return next(&state) % n;
}

static void fill(unsigned char *buf, size_t size, uint64_t from)
{
	while (size--)
		*buf++ = next(&from);
}

static bool holds(const unsigned char *buf, size_t size, uint64_t from)
{
	while (size--)
		if (*buf++ != (unsigned char)next(&from))
			return false;
	return true;
}

static bool is_zero(const unsigned char *buf, size_t size)
{
	return !*buf && !memcmp(buf, buf + 1, size - 1);
}

static int64_t now(void)
{
	struct timespec ts;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &ts));
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static pid_t child(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(LIMIT);
	}
	return pid;
}

static int wait_for(pid_t pid, int options)
{
	int status;

	CHECK(waitpid(pid, &status, options) == pid);
	return status;
}

static void expect_exit(pid_t pid, int code)
{
	CHECK(wait_for(pid, 0) == W_EXITCODE(code, 0));
}

/*
 * Compute with more integers and floating point numbers than there are registers for, while
 * system calls, interrupts and other tasks intervene: the results must be the same as
 * without these.
 */
static __attribute__((noipa)) uint64_t crunch(uint64_t from, int loops, bool calls)
{
	unsigned long a = from, b = a ^ 1, c = a ^ 2, d = a ^ 3, e = a ^ 4, f = a ^ 5;
	double r = 1, s = 2, t = 3, u = 4, v = 5, w = 6;
	pid_t pid = getpid();
	int i;

	for (i = 0; i < loops; i++) {
		a += b * 3; b ^= c << 1; c += d * 5; d ^= e >> 1; e += f * 7; f ^= a << 3;
		r = s * 0.5 + 1; s = t * 0.25 + r; t = u * 0.5 - s;
		u = v * 0.125 + t; v = w * 0.5 - u; w = r * 0.75 + (a & 15);
		if (calls && i % 64 == 0 && syscall(SYS_getpid) != pid)
			return ~0ull;
		if (calls && i % 512 == 0)
			syscall(SYS_sched_yield);
	}
	return a + b + c + d + e + f + (int64_t)(1024 * (r + s + t + u + v + w));
}

static int crunched(uint64_t from)
{
	uint64_t quiet = crunch(from, 4000, false);

	return quiet == crunch(from, 4000, true) ? quiet % 200 : 255;
}

/* The program after exec: argv is "workload", "-", SEED, and words to check. */
static int as_child(int argc, char **argv)
{
	uint64_t from = strtoull(argv[2], NULL, 10);
	int i;

	for (i = 3; i < argc; i++)
		if (strtoull(argv[i], NULL, 16) != next(&from))
			return 254;
	return getenv("WORKLOAD") ? crunched(strtoull(argv[2], NULL, 10)) : 253;
}

static pid_t spawn(unsigned long from)
{
	char *argv[44] = { "workload", "-" };
	char *env[] = { "WORKLOAD=1", NULL };
	uint64_t word = from;
	pid_t pid = child();
	int i;

	if (pid)
		return pid;
	CHECK(asprintf(&argv[2], "%lu", from) > 0);
	for (i = 3; i < 43; i++)
		CHECK(asprintf(&argv[i], "%llx", (unsigned long long)next(&word)) > 0);
	execve("/proc/self/exe", argv, env);
	_exit(252);
}

static void do_processes(void)
{
	unsigned long from[4];
	pid_t pids[4], pid;
	int i;

	for (i = 0; i < 4; i++)
		pids[i] = spawn(from[i] = below(1000000));
	for (i = 0; i < 4; i++)
		expect_exit(pids[i], crunched(from[i]));

	for (i = 0; i < 10; i++) {
		pid = child();
		if (!pid)
			_exit(i);
		expect_exit(pid, i);
	}

	pid = child();
	if (!pid)
		for (;;)
			pause();
	CHECK(!kill(pid, SIGSTOP));
	CHECK(wait_for(pid, WUNTRACED) == W_STOPCODE(SIGSTOP));
	CHECK(!kill(pid, SIGCONT));
	CHECK(WIFCONTINUED(wait_for(pid, WCONTINUED)));
	CHECK(!kill(pid, SIGTERM));
	CHECK(wait_for(pid, 0) == W_EXITCODE(0, SIGTERM));
	CHECK(waitpid(pid, NULL, 0) < 0 && errno == ECHILD);

	pid = vfork();
	if (!pid)
		_exit(7);
	expect_exit(pid, 7);
}

/* Write or read @size bytes in pieces of random sizes. */
static void transfer(int fd, unsigned char *buf, size_t size, bool out)
{
	size_t at, piece;
	ssize_t n;

	for (at = 0; at < size; at += n) {
		piece = 1 + below(9000);
		if (piece > size - at)
			piece = size - at;
		n = out ? write(fd, buf + at, piece) : read(fd, buf + at, piece);
		CHECK(n > 0);
	}
}

static void send_all(int fd, size_t size, uint64_t from)
{
	unsigned char data[size];

	fill(data, size, from);
	transfer(fd, data, size, true);
}

static void receive_all(int fd, size_t size, uint64_t from)
{
	unsigned char data[size];

	transfer(fd, data, size, false);
	CHECK(holds(data, size, from));
}

/* A child receives what is sent to @out, and sends other data back to @in. */
static void exchange(int in, int out, int child_in, int child_out)
{
	uint64_t from = next(&state);
	pid_t pid = child();

	if (!pid) {
		receive_all(child_in, MANY, from);
		send_all(child_out, MANY, from + 1);
		_exit(3);
	}
	send_all(out, MANY, from);
	receive_all(in, MANY, from + 1);
	expect_exit(pid, 3);
}

static void do_pipes(void)
{
	int there[2], back[2], n = 0;
	char c;

	CHECK(!pipe(there) && !pipe2(back, O_CLOEXEC));
	exchange(back[0], there[1], there[0], back[1]);

	CHECK(!fcntl(there[0], F_SETFL, O_NONBLOCK) && !fcntl(there[1], F_SETFL, O_NONBLOCK));
	CHECK(read(there[0], &c, 1) < 0 && errno == EAGAIN);
	while (n < 300 && write(there[1], "x", 1) == 1)
		n++;
	close(there[1]);
	while (n--)
		CHECK(read(there[0], &c, 1) == 1 && c == 'x');
	CHECK(read(there[0], &c, 1) == 0);
	signal(SIGPIPE, SIG_IGN);
	close(back[0]);
	CHECK(write(back[1], "x", 1) < 0 && errno == EPIPE);
}

static char folder[] = "/tmp/workload.XXXXXX";

static void make_folder(void)
{
	CHECK(mkdtemp(folder) && !chdir(folder));
}

static void write_file(const char *name, size_t size, uint64_t from)
{
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);

	CHECK(fd >= 0);
	send_all(fd, size, from);
	CHECK(!fsync(fd));
	close(fd);
}

static void read_file(const char *name, size_t size, uint64_t from)
{
	struct stat st;
	int fd = open(name, O_RDONLY);
	char c;

	CHECK(fd >= 0);
	CHECK(!fstat(fd, &st) && st.st_size == (off_t)size);
	receive_all(fd, size, from);
	CHECK(read(fd, &c, 1) == 0);
	close(fd);
}

static void do_holes(void)
{
	const char *name = "holes";
	size_t at = 3 * page + below(2 * page), size = 10 * page;
	unsigned char *buf = malloc(size);
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);

	CHECK(buf && fd >= 0);
	fill(buf, SMALL, 1);
	CHECK(pwrite(fd, buf, SMALL, at) == SMALL);
	CHECK(!ftruncate(fd, size));
	CHECK(pread(fd, buf, size, 0) == (ssize_t)size);
	CHECK(is_zero(buf, at) && holds(buf + at, SMALL, 1));
	CHECK(is_zero(buf + at + SMALL, size - at - SMALL));
	CHECK(!ftruncate(fd, at + 5) && !ftruncate(fd, size));
	CHECK(pread(fd, buf, size, at) == (ssize_t)(size - at));
	CHECK(holds(buf, 5, 1) && is_zero(buf + 5, size - at - 5));
	CHECK(lseek(fd, 0, SEEK_END) == (off_t)size);
	CHECK(!unlink(name));
}

static void do_files(void)
{
	uint64_t from = next(&state);
	char target[16];
	struct stat st;
	struct dirent *entry;
	int in, out, n = 0;
	off_t at = 0;
	DIR *dir;

	make_folder();
	write_file("a", MANY, from);
	read_file("a", MANY, from);
	CHECK(open("a", O_CREAT | O_EXCL, 0600) < 0 && errno == EEXIST);
	write_file("b", SMALL, from + 1);
	CHECK(!rename("a", "b"));
	CHECK(stat("a", &st) < 0 && errno == ENOENT);
	read_file("b", MANY, from);
	CHECK(!link("b", "c"));
	CHECK(!stat("c", &st) && st.st_nlink == 2);
	CHECK(!symlink("c", "d"));
	CHECK(readlink("d", target, sizeof(target)) == 1 && target[0] == 'c');

	in = open("d", O_RDONLY);
	out = open("e", O_WRONLY | O_CREAT, 0600);
	CHECK(in >= 0 && out >= 0);
	while (at < MANY)
		CHECK(sendfile(out, in, &at, MANY - at) > 0);
	close(in);
	close(out);
	read_file("e", MANY, from);
	do_holes();

	dir = opendir(".");
	CHECK(dir);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	CHECK(n == 4);
	CHECK(rmdir(folder) < 0 && errno == ENOTEMPTY);
	for (n = 0; n < 4; n++)
		CHECK(!unlink((const char *[]){ "b", "c", "d", "e" }[n]));
	CHECK(!rmdir(folder));
}

static sigjmp_buf escape;
static void *volatile fault_at;
static volatile int fault_code;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	fault_at = info->si_addr;
	fault_code = info->si_code;
	siglongjmp(escape, sig);
}

/* Return the signal that an access causes, 0 if none. */
static int access_signal(volatile unsigned char *at, bool store)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	int sig;

	CHECK(!sigaction(SIGSEGV, &action, NULL) && !sigaction(SIGBUS, &action, NULL));
	sig = sigsetjmp(escape, 1);
	if (!sig && store)
		*at = 1;
	else if (!sig)
		(void)*at;
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	return sig && fault_at != at ? -1 : sig;
}

static unsigned char *map(size_t size, int flags, int fd)
{
	unsigned char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void do_private_memory(void)
{
	unsigned char *at = map(PAGES * page, MAP_PRIVATE | MAP_ANONYMOUS, -1), *more;
	size_t i;
	pid_t pid;

	for (i = 0; i < PAGES; i += 2)
		fill(at + i * page, SMALL, i);
	for (i = 0; i < PAGES; i++)
		CHECK(i % 2 ? is_zero(at + i * page, SMALL) : holds(at + i * page, SMALL, i));

	/* After fork() neither process must see what the other writes. */
	pid = child();
	for (i = 0; i < PAGES; i += 2)
		fill(at + i * page, 100, i + !pid + 1);
	for (i = 0; i < PAGES; i += 2)
		CHECK(holds(at + i * page, 100, i + !pid + 1));
	if (!pid)
		_exit(9);
	expect_exit(pid, 9);

	more = mremap(at, PAGES * page, 4 * PAGES * page, MREMAP_MAYMOVE);
	CHECK(more != MAP_FAILED);
	for (i = 0; i < PAGES; i += 2)
		CHECK(holds(more + i * page, 100, i + 1));
	CHECK(is_zero(more + PAGES * page, 3 * PAGES * page));

	CHECK(mmap(more + 4 * page, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0) == more + 4 * page);
	CHECK(is_zero(more + 4 * page, page) && holds(more + 2 * page, 100, 3));
	CHECK(!mprotect(more + 6 * page, page, PROT_NONE));
	CHECK(!munmap(more + 8 * page, page));

	CHECK(access_signal(more + 4 * page, true) == SIGSEGV && fault_code == SEGV_ACCERR);
	CHECK(access_signal(more + 6 * page + 1, false) == SIGSEGV && fault_code == SEGV_ACCERR);
	CHECK(access_signal(more + 8 * page + 2, true) == SIGSEGV && fault_code == SEGV_MAPERR);
	CHECK(access_signal(more + 10 * page, true) == 0);
	/* A system call returns an error instead of a signal. */
	CHECK(write(1, more + 8 * page, 0) == 0);
	CHECK(syscall(SYS_pipe2, more + 8 * page, 0) < 0 && errno == EFAULT);
	CHECK(!munmap(more, 4 * PAGES * page));
}

static void do_mapped_file(void)
{
	const char *name = "mapped";
	unsigned char *shared, *private, *anonymous, buf[SMALL];
	pid_t pid;
	int fd;

	make_folder();
	write_file(name, 3 * page, 5);
	fd = open(name, O_RDWR);
	CHECK(fd >= 0);
	shared = map(5 * page, MAP_SHARED, fd);
	private = map(3 * page, MAP_PRIVATE, fd);
	anonymous = map(page, MAP_SHARED | MAP_ANONYMOUS, -1);
	CHECK(holds(shared, 3 * page, 5) && holds(private, 3 * page, 5));

	fill(private + page, SMALL, 6);
	CHECK(holds(shared, 3 * page, 5));
	pid = child();
	if (!pid) {
		fill(shared + 2 * page, SMALL, 7);
		fill(anonymous, SMALL, 8);
		_exit(1);
	}
	expect_exit(pid, 1);
	CHECK(holds(shared + 2 * page, SMALL, 7) && holds(anonymous, SMALL, 8));
	CHECK(holds(private + page, SMALL, 6));
	CHECK(pread(fd, buf, SMALL, 2 * page) == SMALL && holds(buf, SMALL, 7));
	CHECK(!msync(shared, 3 * page, MS_SYNC));

	CHECK(access_signal(shared + 4 * page, false) == SIGBUS);
	CHECK(!munmap(shared, 5 * page) && !munmap(private, 3 * page) && !munmap(anonymous, page));
	CHECK(!unlink(name) && !rmdir(folder));
}

static volatile int received, order[8];
static volatile void *stack_seen;
static timer_t timer;

/*
 * With probes on its way a signal may take longer than its timer's interval, and the next one is
 * pending when the handler returns. Stop the timers here, or nothing else would go on.
 */
static void on_value(int sig, siginfo_t *info, void *context)
{
	(void)context;
	stack_seen = __builtin_frame_address(0);
	if (received < 8)
		order[received] = info->si_value.sival_int;
	received++;
	if (sig == SIGALRM && received == 100)
		setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	if (sig == SIGRTMIN + 1 && received == 3)
		timer_settime(timer, 0, &(struct itimerspec){ 0 }, NULL);
}

static void do_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_value, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct itimerval often = { { 0, 10000 }, { 0, 10000 } }, never = { 0 };
	size_t size = 4 * page + 65536;
	unsigned char *stack = map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	stack_t alternate = { .ss_sp = stack, .ss_size = size };
	stack_t before;
	sigset_t all, old, pending;
	int i, value = below(1000);
	uint64_t quiet;

	CHECK(!sigaltstack(&alternate, &before));
	CHECK(!sigaction(SIGRTMIN, &action, NULL) && !sigaction(SIGALRM, &action, NULL));
	sigfillset(&all);
	received = 0;
	CHECK(!sigprocmask(SIG_BLOCK, &all, &old));
	for (i = 0; i < 8; i++)
		CHECK(!sigqueue(getpid(), SIGRTMIN, (union sigval){ value + i }));
	CHECK(received == 0 && !sigpending(&pending) && sigismember(&pending, SIGRTMIN) == 1);
	CHECK(!sigprocmask(SIG_SETMASK, &old, NULL));
	CHECK(received == 8);
	for (i = 0; i < 8; i++)
		CHECK(order[i] == value + i);
	CHECK((unsigned char *)stack_seen >= stack && (unsigned char *)stack_seen < stack + size);

	/* Recovering from a fault on this stack must work repeatedly. */
	for (i = 0; i < 20; i++)
		CHECK(access_signal((unsigned char *)8 + i, i % 2) == SIGSEGV);

	/* Signals between any two instructions must preserve all registers. */
	quiet = crunch(value, 300000, false);
	received = 0;
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	CHECK(crunch(value, 300000, false) == quiet);
	while (!received)
		pause();
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
	CHECK(!sigaltstack(&before, NULL) && !munmap(stack, size));
}

static void do_local_sockets(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int pair[2], datagrams[2], listener, fd, i;
	unsigned char buf[SMALL];
	socklen_t size;
	pid_t pid;

	if (LACKS(socketpair(AF_UNIX, SOCK_STREAM, 0, pair)))
		return;
	exchange(pair[0], pair[0], pair[1], pair[1]);
	CHECK(!shutdown(pair[0], SHUT_WR) && read(pair[1], buf, 1) == 0);

	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams));
	for (i = 1; i < 6; i++) {
		fill(buf, 100 * i, i);
		CHECK(send(datagrams[0], buf, 100 * i, 0) == 100 * i);
	}
	for (i = 1; i < 6; i++)
		CHECK(recv(datagrams[1], buf, sizeof(buf), 0) == 100 * i && holds(buf, 100 * i, i));

	/* An abstract socket name, which is in no file system, begins with a 0. */
	size = offsetof(struct sockaddr_un, sun_path) + 1 +
	       snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "workload.%d", getpid());
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(listener >= 0 && !bind(listener, (void *)&name, size) && !listen(listener, 4));
	pid = child();
	fd = pid ? accept(listener, NULL, NULL) : socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(fd >= 0);
	if (!pid) {
		CHECK(!connect(fd, (void *)&name, size));
		send_all(fd, SMALL, 4);
		_exit(2);
	}
	receive_all(fd, SMALL, 4);
	expect_exit(pid, 2);
}

static int bound(int type, struct sockaddr_in *name)
{
	socklen_t size = sizeof(*name);
	int fd = socket(AF_INET, type, 0);

	*name = (struct sockaddr_in){ .sin_family = AF_INET };
	name->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(fd >= 0 && !bind(fd, (void *)name, size));
	CHECK(!getsockname(fd, (void *)name, &size) && name->sin_port);
	return fd;
}

static void do_network(void)
{
	struct sockaddr_in name, from;
	socklen_t size = sizeof(name);
	unsigned char buf[SMALL];
	int listener, client, server, failed, i;

	client = socket(AF_INET, SOCK_STREAM, 0);
	if (LACKS(client))
		return;
	listener = bound(SOCK_STREAM, &name);
	CHECK(!listen(listener, 1));
	failed = connect(client, (void *)&name, size);
	/* The interface may be down. */
	if (failed && errno == ENETUNREACH)
		return;
	CHECK(!failed);
	server = accept(listener, (void *)&from, &size);
	CHECK(server >= 0 && from.sin_addr.s_addr == name.sin_addr.s_addr);
	exchange(client, client, server, server);
	CHECK(!shutdown(client, SHUT_WR) && read(server, buf, 1) == 0);
	close(listener);
	client = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(connect(client, (void *)&name, size) < 0 && errno == ECONNREFUSED);

	server = bound(SOCK_DGRAM, &name);
	client = bound(SOCK_DGRAM, &from);
	for (i = 1; i < 6; i++) {
		fill(buf, 300 * i, i);
		CHECK(sendto(client, buf, 300 * i, 0, (void *)&name, size) == 300 * i);
		CHECK(recv(server, buf, sizeof(buf), 0) == 300 * i && holds(buf, 300 * i, i));
	}
}

static void do_timers(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1 };
	struct itimerspec soon = { { 0, 3000000 }, { 0, 3000000 } };
	struct timespec nap = { 0, 5000000 };
	struct sigaction action = { .sa_sigaction = on_value, .sa_flags = SA_SIGINFO };
	int64_t start = now();
	uint64_t expired;
	int fd, n = 0;

	CHECK(!nanosleep(&nap, NULL) && now() - start >= nap.tv_nsec);
	start = now();
	CHECK(poll(NULL, 0, 5) == 0 && now() - start >= 5000000);

	received = 0;
	CHECK(!sigaction(SIGRTMIN + 1, &action, NULL));
	start = now();
	event.sigev_value.sival_int = 77;
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &soon, NULL));
	while (received < 3)
		pause();
	CHECK(now() - start >= 9000000 && order[0] == 77 && order[2] == 77);
	CHECK(!timer_delete(timer));

	fd = timerfd_create(CLOCK_MONOTONIC, 0);
	if (LACKS(fd))
		return;
	start = now();
	CHECK(!timerfd_settime(fd, 0, &soon, NULL));
	while (n < 3) {
		CHECK(read(fd, &expired, sizeof(expired)) == sizeof(expired) && expired);
		n += expired;
	}
	CHECK(now() - start >= n * 3000000ll);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned int counter, turn;
static __thread unsigned long mine;

static void *count(void *which)
{
	unsigned int id = (uintptr_t)which, i;

	mine = id * 1000;
	for (i = 0; i < 2000; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
		mine++;
	}
	for (i = 0; i < 20; i++) {
		pthread_mutex_lock(&mutex);
		while (turn % 4 != id)
			pthread_cond_wait(&turned, &mutex);
		turn++;
		pthread_cond_broadcast(&turned);
		pthread_mutex_unlock(&mutex);
	}
	return (void *)(mine - id * 1000);
}

static void do_threads(void)
{
	struct timespec soon = { 0, 3000000 };
	int64_t start = now();
	pthread_t threads[4];
	int word = 1;
	void *result;
	long i;

	/* Some 32-bit ports have only the futex call with 64-bit times. */
#ifdef SYS_futex
	CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &soon, NULL, 0) < 0 && errno == EAGAIN);
	CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 1, &soon, NULL, 0) < 0 && errno == ETIMEDOUT);
	CHECK(now() - start >= soon.tv_nsec);
#endif
	counter = 0;
	turn = 0;
	for (i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, count, (void *)i));
	for (i = 0; i < 4; i++) {
		CHECK(!pthread_join(threads[i], &result));
		CHECK(result == (void *)2000);
	}
	CHECK(counter == 8000 && turn == 80);
}

static void do_events(void)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 0x123456789abcdef0 }, seen[2];
	uint64_t value = 3;
	int fd, set, i;

	fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
	if (LACKS(fd))
		return;
	CHECK(write(fd, &value, sizeof(value)) == sizeof(value));
	set = epoll_create1(EPOLL_CLOEXEC);
	CHECK(set >= 0 && !epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	CHECK(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) < 0 && errno == EEXIST);
	for (i = 0; i < 3; i++) {
		CHECK(epoll_wait(set, seen, 2, LIMIT * 1000) == 1);
		CHECK(seen[0].data.u64 == event.data.u64 && seen[0].events == EPOLLIN);
		CHECK(read(fd, &value, sizeof(value)) == sizeof(value) && value == 1);
	}
	CHECK(epoll_wait(set, seen, 2, 2) == 0);
	CHECK(read(fd, &value, sizeof(value)) < 0 && errno == EAGAIN);
}

static bool is_loaded(const char *name)
{
	char line[512];
	bool found = false;
	FILE *list = fopen("/proc/modules", "r");

	CHECK(list);
	while (fgets(line, sizeof(line), list))
		found |= !strcmp(strtok(line, " "), name);
	fclose(list);
	return found;
}

static void do_module(void)
{
	char *name;
	int fd;

	if (!module)
		return;
	name = strdup(basename(module));
	*strchrnul(name, '.') = 0;

	fd = open(module, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(!is_loaded(name));
	CHECK(!syscall(SYS_finit_module, fd, "", 0));
	CHECK(is_loaded(name));
	CHECK(syscall(SYS_finit_module, fd, "", 0) < 0 && errno == EEXIST);
	CHECK(!syscall(SYS_delete_module, name, O_NONBLOCK));
	CHECK(!is_loaded(name));
	CHECK(syscall(SYS_delete_module, name, O_NONBLOCK) < 0 && errno == ENOENT);
}

/*
 * A virtual machine whose only program adds one register to another, tells the sum, and begins
 * again.
 */
#if defined(__x86_64__) || defined(__i386__)
static const unsigned char guest_code[] = {
	0x00, 0xd8,		/* add %bl, %al */
	0xe6, 0x10,		/* out %al, $0x10 */
	0xeb, 0xfa,		/* jmp to the start */
};

#define GUEST_EXIT	KVM_EXIT_IO
#define GUEST_DATA(run)	((char *)(run) + (run)->io.data_offset)
typedef uint8_t guest_sum;

static void guest_init(int vm, int cpu, uint64_t code, uint64_t sum, uint64_t step)
{
	struct kvm_regs regs = { .rip = code, .rax = sum, .rbx = step, .rflags = 2 };
	struct kvm_sregs sregs;

	(void)vm;
	CHECK(!ioctl(cpu, KVM_GET_SREGS, &sregs));
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	CHECK(!ioctl(cpu, KVM_SET_SREGS, &sregs));
	CHECK(!ioctl(cpu, KVM_SET_REGS, &regs));
}
#elif defined(__aarch64__) || defined(__riscv)
/* It tells the sum by a store where there is no memory. */
#define GUEST_EXIT	KVM_EXIT_MMIO
#define GUEST_DATA(run)	((run)->mmio.data)
#define GUEST_NOWHERE	0x10000000
typedef uint64_t guest_sum;

static void guest_set(int cpu, uint64_t reg, uint64_t value)
{
	struct kvm_one_reg one = { .id = reg | KVM_REG_SIZE_U64, .addr = (uintptr_t)&value };

	CHECK(!ioctl(cpu, KVM_SET_ONE_REG, &one));
}

#ifdef __aarch64__
static const uint32_t guest_code[] = {
	0x8b010000,		/* add x0, x0, x1 */
	0xf9000040,		/* str x0, [x2] */
	0x17fffffe,		/* b to the start */
};

#define GUEST_REG(name)	(KVM_REG_ARM64 | KVM_REG_ARM_CORE | KVM_REG_ARM_CORE_REG(regs.name))

static void guest_init(int vm, int cpu, uint64_t code, uint64_t sum, uint64_t step)
{
	struct kvm_vcpu_init init;

	CHECK(!ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init));
	CHECK(!ioctl(cpu, KVM_ARM_VCPU_INIT, &init));
	guest_set(cpu, GUEST_REG(pc), code);
	guest_set(cpu, GUEST_REG(regs[0]), sum);
	guest_set(cpu, GUEST_REG(regs[1]), step);
	guest_set(cpu, GUEST_REG(regs[2]), GUEST_NOWHERE);
}
#else
static const uint32_t guest_code[] = {
	0x00b50533,		/* add a0, a0, a1 */
	0x00a63023,		/* sd a0, 0(a2) */
	0xff9ff06f,		/* j to the start */
};

#define GUEST_REG(name)	(KVM_REG_RISCV | KVM_REG_RISCV_CORE | KVM_REG_RISCV_CORE_REG(name))

static void guest_init(int vm, int cpu, uint64_t code, uint64_t sum, uint64_t step)
{
	(void)vm;
	guest_set(cpu, GUEST_REG(regs.pc), code);
	guest_set(cpu, GUEST_REG(regs.a0), sum);
	guest_set(cpu, GUEST_REG(regs.a1), step);
	guest_set(cpu, GUEST_REG(regs.a2), GUEST_NOWHERE);
}
#endif
#endif

static void do_virtual_machine(void)
{
#ifdef GUEST_EXIT
	/* Below 1 MiB, where x86 begins in real mode. */
	struct kvm_userspace_memory_region memory = {
		.guest_phys_addr = page,
		.memory_size = page,
	};
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, cpu;
	guest_sum sum = below(1000), step = 1 + below(1000);
	struct kvm_run *run;
	unsigned int i;
	void *code;

	if (kvm < 0)
		return;
	CHECK(ioctl(kvm, KVM_GET_API_VERSION, 0) == KVM_API_VERSION);
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	/* Another hypervisor has the processor. */
	if (vm < 0 && errno == EBUSY)
		return;
	CHECK(vm >= 0);
	code = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(code != MAP_FAILED);
	memcpy(code, guest_code, sizeof(guest_code));
	memory.userspace_addr = (uintptr_t)code;
	CHECK(!ioctl(vm, KVM_SET_USER_MEMORY_REGION, &memory));

	cpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	CHECK(cpu >= 0);
	run = mmap(NULL, ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), PROT_READ | PROT_WRITE, MAP_SHARED,
		   cpu, 0);
	CHECK(run != MAP_FAILED);
	guest_init(vm, cpu, memory.guest_phys_addr, sum, step);
	for (i = 0; i < 100; i++) {
		guest_sum told;

		CHECK(!ioctl(cpu, KVM_RUN, 0));
		CHECK(run->exit_reason == GUEST_EXIT);
		memcpy(&told, GUEST_DATA(run), sizeof(told));
		CHECK(told == (guest_sum)(sum += step));
	}
#endif
}

static const struct {
	const char *name;
	void (*run)(void);
} works[] = {
	{ "processes",	do_processes },
	{ "pipes",	do_pipes },
	{ "files",	do_files },
	{ "memory",	do_private_memory },
	{ "mapped",	do_mapped_file },
	{ "signals",	do_signals },
	{ "sockets",	do_local_sockets },
	{ "network",	do_network },
	{ "timers",	do_timers },
	{ "threads",	do_threads },
	{ "events",	do_events },
	{ "module",	do_module },
	{ "machine",	do_virtual_machine },
};

#define NR_WORKS	(sizeof(works) / sizeof(works[0]))

/*
 * Each piece of work has its own process, so that it can damage only itself, and be killed. The
 * end of this process closes its files.
 */
static bool run_one(unsigned int i)
{
	uint64_t from = next(&state);
	pid_t pid;
	int status;

	work = works[i].name;
	pid = child();
	if (!pid) {
		state = from;
		works[i].run();
		_exit(0);
	}
	status = wait_for(pid, 0);
	if (WIFSIGNALED(status))
		complain(__LINE__,
			 WTERMSIG(status) == SIGALRM ? "hangs" : strsignal(WTERMSIG(status)));
	return status == 0;
}

int main(int argc, char **argv)
{
	unsigned long last;
	bool good = true;
	unsigned int i;

	if (argc > 2 && !strcmp(argv[1], "-"))
		return as_child(argc, argv);
	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: workload ROUNDS SEED [MODULE.ko]\n");
		return 2;
	}
	page = sysconf(_SC_PAGESIZE);
	last = strtoul(argv[1], NULL, 10);
	seed = strtoul(argv[2], NULL, 10);
	module = argv[3];
	if (!last)
		return !run_one(seed % NR_WORKS);
	for (rounds = 1; good && rounds <= last; rounds++) {
		state = seed + rounds * 1000003;
		for (i = 0; i < NR_WORKS; i++)
			good &= run_one(i);
	}
	return !good;
}
