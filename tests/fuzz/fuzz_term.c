/* A guest's output, with everything else that happens to a terminal in between: resizes, snapshots, input, resets, readers of
 * its history. The same steps go to a second emulator one byte at a time, which must end with the same screen and history
 * and have sent the same replies and told of the same events.
 *
 * 0xff introduces a step, every other byte is output. */
#include <string.h>

#include "core/base/check.h"
#include "core/term/keys.h"
#include "core/term/transcript.h"
#include "tests/lib/term_test.h"

/* Pieces that a mutation would need long to find. */
static const char *const PIECES[] = {
    "\x1b[",
    "\x1b[38;2;1;2;3m",
    "\x1b[5b",
    "\x1b[3;7r",
    "\x1b[?6h",
    "\x1b[?6l",
    "\x1b"
    "7",
    "\x1b"
    "8",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[?47h",
    "\x1b[4h",
    "\x1b[4l",
    "\x1b[L",
    "\x1b[2M",
    "\x1b[3P",
    "\x1b[4@",
    "\x1b[X",
    "\x1b[Z",
    "\x1b[I",
    "\x1bH",
    "\x1b[3g",
    "\x1b[S",
    "\x1b[2T",
    "\x1bM",
    "\x1b(0",
    "\x1b(B",
    "\x0e",
    "\x1b[J",
    "\x1b[1J",
    "\x1b[3J",
    "\x1b[999;999H",
    "\x1b[44m",
    "e\u0301\u0302",
    "\u4e2d",
    "\u1112\u1161",
    "\x1bP$q",
    "\x1b]2;",
    "\x1b\\",
    "\x1b[!p",
    "\x1b"
    "c",
    "\x1b[?5h",
    "\x1b[?7l",
    "\x1b[20h",
    "\x1b#8",
    "\x1b[?2026h",
    "\x1b[u",
    "\x1b[s",
    "\U0001f468\u200d\U0001f469",
    "\x1b[22t",
    "\x1b[23t",
    "\x1b[6n",
    "\u2588",
    "\x1b[4:3m",
    "\x1b[58:5:1m",
    "\r\n\r\n\r\n",
    "\x1b]8;;http://a.test/\x1b\\",
    "\x1b]8;id=1;file:///b\a",
    "\x1b]8;;\a",
    "\x1b]133;A\a",
    "\x1b]133;D;1\a",
    "\x1b]9;note\a",
    "\x1b]9;4;1;5\a",
    "\x1b]777;notify;a;b\a",
    "\x1b]99;i=1:d=0;",
    "\x1b]99;i=1:p=body:e=1;YWJj\a",
    "\a",
    "\x1b[>1u",
    "\x1b[<u",
    "\x1b[=1;2u",
    "\x1b[?u",
    "\x1b[?1002;1006h",
    "\x1b[?1003l",
    "\x1b[?1007l",
    "\x1b[?3h",
    "0123456789012345678901234567890123456789",
    "\x1b[44m\x1b[2J",
    "\x1b[9S",
    "\x1b[?2031h",
};

struct pair {
	struct term_test whole, single;
	bool cut; /* there were more events in a write than are told of */
};

static void output(struct pair *p, const uint8_t *bytes, size_t len)
{
	unsigned before = p->whole.event_count;
	emulator_write(p->whole.e, bytes, len);
	if (p->whole.event_count - before >= EMULATOR_EVENTS_MOST)
		p->cut = true;
	for (size_t i = 0; i < len; i++)
		emulator_write(p->single.e, bytes + i, 1);
}

static void resize(struct pair *p, unsigned rows, unsigned cols)
{
	emulator_resize(p->whole.e, rows, cols);
	emulator_resize(p->single.e, rows, cols);
}

static void input(struct term_test *t, uint8_t a, uint8_t b)
{
	const uint8_t bytes[] = {b, a, 0x1b, b};
	emulator_key(t->e, a < 64 ? TERM_KEY_FIRST + a : TERM_KEY_F1 + a, b);
	emulator_key(t->e, b, a);
	emulator_paste(t->e, bytes, sizeof(bytes));
	emulator_focus(t->e, a & 1);
	const struct term_mouse m = {
	    .kind = a % 4, .button = a / 4 % 9, .mods = b & 7, .row = b % 40, .col = (uint16_t)(b * 2)};
	emulator_mouse(t->e, &m);
}

/* Somebody reads all of a terminal: every answer fits, and lines are what they were. */
static void read_all(struct term_test *t, unsigned most)
{
	term_test_sync(t);
	struct transcript *tr = transcript_create(&t->screen);
	while (!transcript_is_whole(tr)) {
		struct buf b = BUF_INIT(SNAPSHOT_ROW_MAX);
		struct err e = ERR_INIT;
		uint64_t first;
		unsigned n =
		    transcript_encode(t->e, transcript_first(tr), most + 1, SNAPSHOT_ROW_MAX, &b, &first);
		if (!transcript_prepend(tr, first, n, (struct bytes){b.data, b.len}, &e))
			BUG("our own lines are refused: %s", e.msg);
		buf_finish(&b);
	}
	struct cell cells[TERM_COLS_MAX], kept[TERM_COLS_MAX];
	uint64_t oldest = emulator_history_first(t->e);
	for (uint64_t i = transcript_first(tr); i < transcript_end(tr); i++) {
		struct clusters own = {0};
		unsigned flags, flags_kept = 0;
		size_t used = transcript_line(tr, i, cells, TERM_COLS_MAX, &flags), used_kept = used;
		if (i >= oldest && i - oldest < emulator_history_count(t->e) &&
		    (t->screen.modes & TERM_ALT_SCREEN) == 0)
			used_kept = emulator_history_row(t->e, (unsigned)(i - oldest), kept, TERM_COLS_MAX,
			                                 &own, &flags_kept);
		else
			flags_kept = flags;
		if (used != used_kept || flags != flags_kept)
			BUG("line %d differs in a transcript", (int)i);
		clusters_finish(&own);
	}
	transcript_destroy(tr);
}

static void step(struct pair *p, uint8_t kind, uint8_t a, uint8_t b)
{
	switch (kind % 9) {
	case 0: resize(p, a % 12, b % 24); break;
	case 1: resize(p, a, b); break;
	case 2: term_test_sync(&p->whole); break;
	case 3:
		input(&p->whole, a, b);
		input(&p->single, a, b);
		break;
	case 4:
		emulator_set_scrollback(p->whole.e, a);
		emulator_set_scrollback(p->single.e, a);
		break;
	case 8: read_all(&p->whole, b); break;
	case 5:
		if (a == 0) {
			emulator_reset(p->whole.e);
			emulator_reset(p->single.e);
		}
		break;
	default: {
		const char *piece = PIECES[a % ARRAY_LEN(PIECES)];
		output(p, (const uint8_t *)piece, strlen(piece));
	}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pair p = {.cut = false};
	if (size < 2)
		return 0;
	term_test_init(&p.whole, data[0] % 16, data[1] % 40);
	term_test_init(&p.single, data[0] % 16, data[1] % 40);
	for (size_t i = 2; i < size;) {
		const uint8_t *next = memchr(data + i, 0xff, size - i);
		size_t run = next != NULL ? (size_t)(next - data) - i : size - i;
		output(&p, data + i, run);
		i += run;
		if (size - i < 4)
			break;
		step(&p, data[i + 1], data[i + 2], data[i + 3]);
		i += 4;
	}
	term_test_sync(&p.whole);
	term_test_sync(&p.single);
	term_test_equal(&p.whole.screen, &p.single.screen);
	if (p.whole.replies.len != p.single.replies.len ||
	    (p.whole.replies.len > 0 &&
	     memcmp(p.whole.replies.data, p.single.replies.data, p.whole.replies.len) != 0))
		BUG("replies differ");
	if (!p.cut && strcmp(p.whole.events.s, p.single.events.s) != 0)
		BUG("events differ: %s and %s", p.whole.events.s, p.single.events.s);
	read_all(&p.whole, 1000);
	term_test_finish(&p.whole);
	term_test_finish(&p.single);
	return 0;
}
