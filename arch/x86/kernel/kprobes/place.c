// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a detour can be. A jump with breakpoints in its displacement reaches only slots
 * in certain places.
 */
#include <linux/kprobes.h>
#include <linux/kprobes_port.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/set_memory.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "detour.h"
#include "place.h"
#include "region.h"

/* Places of slots for which the jump has a breakpoint wherever it needs one. */
static struct optinsn_place suitable_place(const struct arch_optimized_insn *optinsn,
					   const struct region *region)
{
	unsigned int disp = region->size - sizeof(s32), i;
	struct optinsn_place place = {
		.origin = region->addr + region->size - detour_start(optinsn),
	};

	for (i = 0; i < sizeof(s32); i++) {
		if (region->traps & BIT(disp + i)) {
			place.mask |= 0xffU << 8 * i;
			place.value |= (u32)INT3_INSN_OPCODE << 8 * i;
		}
	}

	return place;
}

kprobe_opcode_t *kprobe_detour_get_slot(const struct arch_optimized_insn *optinsn,
					const struct region *region)
{
	struct optinsn_place place = suitable_place(optinsn, region);

	return place.mask ? get_optinsn_slot_at(&place) : get_optinsn_slot();
}

/* Return the first suitable distance at or after @distance. */
static u32 next_suitable(const struct optinsn_place *place, u32 distance)
{
	u32 wrong = (distance & place->mask) ^ place->value;
	u32 first, below;

	if (!wrong)
		return distance;

	/* The bits above the first wrong one stay, unless it has to change from 1 to 0. */
	first = BIT(fls(wrong) - 1);
	below = first | (first - 1);
	if (place->value & first)
		distance &= ~below;
	else
		distance = (distance | place->mask | below) + 1;

	return (distance & ~place->mask) | place->value;
}

static void *alloc_pages_at(unsigned long addr, unsigned int nr)
{
	/* A guard page follows the pages. */
	void *pages = __vmalloc_node_range(nr * PAGE_SIZE, 1, addr, addr + (nr + 1) * PAGE_SIZE,
					   GFP_KERNEL | __GFP_NOWARN, PAGE_KERNEL,
					   VM_FLUSH_RESET_PERMS, NUMA_NO_NODE,
					   __builtin_return_address(0));

	if (!pages)
		return NULL;

	/* There may be no shadow for KASAN here, so write without it. */
	__memset(pages, INT3_INSN_OPCODE, nr * PAGE_SIZE);
	if (set_memory_rox((unsigned long)pages, nr)) {
		vfree(pages);
		return NULL;
	}

	return pages;
}

/* Number of places to try. */
#define PLACE_TRIES	64

/*
 * Modules are loaded from the lower end of their area, so look for a page in the upper
 * half: a jump reaches that from all text. Start at a random place, because pages that
 * suited other probes may be close together.
 */
void *alloc_optinsn_page_at(const struct optinsn_place *place, size_t size)
{
	const unsigned long start = MODULES_VADDR + (MODULES_END - MODULES_VADDR) / 2;
	const unsigned long end = MODULES_END - 3 * PAGE_SIZE;
	unsigned long addr, from = start + get_random_u32_below(end - start);
	unsigned int tries;

	for (tries = 0; tries < PLACE_TRIES; tries++) {
		addr = place->origin + next_suitable(place, from - place->origin);
		if (addr < from || addr > end) {
			from = start;
			continue;
		}
		if (alloc_pages_at(addr & PAGE_MASK, PFN_UP(offset_in_page(addr) + size)))
			return (void *)addr;
		from = (addr & PAGE_MASK) + PAGE_SIZE;
	}

	return NULL;
}
