#include "core/supervisor/terminals_internal.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/loop/timer.h"

/* Input is taken while so much fits: pastes may grow when encoded. */
#define INPUT_ROOM ((size_t)4 * WIRE_DATA_MAX)

/* ---- output ---- */

/* Milliseconds until this watcher may be sent the next update. */
static uint64_t wait_of(const struct term_watch *w, uint64_t now_ms)
{
	struct terminal *t = w->terminal;
	if (t->ending)
		return 0;
	uint64_t since = now_ms - w->sent_ms;
	uint64_t pace = w->sent_ms && since < TERMINALS_FRAME_MS ? TERMINALS_FRAME_MS - since : 0;
	return MAX(pace, emulator_hold_ms(t->emulator, now_ms));
}

void terminal_arm_frame(struct terminal *t, uint64_t ms)
{
	uint64_t at = clock_mono_ms() + ms;
	if (timer_is_active(t->frame) && t->frame_at_ms <= at)
		return;
	t->frame_at_ms = at;
	timer_once(t->frame, ms);
}

static void tell_opened(struct term_watch *w)
{
	if (w->told_opened)
		return;
	w->told_opened = true;
	w->ops->on_opened(w->arg, w->terminal->number);
}

void terminal_offer(struct terminal *t)
{
	if (!t->running)
		return;
	uint64_t now = clock_mono_ms();
	LIST_FOREACH (item, &t->watches) {
		struct term_watch *w = LIST_ENTRY(item, struct term_watch, link);
		tell_opened(w);
		if (!snapshot_pending(t->emulator, &w->cursor))
			continue;
		uint64_t wait = wait_of(w, now);
		if (wait)
			terminal_arm_frame(t, wait);
		else
			w->ops->on_due(w->arg);
	}
}

void term_watch_close(struct term_watch *w)
{
	if (!w)
		return;
	if (w->terminal)
		list_remove(&w->link);
	free(w);
}

uint32_t term_watch_number(const struct term_watch *w)
{
	return w->terminal ? w->terminal->number : 0;
}

bool term_watch_take(struct term_watch *w, size_t max, struct buf *out)
{
	struct terminal *t = w->terminal;
	if (!t || !w->told_opened || !snapshot_pending(t->emulator, &w->cursor))
		return false;
	uint64_t now = clock_mono_ms();
	uint64_t wait = wait_of(w, now);
	if (wait) {
		terminal_arm_frame(t, wait);
		return false;
	}
	if (snapshot_encode(t->emulator, &w->cursor, max, out))
		w->sent_ms = now; /* the parts of one update have no pace among them */
	return true;
}

/* ---- input and size ---- */

void term_watch_apply_size(struct term_watch *w)
{
	struct terminal *t = w->terminal;
	unsigned rows = emulator_rows(t->emulator), cols = emulator_cols(t->emulator);
	if (!w->rows || !w->cols || (w->rows == rows && w->cols == cols))
		return;
	emulator_resize(t->emulator, w->rows, w->cols);
	struct wire_resize m = {.rows = (uint16_t)emulator_rows(t->emulator),
	                        .cols = (uint16_t)emulator_cols(t->emulator)};
	if (m.rows != rows || m.cols != cols) {
		wire_put_resize(guest_link_out(t->guest), TERMINAL_SPAWN_ID, &m);
		guest_link_flush(t->guest);
	}
	terminal_arm_frame(t, 0);
}

/* The terminal, when it takes input now; its size follows the one who types. */
static struct emulator *typed_into(struct term_watch *w)
{
	struct terminal *t = w->terminal;
	if (!t || !t->running || guest_link_room(t->guest) < INPUT_ROOM)
		return NULL;
	term_watch_apply_size(w);
	return t->emulator;
}

/* The answer to a key is not paced: whoever types sees the next change at once. */
static void after_input(struct term_watch *w)
{
	w->sent_ms = 0;
	terminal_may_read(w->terminal);
}

void term_watch_key(struct term_watch *w, uint32_t key, unsigned mods)
{
	struct emulator *e = typed_into(w);
	if (!e)
		return;
	emulator_key(e, key, mods);
	after_input(w);
}

void term_watch_text(struct term_watch *w, struct bytes text)
{
	struct emulator *e = typed_into(w);
	if (!e)
		return;
	emulator_text(e, text.p, text.len);
	after_input(w);
}

void term_watch_paste(struct term_watch *w, struct bytes text)
{
	struct emulator *e = typed_into(w);
	if (!e)
		return;
	emulator_paste(e, text.p, text.len);
	after_input(w);
}

void term_watch_resize(struct term_watch *w, unsigned rows, unsigned cols)
{
	w->rows = rows;
	w->cols = cols;
	if (w->terminal)
		term_watch_apply_size(w);
}
