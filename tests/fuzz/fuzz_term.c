/* A guest's output, with everything else that happens to a terminal in between: resizes, snapshots, input, resets. The same
 * steps go to a second emulator one byte at a time, which must end with the same screen and have sent the same replies.
 *
 * 0xff introduces a step, every other byte is output. */
#include <string.h>

#include "core/base/check.h"
#include "core/term/keys.h"
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
};

struct pair {
	struct term_test whole, single;
};

static void output(struct pair *p, const uint8_t *bytes, size_t len)
{
	emulator_write(p->whole.e, bytes, len);
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
}

static void step(struct pair *p, uint8_t kind, uint8_t a, uint8_t b)
{
	switch (kind % 8) {
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
	struct pair p;
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
	term_test_same(&p.whole.screen, &p.single.screen);
	if (p.whole.replies.len != p.single.replies.len ||
	    (p.whole.replies.len > 0 &&
	     memcmp(p.whole.replies.data, p.single.replies.data, p.whole.replies.len) != 0))
		BUG("replies differ");
	term_test_finish(&p.whole);
	term_test_finish(&p.single);
	return 0;
}
