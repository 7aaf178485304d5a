#include "core/supervisor/terminals_internal.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/loop/timer.h"
#include "core/term/transcript.h"

/* Input is taken while so much fits beside it: it may grow when encoded, and is cut into frames. */
#define INPUT_ROOM ((size_t)2 * WIRE_DATA_MAX)

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

/* ---- watchers come and go ---- */

void terminal_count_watches(struct terminal *t)
{
	bool focused = false;
	LIST_FOREACH (item, &t->watches)
		focused |= LIST_ENTRY(item, struct term_watch, link)->focused;
	if (focused != t->focused) {
		emulator_focus(t->emulator, focused);
		terminal_touched(t);
	}
	t->focused = focused;
	term_entry_update(t);
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

uint32_t term_watch_history(struct term_watch *w, uint64_t before, uint32_t most, size_t max, struct buf *out,
                            uint64_t *first)
{
	*first = 0;
	return w->terminal ? transcript_encode(w->terminal->emulator, before, most, max, out, first) : 0;
}

/* ---- size ---- */

/* The emulator and the guest get a new size together: what the program draws for the old one would look broken. */
void terminal_apply_size(struct terminal *t)
{
	unsigned rows = emulator_rows(t->emulator), cols = emulator_cols(t->emulator);
	if (t->want_rows == rows && t->want_cols == cols)
		return;
	emulator_resize(t->emulator, t->want_rows, t->want_cols);
	t->resized_ms = clock_mono_ms();
	struct wire_resize m = {.rows = (uint16_t)emulator_rows(t->emulator),
	                        .cols = (uint16_t)emulator_cols(t->emulator)};
	t->want_rows = m.rows;
	t->want_cols = m.cols;
	if (m.rows == rows && m.cols == cols)
		return; /* out of the limits */
	wire_put_resize(guest_link_out(t->guest), TERMINAL_SPAWN_ID, &m);
	guest_link_flush(t->guest);
	term_entry_update(t);
	terminal_touched(t);
	terminal_arm_frame(t, 0);
}

/* Of those who care for the size the one who opened or typed last: a console in the background whose layout changes takes it
 * from nobody. */
static const struct term_watch *holder_of_size(const struct terminal *t)
{
	const struct term_watch *holder = NULL;
	LIST_FOREACH (item, &t->watches) {
		const struct term_watch *w = LIST_ENTRY(item, struct term_watch, link);
		if (w->rows && w->cols && (!holder || w->claim > holder->claim))
			holder = w;
	}
	return holder;
}

static void follow_holder(struct terminal *t)
{
	const struct term_watch *w = holder_of_size(t);
	if (!w)
		return;
	t->want_rows = w->rows;
	t->want_cols = w->cols;
	if (timer_is_active(t->resize))
		return;
	uint64_t since = clock_mono_ms() - t->resized_ms;
	if (t->resized_ms && since < TERMINALS_RESIZE_MS)
		timer_once(t->resize, TERMINALS_RESIZE_MS - since);
	else
		terminal_apply_size(t);
}

void term_watch_claim_size(struct term_watch *w)
{
	w->claim = ++w->terminal->claims;
	follow_holder(w->terminal);
}

void term_watch_resize(struct term_watch *w, unsigned rows, unsigned cols)
{
	w->rows = rows;
	w->cols = cols;
	if (w->terminal)
		follow_holder(w->terminal);
}

void term_watch_close(struct term_watch *w)
{
	if (!w)
		return;
	if (w->terminal) {
		list_remove(&w->link);
		terminal_count_watches(w->terminal);
		follow_holder(w->terminal);
	}
	buf_finish(&w->paste);
	free(w);
}

/* ---- input ---- */

/* The terminal, when it takes so much input now. */
static struct emulator *takes_input(struct term_watch *w, size_t len)
{
	struct terminal *t = w->terminal;
	bool takes = t && t->running && guest_link_room(t->guest) >= len + INPUT_ROOM;
	return takes ? t->emulator : NULL;
}

/* The same for what somebody types: the size follows him, and is there before the keys are. */
static struct emulator *typed_into(struct term_watch *w, size_t len)
{
	struct emulator *e = takes_input(w, len);
	if (!e)
		return NULL;
	term_watch_claim_size(w);
	if (timer_is_active(w->terminal->resize)) {
		timer_stop(w->terminal->resize);
		terminal_apply_size(w->terminal);
	}
	return e;
}

/* The answer to a key is not paced: whoever types sees the next change at once. */
static void after_input(struct term_watch *w)
{
	struct terminal *t = w->terminal;
	w->sent_ms = 0;
	if (t->owner->ops->on_input)
		t->owner->ops->on_input(t->owner->arg, t->number);
	terminal_may_read(t);
}

void term_watch_key(struct term_watch *w, uint32_t key, unsigned mods)
{
	struct emulator *e = typed_into(w, 0);
	if (!e)
		return;
	emulator_key(e, key, mods);
	after_input(w);
}

void term_watch_text(struct term_watch *w, struct bytes text)
{
	struct emulator *e = typed_into(w, text.len);
	if (!e)
		return;
	emulator_text(e, text.p, text.len);
	after_input(w);
}

/* The pieces are gathered, so that nothing that others type gets between them and the guest never waits for the end of a paste
 * whose sender has died. */
void term_watch_paste(struct term_watch *w, struct bytes text, bool first, bool last)
{
	if (first) {
		buf_clear(&w->paste);
		w->pasting = true;
		w->paste_lost = false;
	}
	if (!w->pasting)
		return;
	w->paste_lost |= text.len > TERMINALS_PASTE_MAX - w->paste.len;
	if (!w->paste_lost)
		buf_put(&w->paste, text.p, text.len);
	if (!last)
		return;
	w->pasting = false;
	struct emulator *e = w->paste_lost ? NULL : typed_into(w, w->paste.len);
	if (e) {
		emulator_paste(e, w->paste.data, w->paste.len);
		after_input(w);
	}
	buf_finish(&w->paste);
	buf_init(&w->paste, TERMINALS_PASTE_MAX);
}

/* A button pressed on what listens to the mouse says as much as a key. */
static bool is_click(const struct emulator *e, const struct term_mouse *m)
{
	const unsigned listens = TERM_MOUSE_CLICK | TERM_MOUSE_DRAG | TERM_MOUSE_MOVE;
	return (emulator_modes(e) & listens) && m->kind == MOUSE_PRESS && m->button < MOUSE_WHEEL_UP;
}

void term_watch_mouse(struct term_watch *w, const struct term_mouse *m)
{
	struct emulator *e = m->kind == MOUSE_PRESS ? typed_into(w, 0) : takes_input(w, 0);
	if (!e)
		return;
	emulator_mouse(e, m);
	if (is_click(e, m)) {
		after_input(w);
		return;
	}
	terminal_touched(w->terminal);
	w->sent_ms = 0;
	terminal_may_read(w->terminal);
}

void term_watch_focus(struct term_watch *w, bool focused)
{
	w->focused = focused;
	if (w->terminal && takes_input(w, 0))
		terminal_count_watches(w->terminal);
}
