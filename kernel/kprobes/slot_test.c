// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots: none is handed out twice, that of a probe only a grace period after the probe has
 * gone, and an address in a page of slots is recognised.
 */
#include <linux/delay.h>
#include <linux/kprobes_port.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/uaccess.h>

#include "internal.h"
#include "../../lib/test_kprobes/handlers.h"

/* More than one page's worth on every architecture. */
#define NR_SLOTS	(PAGE_SIZE / KPROBE_INSN_SLOT_SIZE + 3)

static bool slots_overlap(kprobe_opcode_t **slots, unsigned int nr, kprobe_opcode_t *slot)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (abs((long)slots[i] - (long)slot) < KPROBE_INSN_SLOT_SIZE)
			return true;
	}

	return false;
}

static void free_slots(kprobe_opcode_t **slots, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		free_insn_slot(slots[i], 0);
}

static void slot_get_many(struct kunit *test)
{
	kprobe_opcode_t **slots = must_alloc(test, NR_SLOTS, sizeof(*slots));
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++) {
		slots[i] = get_insn_slot();
		KUNIT_ASSERT_NOT_NULL(test, slots[i]);
		KUNIT_EXPECT_FALSE(test, slots_overlap(slots, i, slots[i]));
		KUNIT_EXPECT_EQ(test, offset_in_page(slots[i]) % KPROBE_INSN_SLOT_SIZE, 0);
		KUNIT_EXPECT_TRUE(test, is_kprobe_insn_slot((unsigned long)slots[i]));
		KUNIT_EXPECT_TRUE(test, kprobe_slots_span((unsigned long)slots[i]));
		KUNIT_EXPECT_TRUE(test, is_kprobe_insn_slot((unsigned long)slots[i] +
							    KPROBE_INSN_SLOT_SIZE - 1));
	}
	KUNIT_EXPECT_GE(test, kprobe_slot_pages_in_use(), 2);

	free_slots(slots, NR_SLOTS);
	KUNIT_EXPECT_FALSE(test, is_kprobe_insn_slot((unsigned long)slots));
	KUNIT_EXPECT_FALSE(test, kprobe_slots_span(0));
}

/* Where a trap's exit unwinds the stack, a probe on any of these would be hit without end. */
static void slot_search_not_probed(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)kprobe_slots_span));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)is_kprobe_insn_slot));
#ifdef CONFIG_OPTPROBES
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)is_kprobe_optinsn_slot));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)kprobe_optinsn_slot_of));
#endif
}

/* Get a slot, and give it back so that it is the next to be handed out. */
static kprobe_opcode_t *next_slot(void)
{
	kprobe_opcode_t *slot = get_insn_slot();

	if (slot)
		free_insn_slot(slot, 0);

	return slot;
}

static void slot_again(struct kunit *test)
{
	kprobe_opcode_t *slot = get_insn_slot();

	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_EXPECT_PTR_NE(test, next_slot(), slot);
	free_insn_slot(slot, 0);
	KUNIT_EXPECT_PTR_EQ(test, next_slot(), slot);
}

DEFINE_TARGET(unsigned long, slot_test_function, (unsigned long n), n * 5 + 7, notrace)

/* A task may be preempted in a copy, so its slot is used again only after a grace period. */
static void slot_outlives_probe(struct kunit *test)
{
	struct kprobe kp = { .pre_handler = ignore_hit };
	kprobe_opcode_t *slot;
	unsigned int i;

	/* The worker may come in between and give it back, but not each time. */
	for (i = 0; i < 5; i++) {
		kp.addr = dereference_function_descriptor(slot_test_function);
		slot = next_slot();
		KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
		if (next_slot() == slot) {
			unregister_kprobe(&kp);
			kunit_skip(test, "the instruction is not copied");
		}
		unregister_kprobe(&kp);
		if (next_slot() != slot)
			break;
	}
	KUNIT_EXPECT_LT(test, i, 5);
	KUNIT_EXPECT_TRUE(test, is_kprobe_insn_slot((unsigned long)slot));
}

/* Take slots until they hold a whole page, which no one else uses then, and one in another. */
static unsigned int take_whole_page(kprobe_opcode_t **slots, unsigned int nr, void **whole)
{
	const unsigned int slots_in_page = PAGE_SIZE / KPROBE_INSN_SLOT_SIZE;
	unsigned int taken = 0, run = 0;
	void *page = NULL, *last;

	*whole = NULL;
	while (taken < nr && !*whole) {
		slots[taken] = get_insn_slot();
		if (!slots[taken])
			break;
		last = page;
		page = (void *)((unsigned long)slots[taken++] & PAGE_MASK);
		if (page != last && run == slots_in_page)
			*whole = last;
		run = page == last ? run + 1 : 1;
	}

	return taken;
}

/* An empty page is freed, unless it is the last, and no address in it is recognised any more. */
static void slot_pages_go(struct kunit *test)
{
	const unsigned int nr = 16 * NR_SLOTS;
	kprobe_opcode_t **slots = must_alloc(test, nr, sizeof(*slots));
	unsigned int taken;
	void *whole;

	taken = take_whole_page(slots, nr, &whole);
	KUNIT_EXPECT_NOT_NULL(test, whole);
	KUNIT_EXPECT_TRUE(test, is_kprobe_insn_slot((unsigned long)whole));
	free_slots(slots, taken);
	KUNIT_EXPECT_FALSE(test, is_kprobe_insn_slot((unsigned long)whole));
}

/* A task that looks a slot up and reads it, again and again. */
struct slot_reader {
	kprobe_opcode_t *slot;
	unsigned int found;	/* look-ups that found it */
	unsigned int faults;	/* how often its text was gone before the look-up was over */
};

/* Most of the time passes between look-up and read, so that a removal comes there. */
static int read_slot(void *data)
{
	struct slot_reader *reader = data;
	bool found = true;
	u8 byte;

	while (found && !kthread_should_stop()) {
		scoped_guard(rcu) {
			found = is_kprobe_insn_slot((unsigned long)reader->slot);
			reader->found += found;
			mdelay(2);
			if (found && copy_from_kernel_nofault(&byte, reader->slot, 1))
				reader->faults++;
		}
		cond_resched();
	}
	while (!kthread_should_stop())
		msleep(20);

	return 0;
}

/* Text that a lockless reader has found stays until the reader leaves. */
static void slot_text_outlives_readers(struct kunit *test)
{
	const unsigned int nr = 16 * NR_SLOTS;
	kprobe_opcode_t **slots = must_alloc(test, nr, sizeof(*slots));
	struct slot_reader *reader = must_alloc(test, 1, sizeof(*reader));
	struct task_struct *task;
	unsigned int i, taken;
	void *whole;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	taken = take_whole_page(slots, nr, &whole);
	reader->slot = whole;
	KUNIT_ASSERT_NOT_NULL(test, reader->slot);
	task = begin_thread(test, read_slot, reader);
	for (i = 0; i < 10000 && !READ_ONCE(reader->found); i++)
		usleep_range(1000, 2000);
	free_slots(slots, taken);

	for (i = 0; i < 600 && is_kprobe_insn_slot((unsigned long)reader->slot); i++)
		msleep(100);
	KUNIT_EXPECT_FALSE(test, is_kprobe_insn_slot((unsigned long)reader->slot));
	kunit_release_action(test, end_thread, task);
	KUNIT_EXPECT_GT(test, reader->found, 0);
	KUNIT_EXPECT_EQ(test, reader->faults, 0);
}

/* Pages that earlier tests have emptied may be freed while these are listed. */
static void slot_kallsyms(struct kunit *test)
{
	kprobe_opcode_t *slot = get_insn_slot();
	unsigned int i, found, pages;
	char name[KSYM_NAME_LEN], type;
	unsigned long addr;

	KUNIT_ASSERT_NOT_NULL(test, slot);
	do {
		pages = kprobe_slot_pages_in_use();
		found = 0;
		for (i = 0; !kprobe_get_kallsym(i, &addr, &type, name); i++) {
			KUNIT_EXPECT_EQ(test, type, 't');
			if (addr == ((unsigned long)slot & PAGE_MASK)) {
				KUNIT_EXPECT_STREQ(test, name, "kprobe_insn_page");
				found++;
			} else if (strcmp(name, "kprobe_insn_page")) {
				KUNIT_EXPECT_STREQ(test, name, "kprobe_optinsn_page");
			}
		}
	} while (pages != kprobe_slot_pages_in_use());

	KUNIT_EXPECT_EQ(test, found, 1);
	KUNIT_EXPECT_EQ(test, i, pages);
	free_insn_slot(slot, 0);
}

static struct kunit_case slot_cases[] = {
	KUNIT_CASE(slot_get_many),
	KUNIT_CASE(slot_search_not_probed),
	KUNIT_CASE(slot_again),
	KUNIT_CASE(slot_outlives_probe),
	KUNIT_CASE(slot_pages_go),
	KUNIT_CASE_SLOW(slot_text_outlives_readers),
	KUNIT_CASE(slot_kallsyms),
	{}
};

static struct kunit_suite slot_suite = {
	.name = "kprobes_slot",
	.test_cases = slot_cases,
};

kunit_test_suite(slot_suite);
