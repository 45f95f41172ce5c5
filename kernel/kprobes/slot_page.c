// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages that slots tile: adding and removing them, taking a slot in one, and finding
 * the page or the slot that an address is in.
 *
 * Look-ups by address may happen in any context and take no lock: they search a hash
 * table of page numbers under RCU. A page without slots in use is freed a grace period
 * after it has left that table.
 */
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "slot_page.h"

/* The pages of all kinds by page number. 100,000 slots take some 3,000 pages. */
static DEFINE_HASHTABLE(slot_pages, 10);

/* Serializes changes of kinds, of their pages and of the slots in them. */
DEFINE_MUTEX(kprobe_slot_mutex);

static void slot_page_announce(const struct slot_kind *kind, const struct slot_page *page,
			       bool gone)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, (unsigned long)page->text, PAGE_SIZE,
			   gone, kind->name);
}

static unsigned long slot_page_number(unsigned long addr)
{
	return addr >> PAGE_SHIFT;
}

/* @text is a page from the architecture, or NULL if it had none. */
static struct slot_page *slot_page_add(struct slot_kind *kind, void *text)
{
	unsigned long start = (unsigned long)text;
	unsigned int nr = PAGE_SIZE / kind->size;
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
	hash_add_rcu(slot_pages, &page->node, slot_page_number(start));
	kind->nr_pages++;
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
	kind->nr_pages--;

	INIT_RCU_WORK(&page->release, slot_page_release);
	queue_rcu_work(system_wq, &page->release);
}

/* Free a page without slots in use, but keep one for the next probe. */
void kprobe_slot_page_tidy(struct slot_kind *kind, struct slot_page *page)
{
	if (page->nr_free == page->nr && kind->nr_pages > 1)
		slot_page_remove(kind, page);
}

struct slot_page *kprobe_slot_page_with_room(struct slot_kind *kind)
{
	struct slot_page *page = list_first_entry_or_null(&kind->roomy, struct slot_page, roomy);

	return page ?: slot_page_add(kind, kind->alloc());
}

void *kprobe_slot_use(const struct slot_kind *kind, struct slot_page *page, unsigned int i)
{
	WRITE_ONCE(page->use[i], SLOT_FRESH);
	page->nr_free--;
	if (!page->nr_free)
		list_del_init(&page->roomy);

	return slot_at(kind, page, i);
}

void kprobe_slot_vacate(struct slot_page *page, unsigned int i)
{
	WRITE_ONCE(page->use[i], SLOT_FREE);
	page->next = min(page->next, i);
	page->nr_free++;
	if (page->nr_free == 1)
		list_add(&page->roomy, &page->kind->roomy);
}

struct slot_page *kprobe_slot_page_of(struct slot_kind *kind, unsigned long addr)
{
	unsigned long number = slot_page_number(addr);
	struct slot_page *page;

	hash_for_each_possible_rcu(slot_pages, page, node, number,
				   lockdep_is_held(&kprobe_slot_mutex)) {
		if (slot_page_number((unsigned long)page->text) == number && page->kind == kind)
			return page;
	}

	return NULL;
}

/* Is @addr in a page of @kind? Ask slot_kind_spans() first. */
bool kprobe_slot_page_holds(struct slot_kind *kind, unsigned long addr)
{
	guard(rcu)();

	return kprobe_slot_page_of(kind, addr);
}

#ifdef CONFIG_OPTPROBES
/* The slot of @kind that @addr is in, if it is published. Ask slot_kind_spans() first. */
void *kprobe_slot_used_at(struct slot_kind *kind, unsigned long addr)
{
	struct slot_page *page;
	unsigned int i;

	guard(rcu)();
	page = kprobe_slot_page_of(kind, addr);
	if (!page)
		return NULL;
	i = (addr - (unsigned long)page->text) / kind->size;
	/* Pairs with the release in kprobe_publish_optinsn_slot(). */
	if (i >= page->nr || smp_load_acquire(&page->use[i]) != SLOT_USED)
		return NULL;

	return slot_at(kind, page, i);
}
#endif

int kprobe_slot_kind_get_kallsym(struct slot_kind *kind, unsigned int *symnum,
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
