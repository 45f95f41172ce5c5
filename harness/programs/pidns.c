// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first process of a pid namespace exits and waits for its children, which are changing
 * probes.
 *
 *	pidns ROUNDS SECONDS FILE TARGET
 *
 * Each child writes "add NAME TARGET" and "del NAME" to FILE until it is killed. A round
 * takes a moment; it fails if it takes SECONDS.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN	3

/* The write may fail, because a child of an earlier round was killed after add or del. */
static void command(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		sched_yield();
}

static void change_probes(const char *file, int child, const char *target)
{
	char add[128], del[128];
	int fd = open(file, O_WRONLY);

	snprintf(add, sizeof(add), "add pidns%d %s", child, target);
	snprintf(del, sizeof(del), "del pidns%d", child);
	for (;;) {
		command(fd, del);
		command(fd, add);
	}
}

/* Process 1 of its namespace: stays for a moment of varying length. */
static void begin_and_exit(int round, const char *file, const char *target)
{
	int i;

	for (i = 0; i < CHILDREN; i++) {
		if (!fork())
			change_probes(file, i, target);
	}
	usleep(20000 + round * 7919 % 60000);
	_exit(0);
}

static int ends_by(pid_t pid, time_t end, int *status)
{
	while (waitpid(pid, status, WNOHANG) != pid) {
		if (time(NULL) > end)
			return 0;
		usleep(1000);
	}
	return 1;
}

int main(int argc, char **argv)
{
	int i, rounds = argc == 5 ? atoi(argv[1]) : 0, status;
	pid_t pid;

	for (i = 0; i < rounds; i++) {
		/* unshare() applies to the next child, so only that is in the new namespace. */
		pid = fork();
		if (!pid) {
			if (unshare(CLONE_NEWPID))
				_exit(2);
			pid = fork();
			if (!pid)
				begin_and_exit(i, argv[3], argv[4]);
			_exit(pid < 0 || waitpid(pid, &status, 0) != pid || status);
		}
		if (pid < 0 || !ends_by(pid, time(NULL) + atoi(argv[2]), &status)) {
			fprintf(stderr, "round %d does not end\n", i);
			return 1;
		}
		if (status) {
			fprintf(stderr, "round %d: status %#x\n", i, status);
			return 1;
		}
	}
	return !rounds;
}
