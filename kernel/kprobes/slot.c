// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executable memory for copies of instructions.
 *
 * A kind of slot has one size; its slots tile pages that the architecture hands
 * out. A slot that a CPU may still be inside, or a task be preempted in, is
 * given back dirty: it waits for an RCU-tasks grace period together with all
 * others that came before that began. Nobody waits for it.
 *
 * Look-ups by address may happen in any context and take no lock: they search a
 * hash table of page numbers under RCU. A page of slots that nobody uses is freed a
 * grace period after it has left that table.
 */
#include <linux/execmem.h>
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "slot.h"

/*
 * Nobody is told of a fresh slot: what is in it may be what was there before. Dirty slots
 * are of two generations, so that those of one can wait for a grace period without being
 * told that it has begun.
 */
enum slot_use { SLOT_FREE, SLOT_FRESH, SLOT_USED, SLOT_DIRTY, SLOT_DIRTY_OTHER };

/* A placed slot may reach into a second page. */
#define SLOT_PAGE_SPANS	2

/**
 * struct slot_span - one page of memory that slots are in
 * @node: in slot_spans
 * @page: the slots
 * @number: of the page of memory
 */
struct slot_span {
	struct hlist_node node;
	struct slot_page *page;
	unsigned long number;
};

/**
 * struct slot_page - one page of slots, or two when a slot has to be across
 * @link: in slot_kind::pages
 * @roomy: in slot_kind::roomy, while a slot is free
 * @unclean: in slot_kind::unclean, while a slot is dirty
 * @spans: each page of @text
 * @release: delays the freeing of all this
 * @kind: what kind of slots they are
 * @text: the page
 * @len: bytes of it
 * @first: offset of the first slot, less than the size of one
 * @nr: slots in the page
 * @nr_free: slots in state %SLOT_FREE
 * @next: no slot before this one is free
 * @nr_unclean: dirty slots, of either generation
 * @use: an enum slot_use for each slot
 */
struct slot_page {
	struct list_head link;
	struct list_head roomy;
	struct list_head unclean;
	struct slot_span spans[SLOT_PAGE_SPANS];
	struct rcu_work release;
	struct slot_kind *kind;
	void *text;
	unsigned int len;
	unsigned int first;
	unsigned int nr;
	unsigned int nr_free;
	unsigned int next;
	unsigned int nr_unclean;
	u8 use[];
};

/**
 * struct slot_kind - slots of one size
 * @name: of its pages in /proc/kallsyms and perf
 * @alloc: gets a page, NULL when there is none
 * @release: gives a page back
 * @pages: struct slot_page
 * @roomy: those with a free slot
 * @unclean: those with a slot that is dirty
 * @low: no page lies below
 * @high: no page lies at or above; the two only ever move apart
 * @size: bytes of a slot, 0 until the first is asked for
 * @nr_pages: pages in @pages
 * @dirty: state of a slot that becomes dirty now
 * @nr_dirty: slots in that state
 * @waiting: a grace period is under way for the dirty slots in the other state
 * @rcu: that grace period
 * @reclaim: what comes after it
 */
struct slot_kind {
	const char *name;
	void *(*alloc)(void);
	void (*release)(void *page);
	struct list_head pages;
	struct list_head roomy;
	struct list_head unclean;
	unsigned long low;
	unsigned long high;
	size_t size;
	unsigned int nr_pages;
	enum slot_use dirty;
	unsigned int nr_dirty;
	bool waiting;
	struct rcu_head rcu;
	struct work_struct reclaim;
};

/* The pages of all kinds by page number. 100,000 slots are some 3,000 pages. */
static DEFINE_HASHTABLE(slot_spans, 10);

static DEFINE_MUTEX(slot_mutex);

static void slot_page_announce(const struct slot_kind *kind, const struct slot_page *page,
			       bool gone)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, (unsigned long)page->text, page->len,
			   gone, kind->name);
}

static unsigned long slot_page_number(unsigned long addr)
{
	return addr >> PAGE_SHIFT;
}

static void slot_page_hash(struct slot_page *page)
{
	unsigned long number = slot_page_number((unsigned long)page->text);
	struct slot_span *span;

	for (span = page->spans; span < page->spans + page->len / PAGE_SIZE; span++) {
		span->page = page;
		span->number = number++;
		hash_add_rcu(slot_spans, &span->node, span->number);
	}
}

static void slot_page_unhash(struct slot_page *page)
{
	struct slot_span *span;

	for (span = page->spans; span < page->spans + page->len / PAGE_SIZE; span++)
		hash_del_rcu(&span->node);
}

/* @text is a page from the architecture, or NULL if it had none to give. */
static struct slot_page *slot_page_add(struct slot_kind *kind, void *text, unsigned int len,
				       unsigned int first)
{
	unsigned long start = (unsigned long)text;
	unsigned int nr = (len - first) / kind->size;
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
	page->len = len;
	page->first = first;
	page->nr = nr;
	page->nr_free = nr;
	page->kind = kind;
	INIT_LIST_HEAD(&page->unclean);
	list_add(&page->roomy, &kind->roomy);
	WRITE_ONCE(kind->low, min(kind->low, start));
	WRITE_ONCE(kind->high, max(kind->high, start + len));
	list_add_rcu(&page->link, &kind->pages);
	slot_page_hash(page);
	kind->nr_pages++;
	slot_page_announce(kind, page, false);

	return page;
}

/* A grace period after the page left the table no reader looks at it. */
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
	list_del(&page->unclean);
	slot_page_unhash(page);
	kind->nr_pages--;

	INIT_RCU_WORK(&page->release, slot_page_release);
	queue_rcu_work(system_wq, &page->release);
}

/* Free a page that nobody uses, but keep one for the next probe. */
static void slot_page_tidy(struct slot_kind *kind, struct slot_page *page)
{
	if (page->nr_free == page->nr && kind->nr_pages > 1)
		slot_page_remove(kind, page);
}

static struct slot_page *slot_page_with_room(struct slot_kind *kind)
{
	struct slot_page *page = list_first_entry_or_null(&kind->roomy, struct slot_page, roomy);

	return page ?: slot_page_add(kind, kind->alloc(), PAGE_SIZE, 0);
}

static void *slot_at(const struct slot_kind *kind, const struct slot_page *page, unsigned int i)
{
	return page->text + page->first + i * kind->size;
}

static unsigned int slot_index(const struct slot_kind *kind, const struct slot_page *page,
			       const void *slot)
{
	return (slot - page->text - page->first) / kind->size;
}

static void *slot_use(const struct slot_kind *kind, struct slot_page *page, unsigned int i)
{
	page->use[i] = SLOT_FRESH;
	page->nr_free--;
	if (!page->nr_free)
		list_del_init(&page->roomy);

	return slot_at(kind, page, i);
}

static void slot_vacate(struct slot_page *page, unsigned int i)
{
	page->use[i] = SLOT_FREE;
	page->next = min(page->next, i);
	page->nr_free++;
	if (page->nr_free == 1)
		list_add(&page->roomy, &page->kind->roomy);
}

static void *slot_get(struct slot_kind *kind, size_t size)
{
	struct slot_page *page;
	u8 *use;

	guard(mutex)(&slot_mutex);
	kind->size = size;
	page = slot_page_with_room(kind);
	if (!page)
		return NULL;

	use = memchr(page->use + page->next, SLOT_FREE, page->nr - page->next);
	page->next = use - page->use + 1;

	return slot_use(kind, page, page->next - 1);
}

static enum slot_use other_generation(enum slot_use dirty)
{
	return dirty == SLOT_DIRTY ? SLOT_DIRTY_OTHER : SLOT_DIRTY;
}

/* Let one grace period begin for all the slots that are dirty by now. */
static void slots_begin_wait(struct slot_kind *kind, rcu_callback_t done)
{
	if (kind->waiting || !kind->nr_dirty)
		return;

	kind->dirty = other_generation(kind->dirty);
	kind->nr_dirty = 0;
	kind->waiting = true;
	call_rcu_tasks(&kind->rcu, done);
}

/* Pages cannot be freed by an RCU callback, they need a context that sleeps. */
static void slots_grace_done(struct rcu_head *rcu)
{
	struct slot_kind *kind = container_of(rcu, struct slot_kind, rcu);

	schedule_work(&kind->reclaim);
}

static void slot_page_reclaim(struct slot_kind *kind, struct slot_page *page)
{
	enum slot_use waited = other_generation(kind->dirty);
	unsigned int i;

	for (i = 0; i < page->nr; i++) {
		if (page->use[i] == waited) {
			slot_vacate(page, i);
			page->nr_unclean--;
		}
	}
	if (!page->nr_unclean)
		list_del_init(&page->unclean);
	slot_page_tidy(kind, page);
}

static void slots_reclaim(struct work_struct *work)
{
	struct slot_kind *kind = container_of(work, struct slot_kind, reclaim);
	struct slot_page *page, *next;

	guard(mutex)(&slot_mutex);
	list_for_each_entry_safe(page, next, &kind->unclean, unclean)
		slot_page_reclaim(kind, page);
	kind->waiting = false;
	slots_begin_wait(kind, slots_grace_done);
}

/* Nearly everybody asks for kernel or module text, and needs no RCU to be told. */
static bool slot_kind_spans(const struct slot_kind *kind, unsigned long addr)
{
	return addr >= READ_ONCE(kind->low) && addr < READ_ONCE(kind->high);
}

static struct slot_page *slot_page_of(struct slot_kind *kind, unsigned long addr)
{
	unsigned long number = slot_page_number(addr);
	struct slot_span *span;

	hash_for_each_possible_rcu(slot_spans, span, node, number, lockdep_is_held(&slot_mutex)) {
		if (span->number == number && span->page->kind == kind)
			return span->page;
	}

	return NULL;
}

static void slot_put(struct slot_kind *kind, void *slot, bool dirty)
{
	struct slot_page *page;
	unsigned int i;

	guard(mutex)(&slot_mutex);
	page = slot_page_of(kind, (unsigned long)slot);
	if (WARN_ON_ONCE(!page))
		return;

	i = slot_index(kind, page, slot);
	if (WARN_ON_ONCE(page->use[i] != SLOT_FRESH && page->use[i] != SLOT_USED))
		return;

	if (dirty) {
		WRITE_ONCE(page->use[i], kind->dirty);
		if (!page->nr_unclean++)
			list_add_tail(&page->unclean, &kind->unclean);
		kind->nr_dirty++;
		slots_begin_wait(kind, slots_grace_done);
	} else {
		slot_vacate(page, i);
		slot_page_tidy(kind, page);
	}
}

static bool slot_kind_holds(struct slot_kind *kind, unsigned long addr)
{
	if (!slot_kind_spans(kind, addr))
		return false;

	guard(rcu)();

	return slot_page_of(kind, addr);
}

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
	.unclean = LIST_HEAD_INIT(insn_slots.unclean),
	.low = ULONG_MAX,
	.dirty = SLOT_DIRTY,
	.reclaim = __WORK_INITIALIZER(insn_slots.reclaim, slots_reclaim),
};

/**
 * get_insn_slot() - get a slot for the copy of one instruction
 *
 * Context: Process context, may sleep; text_mutex may be held.
 * Return: the slot, %KPROBE_INSN_SLOT_SIZE bytes that are written as the
 * architecture writes text, or NULL when there is no memory.
 */
kprobe_opcode_t *get_insn_slot(void)
{
	return slot_get(&insn_slots, KPROBE_INSN_SLOT_SIZE);
}

/**
 * free_insn_slot() - give a slot back
 * @slot: from get_insn_slot()
 * @dirty: a CPU may still run in it, or a task have been preempted there
 *
 * Context: Process context, may sleep.
 */
void free_insn_slot(kprobe_opcode_t *slot, int dirty)
{
	slot_put(&insn_slots, slot, dirty);
}

/**
 * is_kprobe_insn_slot() - is this the copy of a probed instruction?
 * @addr: an address
 *
 * Context: Any, with RCU watching. The text stays until the caller's
 * rcu_read_unlock(), or for as long as the caller runs in the slot itself.
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
	.unclean = LIST_HEAD_INIT(optinsn_slots.unclean),
	.low = ULONG_MAX,
	.dirty = SLOT_DIRTY,
	.reclaim = __WORK_INITIALIZER(optinsn_slots.reclaim, slots_reclaim),
};

/* A test has none be handed out. */
bool optinsn_slots_withheld;

kprobe_opcode_t *get_optinsn_slot(void)
{
	if (optinsn_slots_withheld)
		return NULL;

	return slot_get(&optinsn_slots, MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t));
}

/**
 * alloc_optinsn_page_at() - get a page with a slot in a certain place
 * @place: which addresses will do
 * @size: bytes of the slot
 *
 * For architectures whose jumps need it.
 *
 * Context: Process context, may sleep; text_mutex may be held.
 * Return: the address of the slot, which may reach into a second page, and
 * free_optinsn_page() takes back the page or both; or NULL.
 */
void * __weak alloc_optinsn_page_at(const struct optinsn_place *place, size_t size)
{
	return NULL;
}

static void *slot_get_placed(struct slot_kind *kind, const struct optinsn_place *place)
{
	struct slot_page *page;
	unsigned int i, offset;
	void *slot;

	list_for_each_entry(page, &kind->roomy, roomy) {
		for (i = 0; i < page->nr; i++) {
			slot = slot_at(kind, page, i);
			if (page->use[i] == SLOT_FREE && optinsn_place_suits(place, slot))
				return slot_use(kind, page, i);
		}
	}

	slot = alloc_optinsn_page_at(place, kind->size);
	offset = offset_in_page(slot);
	page = slot_page_add(kind, slot - offset, PAGE_ALIGN(offset + kind->size),
			     offset % kind->size);

	return page ? slot_use(kind, page, offset / kind->size) : NULL;
}

/**
 * get_optinsn_slot_at() - get a slot for a detour in a certain place
 * @place: which addresses will do
 *
 * Context: Process context, may sleep; text_mutex may be held.
 * Return: the slot, or NULL when there is no memory or no such place is free.
 */
kprobe_opcode_t *get_optinsn_slot_at(const struct optinsn_place *place)
{
	if (optinsn_slots_withheld)
		return NULL;

	guard(mutex)(&slot_mutex);
	optinsn_slots.size = MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t);

	return slot_get_placed(&optinsn_slots, place);
}

/**
 * kprobe_publish_optinsn_slot() - have kprobe_optinsn_slot_of() find a slot from now on
 * @slot: which, with all that is found by it written; it may be published already
 *
 * Context: Process context, may sleep.
 */
void kprobe_publish_optinsn_slot(kprobe_opcode_t *slot)
{
	struct slot_page *page;

	guard(mutex)(&slot_mutex);
	page = slot_page_of(&optinsn_slots, (unsigned long)slot);
	if (WARN_ON_ONCE(!page))
		return;

	/* Pairs with the acquire in kprobe_optinsn_slot_of(). */
	smp_store_release(&page->use[slot_index(&optinsn_slots, page, slot)], SLOT_USED);
}

void free_optinsn_slot(kprobe_opcode_t *slot, int dirty)
{
	slot_put(&optinsn_slots, slot, dirty);
}

bool is_kprobe_optinsn_slot(unsigned long addr)
{
	return slot_kind_holds(&optinsn_slots, addr);
}

/**
 * kprobe_optinsn_slot_of() - the slot that an address is in
 * @addr: an address, which may be left over from a slot given back long ago
 *
 * free_optinsn_slot() hides the slot from here. The point that owns it is freed a grace
 * period after that, see kprobe_points_free().
 *
 * Context: Any, with RCU watching. The slot and its owner stay until the caller's
 * rcu_read_unlock(), or for as long as the caller runs in the slot itself.
 * Return: the start of the slot, NULL when @addr is in none that is published.
 */
kprobe_opcode_t *kprobe_optinsn_slot_of(unsigned long addr)
{
	const struct slot_kind *kind = &optinsn_slots;
	struct slot_page *page;
	unsigned int offset, i;

	if (!slot_kind_spans(kind, addr))
		return NULL;

	guard(rcu)();
	page = slot_page_of(&optinsn_slots, addr);
	if (!page)
		return NULL;
	offset = addr - (unsigned long)page->text;
	if (offset < page->first)
		return NULL;
	i = (offset - page->first) / kind->size;
	/* Pairs with the release in kprobe_publish_optinsn_slot(). */
	if (i >= page->nr || smp_load_acquire(&page->use[i]) != SLOT_USED)
		return NULL;

	return slot_at(kind, page, i);
}
#endif

unsigned int kprobe_slot_pages_in_use(void)
{
	guard(mutex)(&slot_mutex);

#ifdef CONFIG_OPTPROBES
	return insn_slots.nr_pages + optinsn_slots.nr_pages;
#else
	return insn_slots.nr_pages;
#endif
}

/**
 * kprobe_get_kallsym() - list the pages of slots in /proc/kallsyms
 * @symnum: how many to pass over
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
