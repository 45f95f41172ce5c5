// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executable memory for copies of instructions.
 *
 * All slots of a kind have one size and tile pages that the architecture allocates. A slot
 * that is given back may be handed out again at once: free_left_points() has waited until
 * no task was in it.
 */
#include <linux/execmem.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/string.h>

#include "slot.h"
#include "slot_page.h"

static unsigned int slot_index(const struct slot_kind *kind, const struct slot_page *page,
			       const void *slot)
{
	return (slot - page->text) / kind->size;
}

/*
 * The size is no constant on all architectures. kprobe_slot_used_at() reads it without a lock,
 * but only after it has found a page, and there is none before the first request.
 */
static void slot_kind_set_size(struct slot_kind *kind, size_t size)
{
	if (!kind->size)
		kind->size = size;
}

static void *slot_get(struct slot_kind *kind, size_t size)
{
	struct slot_page *page;
	u8 *use;

	guard(mutex)(&kprobe_slot_mutex);
	slot_kind_set_size(kind, size);
	page = kprobe_slot_page_with_room(kind);
	if (!page)
		return NULL;

	use = memchr(page->use + page->next, SLOT_FREE, page->nr - page->next);
	page->next = use - page->use + 1;

	return kprobe_slot_use(kind, page, page->next - 1);
}

static void slot_put(struct slot_kind *kind, void *slot)
{
	struct slot_page *page;
	unsigned int i;

	guard(mutex)(&kprobe_slot_mutex);
	page = kprobe_slot_page_of(kind, (unsigned long)slot);
	if (WARN_ON_ONCE(!page))
		return;

	i = slot_index(kind, page, slot);
	if (WARN_ON_ONCE(page->use[i] == SLOT_FREE))
		return;

	kprobe_slot_vacate(page, i);
	kprobe_slot_page_tidy(kind, page);
}

/* Nearly all callers ask about kernel or module text: answer them without RCU. */
static bool slot_kind_spans(const struct slot_kind *kind, unsigned long addr)
{
	return addr >= READ_ONCE(kind->low) && addr < READ_ONCE(kind->high);
}

static bool slot_kind_holds(struct slot_kind *kind, unsigned long addr)
{
	return slot_kind_spans(kind, addr) && kprobe_slot_page_holds(kind, addr);
}

/**
 * alloc_insn_page() - get a page for copies of instructions
 *
 * Context: Process context, may sleep; text_mutex may be held.
 * Return: the page, which execmem_free() takes back, or NULL.
 */
void * __weak alloc_insn_page(void)
{
	return execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE);
}

static struct slot_kind insn_slots = {
	.name = "kprobe_insn_page",
	.alloc = alloc_insn_page,
	.release = execmem_free,
	.pages = LIST_HEAD_INIT(insn_slots.pages),
	.roomy = LIST_HEAD_INIT(insn_slots.roomy),
	.low = ULONG_MAX,
};

/**
 * get_insn_slot() - get a slot for the copy of one instruction
 *
 * Context: Process context, may sleep; text_mutex may be held.
 * Return: the slot, %KPROBE_INSN_SLOT_SIZE bytes to be written by the architecture's text
 * patching, or NULL when there is no memory.
 */
kprobe_opcode_t *get_insn_slot(void)
{
	return slot_get(&insn_slots, KPROBE_INSN_SLOT_SIZE);
}

/**
 * free_insn_slot() - give a slot back
 * @slot: from get_insn_slot()
 * @dirty: ignored; a slot that was in use is given back by arch_remove_kprobe() or
 *	arch_remove_optimized_kprobe(), when no task can be in it
 *
 * Context: Process context, may sleep.
 */
void free_insn_slot(kprobe_opcode_t *slot, int dirty)
{
	slot_put(&insn_slots, slot);
}

/**
 * is_kprobe_insn_slot() - is this the copy of a probed instruction?
 * @addr: an address
 *
 * Context: Any, with RCU watching. The page stays until the caller's rcu_read_unlock(),
 * or for as long as the caller runs in the slot itself.
 * Return: true when @addr lies in a page of slots.
 */
bool is_kprobe_insn_slot(unsigned long addr)
{
	return slot_kind_holds(&insn_slots, addr);
}

#ifdef CONFIG_OPTPROBES
void * __weak alloc_optinsn_page(void)
{
	return alloc_insn_page();
}

void __weak free_optinsn_page(void *page)
{
	execmem_free(page);
}

static struct slot_kind optinsn_slots = {
	.name = "kprobe_optinsn_page",
	.alloc = alloc_optinsn_page,
	.release = free_optinsn_page,
	.pages = LIST_HEAD_INIT(optinsn_slots.pages),
	.roomy = LIST_HEAD_INIT(optinsn_slots.roomy),
	.low = ULONG_MAX,
};

/* Tests set this to make all requests fail. */
bool kprobe_optinsn_slots_withheld;

kprobe_opcode_t *get_optinsn_slot(void)
{
	if (READ_ONCE(kprobe_optinsn_slots_withheld))
		return NULL;

	return slot_get(&optinsn_slots, MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t));
}

static void optinsn_slot_set_use(kprobe_opcode_t *slot, enum slot_use use)
{
	struct slot_page *page;

	guard(mutex)(&kprobe_slot_mutex);
	page = kprobe_slot_page_of(&optinsn_slots, (unsigned long)slot);
	if (WARN_ON_ONCE(!page))
		return;

	/* Pairs with the acquire in kprobe_slot_used_at(). */
	smp_store_release(&page->use[slot_index(&optinsn_slots, page, slot)], use);
}

/**
 * kprobe_publish_optinsn_slot() - let kprobe_optinsn_slot_of() find a slot
 * @slot: the slot; it and all that it leads to has been written, and it may have been
 *	published before
 *
 * Context: Process context, may sleep.
 */
void kprobe_publish_optinsn_slot(kprobe_opcode_t *slot)
{
	optinsn_slot_set_use(slot, SLOT_USED);
}

/* Keep kprobe_optinsn_slot_of() from finding a slot, which is given back a grace period later. */
void kprobe_hide_optinsn_slot(kprobe_opcode_t *slot)
{
	optinsn_slot_set_use(slot, SLOT_FRESH);
}

void free_optinsn_slot(kprobe_opcode_t *slot, int dirty)
{
	slot_put(&optinsn_slots, slot);
}

/**
 * arch_remove_optimized_kprobe() - free the memory of a detour
 * @op: a probe without a jump, and perhaps without a detour
 *
 * Context: Process context, when no hit can be in the detour any more.
 */
void __weak arch_remove_optimized_kprobe(struct optimized_kprobe *op)
{
	if (!op->optinsn.insn)
		return;

	free_optinsn_slot(op->optinsn.insn, 1);
	op->optinsn.insn = NULL;
}

bool is_kprobe_optinsn_slot(unsigned long addr)
{
	return slot_kind_holds(&optinsn_slots, addr);
}

/**
 * kprobe_optinsn_slot_of() - the slot that an address is in
 * @addr: an address, which may be stale, from a slot given back long ago
 *
 * free_left_points() hides the slot from here, a grace period before it gives it back and
 * frees the point that owns it.
 *
 * Context: Any, with RCU watching. The slot and its owner stay until the caller's
 * rcu_read_unlock(), or for as long as the caller runs in the slot itself.
 * Return: the start of the slot, NULL when @addr is in none that is published.
 */
kprobe_opcode_t *kprobe_optinsn_slot_of(unsigned long addr)
{
	if (!slot_kind_spans(&optinsn_slots, addr))
		return NULL;

	return kprobe_slot_used_at(&optinsn_slots, addr);
}
#endif

/**
 * kprobe_slots_span() - could there be a slot at this address?
 * @addr: an address
 *
 * For those who ask about many addresses, nearly all of them in kernel or module text.
 *
 * Context: Any, also without RCU.
 * Return: false when @addr is in no slot, neither for a copy nor for a detour.
 */
bool kprobe_slots_span(unsigned long addr)
{
#ifdef CONFIG_OPTPROBES
	if (slot_kind_spans(&optinsn_slots, addr))
		return true;
#endif
	return slot_kind_spans(&insn_slots, addr);
}

unsigned int kprobe_slot_pages_in_use(void)
{
	guard(mutex)(&kprobe_slot_mutex);

#ifdef CONFIG_OPTPROBES
	return insn_slots.nr_pages + optinsn_slots.nr_pages;
#else
	return insn_slots.nr_pages;
#endif
}

/**
 * kprobe_get_kallsym() - list the pages of slots in /proc/kallsyms
 * @symnum: number of pages to skip
 * @value: set to the page's address
 * @type: set to its type
 * @sym: set to its name, KSYM_NAME_LEN bytes
 *
 * Context: Any.
 * Return: 0, -%ERANGE when there are not that many.
 */
int kprobe_get_kallsym(unsigned int symnum, unsigned long *value, char *type, char *sym)
{
	int ret = kprobe_slot_kind_get_kallsym(&insn_slots, &symnum, value, type, sym);

#ifdef CONFIG_OPTPROBES
	if (ret)
		ret = kprobe_slot_kind_get_kallsym(&optinsn_slots, &symnum, value, type, sym);
#endif
	return ret;
}
