// SPDX-License-Identifier: GPL-2.0-only
/*
 * text_events ADDRESS COMMAND: runs COMMAND in a shell while perf records each change of
 * the kernel's text. The old bytes of each change at ADDRESS must be the new bytes of the
 * change before, and the last bytes must equal the first. Prints the number of changes, and
 * fails if there are none.
 */
#include <err.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CPUS	8
#define MAX_CHANGES	1000
#define PAGES		64	/* size of a ring, a power of two */
#define WINDOW		8	/* number of bytes at ADDRESS that are checked */

/* The time follows the bytes, at the end of the record. */
struct change {
	struct perf_event_header header;
	uint64_t addr;
	uint16_t old_len, new_len;
	uint8_t bytes[64];
};

static struct change changes[MAX_CHANGES];
static size_t nr_changes;

static struct perf_event_mmap_page *open_ring(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.text_poke = 1,
	};
	size_t size = (1 + PAGES) * sysconf(_SC_PAGESIZE);
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
	void *ring;

	if (fd < 0)
		err(2, "perf_event_open");
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		err(2, "mmap");

	return ring;
}

static void copy_out(struct perf_event_mmap_page *ring, uint64_t at, void *to, size_t size)
{
	uint8_t *data = (uint8_t *)ring + ring->data_offset;
	size_t i;

	for (i = 0; i < size; i++)
		((uint8_t *)to)[i] = data[(at + i) % ring->data_size];
}

static void read_ring(struct perf_event_mmap_page *ring)
{
	uint64_t at = ring->data_tail, end = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header header;

	for (; at < end; at += header.size) {
		copy_out(ring, at, &header, sizeof(header));
		if (header.type == PERF_RECORD_LOST)
			errx(2, "changes got lost");
		if (header.type != PERF_RECORD_TEXT_POKE || header.size > sizeof(struct change))
			continue;
		if (nr_changes == MAX_CHANGES)
			errx(2, "too many changes");
		copy_out(ring, at, &changes[nr_changes++], header.size);
	}
}

static uint64_t time_of(const struct change *change)
{
	uint64_t time;

	memcpy(&time, (const char *)change + change->header.size - sizeof(time), sizeof(time));

	return time;
}

static int by_time(const void *a, const void *b)
{
	uint64_t first = time_of(a), second = time_of(b);

	return first < second ? -1 : first > second;
}

/* Replay the changes in order; return the number of those at @addr. */
static unsigned int replay(uint64_t addr)
{
	uint8_t first[WINDOW], now[WINDOW];
	int known[WINDOW] = { 0 };
	unsigned int found = 0;
	uint64_t at, i, n;

	for (n = 0; n < nr_changes; n++) {
		const struct change *change = &changes[n];

		found += change->addr == addr;
		for (i = 0; i < change->new_len; i++) {
			at = change->addr + i - addr;
			if (at >= WINDOW || i >= change->old_len)
				continue;
			if (!known[at]++)
				first[at] = change->bytes[i];
			else if (now[at] != change->bytes[i])
				errx(1, "+%d: %02x comes after %02x", (int)at, change->bytes[i],
				     now[at]);
			now[at] = change->bytes[change->old_len + i];
		}
	}
	for (at = 0; at < WINDOW; at++) {
		if (known[at] && now[at] != first[at])
			errx(1, "+%d: %02x has become %02x", (int)at, first[at], now[at]);
	}

	return found;
}

int main(int argc, char **argv)
{
	int cpu, nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct perf_event_mmap_page *rings[MAX_CPUS];
	unsigned int found;

	if (argc != 3 || nr_cpus > MAX_CPUS)
		errx(2, "two arguments, %d CPUs", MAX_CPUS);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		rings[cpu] = open_ring(cpu);
	if (system(argv[2]))
		errx(2, "%s: failed", argv[2]);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		read_ring(rings[cpu]);
	qsort(changes, nr_changes, sizeof(changes[0]), by_time);
	found = replay(strtoull(argv[1], NULL, 16));
	printf("%u changes\n", found);

	return !found;
}
