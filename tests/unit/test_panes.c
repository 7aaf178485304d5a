/* tui/panes and pane: what is wished is opened, resized and left, over connections to a fake supervisor. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/term/emulator.h"
#include "core/term/screen.h"
#include "core/term/snapshot.h"
#include "tests/lib/fake_control.h"
#include "tests/lib/loop_wait.h"
#include "tui/panes.h"

#define NUMBER 4 /* of the terminal that the fake opens */

enum manners { OPENS, REFUSES, SAYS_NOTHING, OTHER_SIZE };

struct scene {
	struct loop *loop;
	struct fake_control fake;
	struct panes *panes;
	enum manners manners;
	unsigned opens, resizes, leaves, keys, mice, focuses, changes;
	struct wire_term_open last_open;
	struct wire_term_resize last_resize;
	uint32_t view_id; /* of the last TERM_OPEN */
	size_t pasted;
	bool paste_begun, paste_ended;
	/* of panes_new */
	bool told;
	uint32_t number;
	char why[256];
};

static void send_screen(struct scene *s, unsigned rows, unsigned cols)
{
	static const struct emulator_ops OPS = {0};
	struct snapshot_cursor cursor = {0};
	struct buf update = BUF_INIT(SNAPSHOT_MIN);
	struct emulator *e = emulator_create(rows, cols, &OPS, NULL);
	emulator_write(e, "hello", 5);
	assert_true(snapshot_encode(e, &cursor, SNAPSHOT_MIN, &update));
	struct wire_term_screen m = {.term = NUMBER, .update = {.p = update.data, .len = update.len}};
	wire_put_term_screen(&s->fake.out, s->view_id, &m);
	fake_control_send(&s->fake);
	buf_finish(&update);
	emulator_destroy(e);
}

static void on_open(struct scene *s, const struct frame *frame)
{
	struct err e = ERR_INIT;
	assert_true(wire_get_term_open(frame->body, &s->last_open, &e));
	s->opens++;
	s->view_id = frame->id;
	if (s->manners == REFUSES)
		fake_control_error(&s->fake, frame->id, ERR_NOT_FOUND, "no such terminal");
	if (s->manners != OPENS && s->manners != OTHER_SIZE)
		return;
	wire_put_term_opened(&s->fake.out, frame->id, &(struct wire_term_opened){.term = NUMBER});
	bool other = s->manners == OTHER_SIZE;
	send_screen(s, other || !s->last_open.rows ? 9 : s->last_open.rows,
	            other || !s->last_open.cols ? 33 : s->last_open.cols);
}

static void on_resize(struct scene *s, const struct frame *frame)
{
	struct err e = ERR_INIT;
	assert_true(wire_get_term_resize(frame->body, &s->last_resize, &e));
	s->resizes++;
	if (s->manners == OPENS)
		send_screen(s, s->last_resize.rows, s->last_resize.cols);
}

static void on_paste(struct scene *s, const struct frame *frame)
{
	struct err e = ERR_INIT;
	struct wire_term_paste m;
	assert_true(wire_get_term_paste(frame->body, &m, &e));
	assert_int_equal(m.first, s->pasted == 0);
	s->pasted += m.text.len;
	s->paste_begun |= m.first;
	s->paste_ended |= m.last;
}

static void on_frame(struct fake_control *f, const struct frame *frame)
{
	struct scene *s = f->arg;
	switch (frame->type) {
	case WIRE_TERM_OPEN: on_open(s, frame); return;
	case WIRE_TERM_RESIZE: on_resize(s, frame); return;
	case WIRE_TERM_PASTE: on_paste(s, frame); return;
	case WIRE_TERM_KEY: s->keys++; return;
	case WIRE_TERM_MOUSE: s->mice++; return;
	case WIRE_TERM_FOCUS: s->focuses++; return;
	case WIRE_TERM_LEAVE: s->leaves++; return;
	default: return;
	}
}

static void on_change(void *arg, const struct pane *which)
{
	struct scene *s = arg;
	assert_non_null(which);
	s->changes++;
}

static void begin(struct scene *s, enum manners manners)
{
	*s = (struct scene){.loop = loop_create(), .manners = manners};
	fake_control_open(&s->fake, s->loop, "alpha");
	s->fake.on_frame = on_frame;
	s->fake.arg = s;
	s->panes = panes_create(s->loop, on_change, s);
}

static void finish(struct scene *s)
{
	panes_destroy(s->panes);
	fake_control_close(&s->fake);
	loop_destroy(s->loop);
}

static void wish(struct scene *s, uint32_t term, unsigned rows, unsigned cols)
{
	struct pane_wish w = {.vm = "alpha", .term = term, .rows = rows, .cols = cols};
	panes_sync(s->panes, &w, 1);
}

static struct pane_source look(struct scene *s, uint32_t term)
{
	struct pane_source source = {.link = PANE_NONE};
	struct pane *p = panes_find(s->panes, "alpha", term);
	if (p)
		pane_describe(p, &source);
	return source;
}

/* Conditions to wait for. */
static bool is_live(void *arg)
{
	return look(arg, 0).link == PANE_LIVE;
}
static bool is_broken(void *arg)
{
	return look(arg, 0).link == PANE_BROKEN;
}
static bool has_ended(void *arg)
{
	return look(arg, 0).link == PANE_ENDED;
}
static bool is_slow(void *arg)
{
	return look(arg, 0).slow;
}
static bool is_foreign(void *arg)
{
	return look(arg, 0).foreign;
}
static bool was_resized(void *arg)
{
	const struct pane_source p = look(arg, 0);
	return p.screen && p.screen->rows == 20;
}
static bool has_left(void *arg)
{
	return ((struct scene *)arg)->fake.gone;
}
static bool was_asked(void *arg)
{
	return ((struct scene *)arg)->opens > 0;
}
static bool was_told(void *arg)
{
	return ((struct scene *)arg)->told;
}
static bool paste_is_over(void *arg)
{
	return ((struct scene *)arg)->paste_ended;
}

static void what_is_wished_is_opened_resized_and_left(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, OPENS);
	wish(&s, 0, 10, 40);
	assert_int_equal(look(&s, 0).link, PANE_OPENING);
	assert_true(loop_wait(s.loop, is_live, &s));
	assert_int_equal(s.last_open.term, CLIENT_TERM_FIRST);
	assert_int_equal(s.last_open.rows, 10);
	assert_int_equal(s.last_open.cols, 40);
	assert_int_equal(look(&s, 0).term, NUMBER);
	assert_string_equal(look(&s, 0).vm, "alpha");
	assert_true(s.changes > 0);
	wish(&s, 0, 10, 40);      /* nothing new */
	wish(&s, NUMBER, 10, 40); /* the same one, by its real number */
	assert_int_equal(look(&s, NUMBER).link, PANE_LIVE);
	wish(&s, 0, 20, 50);
	assert_true(loop_wait(s.loop, was_resized, &s));
	assert_int_equal(s.opens, 1);
	assert_int_equal(s.resizes, 1);
	panes_sync(s.panes, NULL, 0);
	assert_null(panes_find(s.panes, "alpha", 0));
	assert_true(loop_wait(s.loop, has_left, &s));
	finish(&s);
}

static void of_many_sizes_the_last_one_wins(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, OPENS);
	wish(&s, 0, 10, 40);
	wish(&s, 0, 20, 41); /* before it is open */
	assert_true(loop_wait(s.loop, was_resized, &s));
	finish(&s);
	begin(&s, OPENS);
	wish(&s, 0, 10, 40);
	for (unsigned i = 0; i < 500; i++) {
		wish(&s, 0, 21 + i % 7, 30 + i % 50);
		if (i % 50 == 0)
			loop_turn(s.loop, false);
	}
	wish(&s, 0, 20, 77);
	assert_true(loop_wait(s.loop, was_resized, &s));
	loop_settle(s.loop);
	assert_int_equal(s.last_resize.rows, 20);
	assert_int_equal(s.last_resize.cols, 77);
	finish(&s);
}

static void a_terminal_may_be_only_watched(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, OPENS);
	wish(&s, 7, 0, 0);
	assert_true(loop_wait(s.loop, was_asked, &s));
	assert_int_equal(s.last_open.term, 7);
	assert_int_equal(s.last_open.rows, 0);
	while (look(&s, 7).link != PANE_LIVE)
		loop_turn(s.loop, true);
	assert_true(look(&s, 7).foreign); /* its size is its own */
	assert_int_equal(look(&s, 7).screen->cols, 33);
	wish(&s, 7, 20, 60); /* now it is shown in a pane */
	while (look(&s, 7).screen->rows != 20)
		loop_turn(s.loop, true);
	assert_false(look(&s, 7).foreign);
	wish(&s, 7, 0, 0); /* and out of sight again: nothing is sent */
	loop_settle(s.loop);
	assert_int_equal(s.resizes, 1);
	finish(&s);
}

static void another_size_is_told_when_it_stays(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, OTHER_SIZE);
	wish(&s, 0, 10, 40);
	assert_true(loop_wait(s.loop, is_live, &s));
	assert_false(look(&s, 0).foreign);
	assert_true(loop_wait(s.loop, is_foreign, &s));
	send_screen(&s, 10, 40); /* ours again */
	while (look(&s, 0).foreign)
		loop_turn(s.loop, true);
	finish(&s);
}

static void what_ended_or_broke_is_not_opened_again(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, OPENS);
	wish(&s, 0, 10, 40);
	assert_true(loop_wait(s.loop, is_live, &s));
	wire_put_term_closed(&s.fake.out, s.view_id, &(struct wire_term_closed){.term = NUMBER, .signum = 9});
	fake_control_send(&s.fake);
	assert_true(loop_wait(s.loop, has_ended, &s));
	assert_string_equal(look(&s, 0).why, "the program was ended by signal 9");
	assert_non_null(look(&s, 0).screen); /* the last picture */
	wish(&s, 0, 12, 40);
	loop_settle(s.loop);
	assert_int_equal(s.opens, 1);
	panes_reset(s.panes, "alpha", 0);
	wish(&s, 0, 12, 40);
	assert_true(loop_wait(s.loop, is_live, &s));
	assert_int_equal(s.opens, 2);
	fake_control_hang_up(&s.fake);
	assert_true(loop_wait(s.loop, is_broken, &s));
	assert_null(look(&s, 0).screen);
	assert_true(strlen(look(&s, 0).why) > 0);
	wish(&s, 0, 12, 40);
	loop_settle(s.loop);
	assert_int_equal(look(&s, 0).link, PANE_BROKEN);
	assert_false(pane_key(panes_find(s.panes, "alpha", 0), 'x', 0));
	finish(&s);
}

static void refusals_and_silence_are_told(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, REFUSES);
	wish(&s, 0, 10, 40);
	assert_true(loop_wait(s.loop, is_broken, &s));
	assert_string_equal(look(&s, 0).why, "no such terminal");
	finish(&s);
	begin(&s, SAYS_NOTHING);
	wish(&s, 0, 10, 40);
	assert_true(loop_wait(s.loop, is_slow, &s));
	assert_int_equal(look(&s, 0).link, PANE_OPENING);
	finish(&s);
	begin(&s, OPENS);
	struct pane_wish other = {.vm = "nobody", .rows = 10, .cols = 40};
	panes_sync(s.panes, &other, 1);
	struct pane_source source = {.link = PANE_NONE};
	do {
		loop_turn(s.loop, true);
		pane_describe(panes_find(s.panes, "nobody", 0), &source);
	} while (source.link == PANE_OPENING);
	assert_int_equal(source.link, PANE_BROKEN);
	finish(&s);
}

static void on_new(void *arg, const char *vm, uint32_t number, const char *why)
{
	struct scene *s = arg;
	assert_string_equal(vm, "alpha");
	assert_false(s->told);
	s->told = true;
	s->number = number;
	snprintf(s->why, sizeof(s->why), "%s", why ? why : "");
}

static void new_terminals_say_their_number(void **state)
{
	(void)state;
	static const char *const ARGV[] = {"make", "check", NULL};
	struct pane_wish w = {.vm = "alpha", .rows = 10, .cols = 40};
	struct scene s;
	begin(&s, OPENS);
	panes_new(s.panes, &w, ARGV, on_new, &s);
	panes_sync(s.panes, NULL, 0); /* not closed while it is being opened */
	assert_true(loop_wait(s.loop, was_told, &s));
	assert_int_equal(s.number, NUMBER);
	assert_string_equal(s.why, "");
	assert_int_equal(s.last_open.term, CLIENT_TERM_NEW);
	wish(&s, NUMBER, 10, 40);
	assert_int_equal(s.opens, 1); /* it is the one */
	panes_sync(s.panes, NULL, 0);
	assert_null(panes_find(s.panes, "alpha", NUMBER));
	finish(&s);

	begin(&s, REFUSES);
	panes_new(s.panes, &w, NULL, on_new, &s);
	assert_true(loop_wait(s.loop, was_told, &s));
	assert_int_equal(s.number, 0);
	assert_string_equal(s.why, "no such terminal");
	panes_sync(s.panes, NULL, 0);
	finish(&s);

	begin(&s, OPENS);
	panes_new(s.panes, &w, NULL, on_new, &s);
	panes_destroy(s.panes); /* nobody is told any more */
	s.panes = panes_create(s.loop, on_change, &s);
	loop_settle(s.loop);
	assert_false(s.told);
	finish(&s);
}

static void input_reaches_the_terminal(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, OPENS);
	wish(&s, 0, 10, 40);
	struct pane *p = panes_find(s.panes, "alpha", 0);
	for (int i = 0; i < 100; i++) /* it is being opened: the first ones are kept for it */
		assert_int_equal(pane_key(p, 'w', 0), i < 64);
	assert_true(loop_wait(s.loop, is_live, &s));
	assert_true(pane_key(p, 'x', 0));
	pane_mouse(p, &(struct term_mouse){.kind = MOUSE_PRESS, .button = MOUSE_LEFT});
	pane_focus(p, true);
	char *text = mem_alloc(PANE_PASTE_MOST + 1);
	memset(text, 'p', PANE_PASTE_MOST + 1);
	/* In pieces as the operator's terminal gives them. */
	for (size_t at = 0; at < PANE_PASTE_MOST; at += 4096)
		assert_true(pane_paste(p, (struct bytes){(uint8_t *)text + at, 4096}, at == 0,
		                       at + 4096 == PANE_PASTE_MOST));
	assert_true(loop_wait(s.loop, paste_is_over, &s));
	assert_int_equal(s.pasted, PANE_PASTE_MOST);
	assert_int_equal(s.keys, 64 + 1);
	assert_int_equal(s.mice, 1);
	assert_int_equal(s.focuses, 1);
	/* One byte more, and nothing of it. */
	assert_true(pane_paste(p, (struct bytes){(uint8_t *)text, PANE_PASTE_MOST}, true, false));
	assert_false(pane_paste(p, (struct bytes){(uint8_t *)text, 1}, false, true));
	loop_settle(s.loop);
	assert_int_equal(s.pasted, PANE_PASTE_MOST);
	assert_true(pane_paste(p, (struct bytes){(uint8_t *)text, 5}, true, true));
	free(text);
	finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_wished_is_opened_resized_and_left),
	    cmocka_unit_test(of_many_sizes_the_last_one_wins),
	    cmocka_unit_test(a_terminal_may_be_only_watched),
	    cmocka_unit_test(another_size_is_told_when_it_stays),
	    cmocka_unit_test(what_ended_or_broke_is_not_opened_again),
	    cmocka_unit_test(refusals_and_silence_are_told),
	    cmocka_unit_test(new_terminals_say_their_number),
	    cmocka_unit_test(input_reaches_the_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
