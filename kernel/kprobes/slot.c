// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executable memory for copies of instructions.
 *
 * All slots of a kind have one size and tile pages that the architecture allocates. A slot
 * that is given back may be handed out again at once: kprobe_points_free() has waited until
 * no task was in it, and free_left_points() until no look-up could still lead to it.
 *
 * Look-ups by address may happen in any context and take no lock: they search a hash
 * table of page numbers under RCU. A page without slots in use is freed a grace period
 * after it has left that table.
 */
#include <linux/execmem.h>
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "internal.h"

/*
 * kprobe_optinsn_slot_of() finds a slot only while it is SLOT_USED. Before and after that it may
 * hold the remains of a former one.
 */
enum slot_use { SLOT_FREE, SLOT_FRESH, SLOT_USED };

/**
 * struct slot_kind - slots of one size
 * @name: name of its pages in /proc/kallsyms and perf
 * @alloc: gets a page, NULL when there is none
 * @release: gives a page back
 * @pages: struct slot_page
 * @roomy: pages with a free slot
 * @low: no page lies below; all begin at the same offset in a page of memory
 * @high: no page lies at or above; the two only ever move apart
 * @size: bytes of a slot, 0 before the first request
 */
struct slot_kind {
	const char *name;
	void *(*alloc)(void);
	void (*release)(void *page);
	struct list_head pages;
	struct list_head roomy;
	unsigned long low;
	unsigned long high;
	size_t size;
};

/**
 * struct slot_page - one page of slots
 * @link: in slot_kind::pages
 * @roomy: in slot_kind::roomy, while a slot is free
 * @node: in the table of all pages
 * @release: delays the freeing of this struct and of @text
 * @kind: the kind of its slots
 * @text: the page
 * @nr: slots in the page
 * @nr_free: slots in state %SLOT_FREE
 * @next: no slot before this one is free
 * @use: an enum slot_use for each slot
 */
struct slot_page {
	struct list_head link;
	struct list_head roomy;
	struct hlist_node node;
	struct rcu_work release;
	struct slot_kind *kind;
	void *text;
	unsigned int nr;
	unsigned int nr_free;
	unsigned int next;
	u8 use[];
};

/* The pages of all kinds by page number. 100,000 slots take some 3,000 pages. */
static DEFINE_HASHTABLE(slot_pages, 10);

/* Serializes changes of kinds, of their pages and of the slots in them. */
static DEFINE_MUTEX(slot_mutex);

static void slot_page_announce(const struct slot_kind *kind, const struct slot_page *page,
			       bool gone)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, (unsigned long)page->text, PAGE_SIZE,
			   gone, kind->name);
}

static struct slot_page *slot_page_add(struct slot_kind *kind)
{
	unsigned int nr = PAGE_SIZE / kind->size;
	void *text = kind->alloc();
	unsigned long start = (unsigned long)text;
	struct slot_page *page;

	if (!text)
		return NULL;

	page = kzalloc(struct_size(page, use, nr), GFP_KERNEL);
	if (!page) {
		kind->release(text);
		return NULL;
	}
	page->kind = kind;
	page->text = text;
	page->nr = nr;
	page->nr_free = nr;
	list_add(&page->roomy, &kind->roomy);
	WRITE_ONCE(kind->low, min(kind->low, start));
	WRITE_ONCE(kind->high, max(kind->high, start + PAGE_SIZE));
	list_add_rcu(&page->link, &kind->pages);
	hash_add_rcu(slot_pages, &page->node, start >> PAGE_SHIFT);
	slot_page_announce(kind, page, false);

	return page;
}

/* Runs a grace period after the page left the table, so no reader uses it. */
static void slot_page_release(struct work_struct *work)
{
	struct slot_page *page = container_of(to_rcu_work(work), struct slot_page, release);

	page->kind->release(page->text);
	kfree(page);
}

static void slot_page_remove(struct slot_kind *kind, struct slot_page *page)
{
	slot_page_announce(kind, page, true);
	list_del_rcu(&page->link);
	list_del(&page->roomy);
	hash_del_rcu(&page->node);

	INIT_RCU_WORK(&page->release, slot_page_release);
	queue_rcu_work(system_percpu_wq, &page->release);
}

/*
 * Neither probed nor traced, like all that looks up slots here: unwinders do, also while a trap
 * begins or ends.
 */
static notrace struct slot_page *slot_page_of(struct slot_kind *kind, unsigned long addr)
{
	/* The only page for detours that powerpc has is not aligned to pages. */
	unsigned long start = addr - offset_in_page(addr - READ_ONCE(kind->low));
	struct slot_page *page;

	hash_for_each_possible_rcu(slot_pages, page, node, start >> PAGE_SHIFT,
				   lockdep_is_held(&slot_mutex)) {
		if (page->kind == kind && page->text == (void *)start)
			return page;
	}

	return NULL;
}

NOKPROBE_SYMBOL(slot_page_of);

static int slot_kind_get_kallsym(struct slot_kind *kind, unsigned int *symnum,
				 unsigned long *value, char *type, char *sym)
{
	struct slot_page *page;

	guard(rcu)();
	list_for_each_entry_rcu(page, &kind->pages, link) {
		if ((*symnum)--)
			continue;
		*value = (unsigned long)page->text;
		*type = 't';
		strscpy(sym, kind->name, KSYM_NAME_LEN);
		return 0;
	}

	return -ERANGE;
}

static void *slot_get(struct slot_kind *kind, size_t size)
{
	struct slot_page *page;
	u8 *use;

	guard(mutex)(&slot_mutex);
	/*
	 * The size is no constant on all architectures. Look-ups read it without a lock,
	 * but only after it has found a page, and there is none before the first request.
	 */
	if (!kind->size)
		kind->size = size;
	page = list_first_entry_or_null(&kind->roomy, struct slot_page, roomy);
	page = page ?: slot_page_add(kind);
	if (!page)
		return NULL;

	use = memchr(page->use + page->next, SLOT_FREE, page->nr - page->next);
	WRITE_ONCE(*use, SLOT_FRESH);
	page->next = use - page->use + 1;
	page->nr_free--;
	if (!page->nr_free)
		list_del_init(&page->roomy);

	return page->text + (use - page->use) * kind->size;
}

static void slot_put(struct slot_kind *kind, void *slot)
{
	struct slot_page *page;
	unsigned int i;

	guard(mutex)(&slot_mutex);
	page = slot_page_of(kind, (unsigned long)slot);
	if (WARN_ON_ONCE(!page))
		return;

	i = (slot - page->text) / kind->size;
	if (WARN_ON_ONCE(page->use[i] == SLOT_FREE))
		return;

	WRITE_ONCE(page->use[i], SLOT_FREE);
	page->next = min(page->next, i);
	page->nr_free++;
	if (page->nr_free == 1)
		list_add(&page->roomy, &kind->roomy);
	/* Free a page without slots in use, but keep one for the next probe. */
	if (page->nr_free == page->nr && !list_is_singular(&kind->pages))
		slot_page_remove(kind, page);
}

/* Nearly all callers ask about kernel or module text: answer them without RCU. */
static nokprobe_inline bool slot_kind_spans(const struct slot_kind *kind, unsigned long addr)
{
	return addr >= READ_ONCE(kind->low) && addr < READ_ONCE(kind->high);
}

static nokprobe_inline bool slot_kind_holds(struct slot_kind *kind, unsigned long addr)
{
	if (!slot_kind_spans(kind, addr))
		return false;
	guard(rcu)();

	return slot_page_of(kind, addr);
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
bool notrace is_kprobe_insn_slot(unsigned long addr)
{
	return slot_kind_holds(&insn_slots, addr);
}

NOKPROBE_SYMBOL(is_kprobe_insn_slot);

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

	guard(mutex)(&slot_mutex);
	page = slot_page_of(&optinsn_slots, (unsigned long)slot);
	if (WARN_ON_ONCE(!page))
		return;

	/* Pairs with the acquire in kprobe_optinsn_slot_of(). */
	smp_store_release(&page->use[((void *)slot - page->text) / optinsn_slots.size], use);
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

/*
 * Keep kprobe_optinsn_slot_of() from finding the detour of @p, if it has one. The slot is given
 * back a grace period later.
 */
void kprobe_hide_detour(struct kprobe *p)
{
	struct optimized_kprobe *op = container_of(p, struct optimized_kprobe, kp);

	if (op->optinsn.insn)
		optinsn_slot_set_use(op->optinsn.insn, SLOT_FRESH);
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

bool notrace is_kprobe_optinsn_slot(unsigned long addr)
{
	return slot_kind_holds(&optinsn_slots, addr);
}

NOKPROBE_SYMBOL(is_kprobe_optinsn_slot);

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
notrace kprobe_opcode_t *kprobe_optinsn_slot_of(unsigned long addr)
{
	struct slot_page *page;
	unsigned int i;

	if (!slot_kind_spans(&optinsn_slots, addr))
		return NULL;

	guard(rcu)();
	page = slot_page_of(&optinsn_slots, addr);
	if (!page)
		return NULL;
	i = (addr - (unsigned long)page->text) / optinsn_slots.size;
	/* Pairs with the release in optinsn_slot_set_use(). */
	if (i >= page->nr || smp_load_acquire(&page->use[i]) != SLOT_USED)
		return NULL;

	return page->text + i * optinsn_slots.size;
}

NOKPROBE_SYMBOL(kprobe_optinsn_slot_of);
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
bool notrace kprobe_slots_span(unsigned long addr)
{
#ifdef CONFIG_OPTPROBES
	if (slot_kind_spans(&optinsn_slots, addr))
		return true;
#endif
	return slot_kind_spans(&insn_slots, addr);
}

NOKPROBE_SYMBOL(kprobe_slots_span);

unsigned int kprobe_slot_pages_in_use(void)
{
	guard(mutex)(&slot_mutex);

#ifdef CONFIG_OPTPROBES
	return list_count_nodes(&insn_slots.pages) + list_count_nodes(&optinsn_slots.pages);
#else
	return list_count_nodes(&insn_slots.pages);
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
	int ret = slot_kind_get_kallsym(&insn_slots, &symnum, value, type, sym);

#ifdef CONFIG_OPTPROBES
	if (ret)
		ret = slot_kind_get_kallsym(&optinsn_slots, &symnum, value, type, sym);
#endif
	return ret;
}
