#include "tests/lib/term_rig.h"

#include "tests/lib/test.h"

#include "core/term/snapshot.h"
#include "tests/lib/loop_wait.h"

void rig_open_term(struct peer *p, uint32_t id, uint32_t term, uint16_t rows, uint16_t cols)
{
	struct wire_term_open m = {.term = term, .rows = rows, .cols = cols};
	wire_put_term_open(&p->out, id, &m);
	peer_send(p);
}

uint32_t rig_take_opened(struct peer *p, uint32_t id)
{
	struct wire_term_opened m;
	struct err e = ERR_INIT;
	const struct got *g = peer_take(p, WIRE_TERM_OPENED);
	assert_true(wire_get_term_opened(got_body(g), &m, &e));
	assert_int_equal(g->id, id);
	return m.term;
}

/* The next message that is no screen. */
const struct got *rig_take_after_screens(struct peer *p, uint16_t type)
{
	do {
		assert_true(loop_wait(p->f->loop, peer_has_frame, p));
		p->taken += p->taken < p->count && p->got[p->taken].type == WIRE_TERM_SCREEN;
	} while (p->taken == p->count || p->got[p->taken].type == WIRE_TERM_SCREEN);
	return peer_take(p, type);
}

/* Applies what comes until the first row reads `want`. */
void rig_wait_row(struct peer *p, struct screen *screen, const char *want)
{
	struct str row = STR_INIT(4096);
	do {
		struct wire_term_screen m;
		struct err e = ERR_INIT;
		assert_true(wire_get_term_screen(got_body(peer_take(p, WIRE_TERM_SCREEN)), &m, &e));
		if (!snapshot_apply(screen, m.update, &e))
			fail_msg("%s", e.msg);
		str_clear(&row);
		screen_row_text(screen, 0, &row);
	} while (strcmp(row.s, want) != 0);
	str_finish(&row);
}

void rig_type(struct peer *p, uint32_t term, const char *text)
{
	struct wire_term_text m = {.term = term, .text = {.p = (const uint8_t *)text, .len = strlen(text)}};
	wire_put_term_text(&p->out, term, &m);
	peer_send(p);
}

void rig_resize(struct peer *p, uint32_t term, uint16_t rows, uint16_t cols)
{
	struct wire_term_resize m = {.term = term, .rows = rows, .cols = cols};
	wire_put_term_resize(&p->out, 0, &m);
	peer_send(p);
}
