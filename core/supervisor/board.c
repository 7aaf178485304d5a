#include "core/supervisor/board.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"

#define PACE_MS 25

struct board {
	struct vm_status now;
	struct list watches;
	struct timer *pace;
	uint64_t told_ms; /* monotonic */
	bool told_once;
};

static void on_pace(void *arg)
{
	board_flush(arg);
}

struct board *board_create(struct loop *loop, const struct vm_status *initial)
{
	struct board *b = mem_alloc(sizeof(*b));
	b->now = *initial;
	list_init(&b->watches);
	b->pace = timer_create_on(loop, on_pace, b);
	return b;
}

void board_destroy(struct board *b)
{
	if (!b)
		return;
	CHECK(list_is_empty(&b->watches));
	timer_close(b->pace);
	free(b);
}

const struct vm_status *board_status(const struct board *b)
{
	return &b->now;
}

struct vm_status *board_edit(struct board *b)
{
	return &b->now;
}

struct vm_terminal *board_terminal(struct board *b, uint32_t number)
{
	for (uint32_t i = 0; i < b->now.terminal_count; i++) {
		if (b->now.terminal[i].number == number)
			return &b->now.terminal[i];
	}
	return NULL;
}

void board_changed(struct board *b)
{
	b->now.generation++;
	if (timer_is_active(b->pace))
		return;
	uint64_t since = clock_mono_ms() - b->told_ms;
	timer_once(b->pace, b->told_once && since < PACE_MS ? PACE_MS - since : 0);
}

void board_flush(struct board *b)
{
	timer_stop(b->pace);
	b->told_ms = clock_mono_ms();
	b->told_once = true;
	struct list now;
	list_init(&now);
	while (!list_is_empty(&b->watches)) { /* taken one by one: a callback may end any of them */
		struct list *item = b->watches.next;
		list_remove(item);
		list_append(&now, item);
	}
	while (!list_is_empty(&now)) {
		struct board_watch *w = LIST_ENTRY(now.next, struct board_watch, link);
		list_remove(&w->link);
		list_append(&b->watches, &w->link);
		w->on_change(w->arg);
	}
}

void board_watch(struct board *b, struct board_watch *w, void (*on_change)(void *arg), void *arg)
{
	w->on_change = on_change;
	w->arg = arg;
	list_init(&w->link);
	list_append(&b->watches, &w->link);
}

void board_unwatch(struct board_watch *w)
{
	if (w->link.next)
		list_remove(&w->link);
}
