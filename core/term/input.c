/* A state machine that collects one sequence at a time in `seq` and acts at its last byte. Strings (OSC, DCS and their kin) can
 * only be replies of the terminal: they are skipped. */
#include "core/term/input.h"

#include <string.h>

#include "core/term/unicode.h"

enum state { GROUND, CHARACTER, ESCAPE, CSI, SS3, STRING, STRING_ESCAPE, PASTE, MOUSE };

enum { BEL = 0x07, ESC = 0x1b, DEL = 0x7f };

static const char PASTE_END[] = "\x1b[201~";
#define PASTE_END_LEN (sizeof(PASTE_END) - 1)

#define OLD_MOUSE_LEN 3    /* bytes after CSI M */
#define STRING_MOST   4096 /* a longer one has lost its end */

void input_init(struct input *in, void (*on_event)(void *arg, const struct input_event *ev), void *arg)
{
	*in = (struct input){.on_event = on_event, .arg = arg, .state = GROUND};
	buf_init(&in->paste, INPUT_PASTE_MAX);
}

void input_finish(struct input *in)
{
	buf_finish(&in->paste);
}

static void emit_key(struct input *in, uint32_t key, unsigned mods)
{
	struct input_event ev = {.kind = INPUT_KEY, .key = key, .mods = mods | (in->alt ? TERM_ALT : 0)};
	in->alt = false;
	in->state = GROUND;
	in->seq_len = 0;
	in->on_event(in->arg, &ev);
}

/* A byte below 0x80 that stands for itself. */
static void do_ascii(struct input *in, uint8_t c)
{
	if (c == '\r')
		emit_key(in, TERM_KEY_ENTER, 0);
	else if (c == '\t')
		emit_key(in, TERM_KEY_TAB, 0);
	else if (c == DEL)
		emit_key(in, TERM_KEY_BACKSPACE, 0);
	else if (c == 0)
		emit_key(in, ' ', TERM_CTRL);
	else if (c <= 26)
		emit_key(in, c + 'a' - 1u, TERM_CTRL);
	else if (c < 0x20)
		emit_key(in, c + 0x40u, TERM_CTRL);
	else
		emit_key(in, c, 0);
}

static void do_ground(struct input *in, uint8_t c)
{
	if (c == ESC) {
		in->state = ESCAPE;
	} else if (c < 0x80) {
		do_ascii(in, c);
	} else {
		in->seq[0] = c;
		in->seq_len = 1;
		in->state = CHARACTER;
	}
}

/* Bytes that are no UTF-8 are dropped: no terminal sends them. Returns false when `c` starts something new. */
static bool do_character(struct input *in, uint8_t c)
{
	uint32_t cp;
	in->seq[in->seq_len++] = c;
	size_t n = utf8_decode(in->seq, in->seq_len, &cp);
	if (n == 0)
		return true;
	if (n == in->seq_len) {
		if (codepoint_is_base(cp) || codepoint_is_mark(cp))
			emit_key(in, cp, 0);
		in->state = GROUND;
		in->alt = false;
		return true;
	}
	in->state = GROUND;
	in->alt = false;
	return c >= 0x80;
}

static void start_paste(struct input *in)
{
	in->state = PASTE;
	in->alt = false;
	in->paste_match = 0;
	in->paste_started = false;
	buf_clear(&in->paste);
}

static void emit_paste(struct input *in, bool last)
{
	struct input_event ev = {.kind = INPUT_PASTE,
	                         .text = {in->paste.data, in->paste.len},
	                         .first = !in->paste_started,
	                         .last = last};
	in->paste_started = true;
	in->on_event(in->arg, &ev);
	buf_clear(&in->paste);
	if (last)
		in->state = GROUND;
}

static void paste_bytes(struct input *in, const void *bytes, size_t len)
{
	if (in->paste.len + len > INPUT_PASTE_MAX)
		emit_paste(in, false);
	buf_put(&in->paste, bytes, len);
}

/* The end mark may come torn over several reads; its ESC cannot be inside of it, so a mismatch starts over. */
static void do_paste(struct input *in, uint8_t c)
{
	if (c == (uint8_t)PASTE_END[in->paste_match]) {
		if (++in->paste_match == PASTE_END_LEN)
			emit_paste(in, true);
		return;
	}
	paste_bytes(in, PASTE_END, in->paste_match);
	in->paste_match = c == ESC ? 1 : 0;
	if (c != ESC)
		paste_bytes(in, &c, 1);
}

/* ---- control sequences ------------------------------------------------------------------------------------------- */

static const struct {
	char final;
	uint32_t key;
} LETTERS[] = {
    {'A', TERM_KEY_UP},     {'B', TERM_KEY_DOWN},   {'C', TERM_KEY_RIGHT}, {'D', TERM_KEY_LEFT},
    {'H', TERM_KEY_HOME},   {'F', TERM_KEY_END},    {'P', TERM_KEY_F1},    {'Q', TERM_KEY_F1 + 1},
    {'R', TERM_KEY_F1 + 2}, {'S', TERM_KEY_F1 + 3}, {'M', TERM_KEY_ENTER},
};

static const struct {
	unsigned number;
	uint32_t key;
} NUMBERS[] = {
    {1, TERM_KEY_HOME},     {2, TERM_KEY_INSERT},    {3, TERM_KEY_DELETE},   {4, TERM_KEY_END},
    {5, TERM_KEY_PAGE_UP},  {6, TERM_KEY_PAGE_DOWN}, {7, TERM_KEY_HOME},     {8, TERM_KEY_END},
    {11, TERM_KEY_F1},      {12, TERM_KEY_F1 + 1},   {13, TERM_KEY_F1 + 2},  {14, TERM_KEY_F1 + 3},
    {15, TERM_KEY_F1 + 4},  {17, TERM_KEY_F1 + 5},   {18, TERM_KEY_F1 + 6},  {19, TERM_KEY_F1 + 7},
    {20, TERM_KEY_F1 + 8},  {21, TERM_KEY_F1 + 9},   {23, TERM_KEY_F1 + 10}, {24, TERM_KEY_F1 + 11},
    {25, TERM_KEY_F1 + 12}, {26, TERM_KEY_F1 + 13},  {28, TERM_KEY_F1 + 14}, {29, TERM_KEY_F1 + 15},
    {31, TERM_KEY_F1 + 16}, {32, TERM_KEY_F1 + 17},  {33, TERM_KEY_F1 + 18}, {34, TERM_KEY_F1 + 19},
};

/* Keys of kitty's protocol that have a number of their own: those of the keypad. */
static const struct {
	unsigned number;
	uint32_t key;
} KITTY[] = {
    {57409, '.'},
    {57410, '/'},
    {57411, '*'},
    {57412, '-'},
    {57413, '+'},
    {57414, TERM_KEY_ENTER},
    {57415, '='},
    {57416, ','},
    {57417, TERM_KEY_LEFT},
    {57418, TERM_KEY_RIGHT},
    {57419, TERM_KEY_UP},
    {57420, TERM_KEY_DOWN},
    {57421, TERM_KEY_PAGE_UP},
    {57422, TERM_KEY_PAGE_DOWN},
    {57423, TERM_KEY_HOME},
    {57424, TERM_KEY_END},
    {57425, TERM_KEY_INSERT},
    {57426, TERM_KEY_DELETE},
};
#define KITTY_FIRST \
	57344u /* a private area of Unicode; modifier keys, media keys and so on are no keys to us */
#define KITTY_LAST    63743u
#define KITTY_F13     57376u
#define KITTY_F20     57383u
#define KITTY_DIGIT   57399u /* 0 of the keypad */
#define KITTY_RELEASE 3u     /* the kind of event after the modifiers */

static uint32_t letter_key(char final)
{
	for (size_t i = 0; i < ARRAY_LEN(LETTERS); i++)
		if (LETTERS[i].final == final)
			return LETTERS[i].key;
	return 0;
}

static uint32_t number_key(unsigned number)
{
	for (size_t i = 0; i < ARRAY_LEN(NUMBERS); i++)
		if (NUMBERS[i].number == number)
			return NUMBERS[i].key;
	return 0;
}

#define NUMBERS_MOST 4

struct numbers {
	unsigned count;
	unsigned n[NUMBERS_MOST];
	unsigned sub[NUMBERS_MOST]; /* after a colon; 0: none */
};

/* "1;5", "97;5:3" and so on. */
static struct numbers parse_numbers(const struct input *in)
{
	struct numbers out = {0};
	unsigned at = 0, *to = &out.n[0];
	for (size_t i = 0; i < in->seq_len; i++) {
		uint8_t c = in->seq[i];
		if (c == ';') {
			if (++at == NUMBERS_MOST)
				break;
			to = &out.n[at];
		} else if (c == ':') {
			to = &out.sub[at];
		} else if (c >= '0' && c <= '9') {
			*to = MIN(*to * 10 + (c - '0'), 0x110000u);
		}
	}
	out.count = in->seq_len == 0 ? 0 : MIN(at + 1, (unsigned)NUMBERS_MOST);
	return out;
}

/* Shift 1, Alt 2, Ctrl 4, Meta 8; sent with one added. Meta is Alt to us. */
static unsigned mods_of(unsigned sent)
{
	unsigned bits = sent > 0 ? sent - 1 : 0;
	return (bits & TERM_MOD_ALL) | (bits & 8 ? TERM_ALT : 0);
}

/* The key of a number of the private area; 0: none that we have. */
static uint32_t kitty_key(unsigned code)
{
	if (code >= KITTY_F13 && code <= KITTY_F20)
		return TERM_KEY_F1 + 12 + (code - KITTY_F13);
	if (code >= KITTY_DIGIT && code < KITTY_DIGIT + 10)
		return '0' + (code - KITTY_DIGIT);
	for (size_t i = 0; i < ARRAY_LEN(KITTY); i++)
		if (KITTY[i].number == code)
			return KITTY[i].key;
	return 0;
}

/* A key as a number: what terminals in CSI u or modifyOtherKeys mode send. With Shift the former sends a letter as it is
 * without, unless Control is there too. */
static void emit_number(struct input *in, unsigned code, unsigned mods)
{
	if (code == ESC)
		emit_key(in, TERM_KEY_ESCAPE, mods);
	else if (code == '\r')
		emit_key(in, TERM_KEY_ENTER, mods);
	else if (code == '\t')
		emit_key(in, TERM_KEY_TAB, mods);
	else if (code == DEL || code == '\b')
		emit_key(in, TERM_KEY_BACKSPACE, mods);
	else if (code >= KITTY_FIRST && code <= KITTY_LAST && kitty_key(code) != 0)
		emit_key(in, kitty_key(code), mods);
	else if (code >= 'a' && code <= 'z' && (mods & (TERM_SHIFT | TERM_CTRL)) == TERM_SHIFT)
		emit_key(in, code - 32, mods & ~(unsigned)TERM_SHIFT);
	else if ((code < KITTY_FIRST || code > KITTY_LAST) && codepoint_is_base(code))
		emit_key(in, code, mods);
}

static void emit_focus(struct input *in, bool focused)
{
	struct input_event ev = {.kind = INPUT_FOCUS, .focused = focused};
	in->on_event(in->arg, &ev);
}

/* What is known of a mouse event: two bits for the button, Shift 4, Meta 8, Control 16, motion 32, wheel 64. Places count from 1. */
static void emit_mouse(struct input *in, unsigned bits, unsigned col, unsigned row, bool release)
{
	static const uint8_t BUTTONS[] = {MOUSE_LEFT, MOUSE_MIDDLE, MOUSE_RIGHT, MOUSE_NONE};
	static const uint8_t WHEEL[] = {MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN, MOUSE_WHEEL_LEFT,
	                                MOUSE_WHEEL_RIGHT};
	bool wheel = (bits & 64) != 0, moved = (bits & 32) != 0;
	if (bits > 127 || row == 0 || col == 0 || row > UINT16_MAX || col > UINT16_MAX || (wheel && release))
		return; /* a button that we do not know, or nonsense */
	struct input_event ev = {
	    .kind = INPUT_MOUSE,
	    .mouse = {.kind = release ? MOUSE_RELEASE
	                      : moved ? MOUSE_MOVE
	                              : MOUSE_PRESS,
	              .button = wheel ? WHEEL[bits & 3] : BUTTONS[bits & 3],
	              .mods = (uint8_t)((bits & 4 ? TERM_SHIFT : 0) | (bits & 8 ? TERM_ALT : 0) |
	                                (bits & 16 ? TERM_CTRL : 0)),
	              .row = (uint16_t)(row - 1),
	              .col = (uint16_t)(col - 1)}};
	in->on_event(in->arg, &ev);
}

/* The old form: three bytes after CSI M, each with 32 added. It does not tell which button was released. */
static bool do_old_mouse(struct input *in, uint8_t c)
{
	if (c < 0x20) {
		in->state = GROUND;
		return false;
	}
	in->seq[in->seq_len++] = c;
	if (in->seq_len < OLD_MOUSE_LEN)
		return true;
	in->state = GROUND;
	unsigned bits = in->seq[0] - 32u;
	bool release = (bits & 3) == 3 && (bits & (32 | 64)) == 0;
	emit_mouse(in, bits, in->seq[1] - 32u, in->seq[2] - 32u, release);
	return true;
}

static void emit_reply(struct input *in, enum input_reply reply, bool yes)
{
	struct input_event ev = {.kind = INPUT_REPLY, .reply = reply, .yes = yes};
	in->on_event(in->arg, &ev);
}

/* What begins with one of < = > ?: a report of the mouse, or a reply. */
static void do_private(struct input *in, uint8_t final, const struct numbers *n)
{
	char leader = (char)in->seq[0];
	bool decrpm = final == 'y' && in->seq[in->seq_len - 1] == '$';
	if (leader == '<' && (final == 'M' || final == 'm') && n->count == 3)
		emit_mouse(in, n->n[0], n->n[1], n->n[2], final == 'm');
	else if (leader == '?' && decrpm && n->count == 2 && n->n[0] == 2026)
		emit_reply(in, REPLY_SYNC, n->n[1] == 1 || n->n[1] == 2);
	else if (leader == '?' && final == 'u')
		emit_reply(in, REPLY_KEYS, true);
	else if (leader == '?' && final == 'c')
		emit_reply(in, REPLY_DEVICE, true);
}

static void do_csi_final(struct input *in, uint8_t final)
{
	struct numbers p = parse_numbers(in);
	const unsigned *n = p.n;
	bool private = in->seq_len > 0 && in->seq[0] >= 0x3c && in->seq[0] <= 0x3f;
	uint32_t key = 0;
	in->state = GROUND;
	if (private) {
		do_private(in, final, &p);
	} else if (in->seq_len > 0 && in->seq[0] == '[') { /* the Linux console */
		key = final >= 'A' && final <= 'E' ? TERM_KEY_F1 + final - 'A' : 0;
	} else if (final == '~' && n[0] == 200) {
		start_paste(in);
		return;
	} else if (final == 'M' && p.count == 0) {
		in->state = MOUSE;
		in->seq_len = 0;
	} else if (p.sub[1] == KITTY_RELEASE) {
		/* the press was the key */
	} else if (final == '~' && n[0] == 27 && p.count >= 3) {
		emit_number(in, n[2], mods_of(n[1]));
	} else if (final == '~') {
		key = number_key(n[0]);
	} else if (final == 'u') {
		emit_number(in, n[0], mods_of(n[1]));
	} else if (final == 'Z') {
		emit_key(in, TERM_KEY_TAB, mods_of(n[1]) | TERM_SHIFT);
	} else if ((final == 'I' || final == 'O') && p.count == 0) {
		emit_focus(in, final == 'I');
	} else if (final != 'M' && (p.count == 0 || n[0] <= 1)) {
		/* With another first number it is a report: CSI 5;7R is a cursor position, not F3. */
		key = letter_key((char) final);
	}
	if (key != 0)
		emit_key(in, key, mods_of(n[1]));
	in->alt = false;
}

/* Returns false when the byte belongs to what comes next. */
static bool do_csi(struct input *in, uint8_t c)
{
	if (c < 0x20 || c >= 0x7f) {
		in->state = GROUND;
		in->alt = false;
		return false;
	}
	if (c >= 0x40 && !(c == '[' && in->seq_len == 0)) {
		if (in->seq_len < sizeof(in->seq))
			do_csi_final(in, c);
		in->state = in->state == CSI ? GROUND : in->state;
		return true;
	}
	/* A sequence that fills the buffer is none of ours and is dropped at its end. */
	if (in->seq_len < sizeof(in->seq))
		in->seq[in->seq_len++] = c;
	return true;
}

static bool do_ss3(struct input *in, uint8_t c)
{
	static const char KEYPAD[] = "jklmnopqrstuvwxy", MEANS[] = "*+,-./0123456789";
	const char *at = c >= 'j' ? strchr(KEYPAD, c) : NULL;
	uint32_t key = letter_key((char)c);
	if (c < 0x20 || c >= 0x7f) {
		in->state = GROUND;
		in->alt = false;
		return false;
	}
	if (at != NULL)
		emit_key(in, (uint8_t)MEANS[at - KEYPAD], 0);
	else if (key != 0)
		emit_key(in, key, 0);
	in->state = GROUND;
	in->alt = false;
	return true;
}

/* Strings are answers of the terminal: OSC with a number, DCS with one or one of a few marks, APC of kitty's graphics. Anything else
 * after ESC ] and the like was typed with Alt. Returns false when the byte belongs to what comes next. */
static bool do_string(struct input *in, uint8_t c)
{
	static const char DCS_MARKS[] = "0123456789>!$=+|";
	bool opens = in->opener == ']'   ? c >= '0' && c <= '9'
	             : in->opener == 'P' ? c != 0 && strchr(DCS_MARKS, c) != NULL
	                                 : c == 'G';
	if (in->seq_len == 0 && !opens) {
		in->alt = true;
		emit_key(in, in->opener, 0);
		return false;
	}
	if (c == ESC) {
		in->state = STRING_ESCAPE;
	} else if (c == BEL || ++in->seq_len > STRING_MOST) {
		in->state = GROUND;
		in->alt = false;
	}
	return true;
}

static bool do_escape(struct input *in, uint8_t c)
{
	in->seq_len = 0;
	switch (c) {
	case '[': in->state = CSI; return true;
	case 'O': in->state = SS3; return true;
	case ']':
	case 'P':
	case '_':
		in->state = STRING;
		in->opener = c;
		return true;
	default:
		if (in->alt) { /* the first of two ESC was the key */
			in->alt = false;
			emit_key(in, TERM_KEY_ESCAPE, 0);
		}
		in->alt = true; /* Alt; with a second ESC it may still be a sequence */
		in->state = c == ESC ? ESCAPE : GROUND;
		return c == ESC;
	}
}

static void do_byte(struct input *in, uint8_t c)
{
	bool taken = true;
	switch ((enum state)in->state) {
	case GROUND: do_ground(in, c); break;
	case CHARACTER: taken = do_character(in, c); break;
	case ESCAPE: taken = do_escape(in, c); break;
	case CSI: taken = do_csi(in, c); break;
	case SS3: taken = do_ss3(in, c); break;
	case STRING: taken = do_string(in, c); break;
	case STRING_ESCAPE:
		in->state = c == ESC ? STRING_ESCAPE : c == '\\' ? GROUND : STRING;
		in->alt = in->alt && in->state != GROUND;
		break;
	case PASTE: do_paste(in, c); break;
	case MOUSE: taken = do_old_mouse(in, c); break;
	}
	if (!taken)
		do_ground(in, c);
}

void input_feed(struct input *in, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	for (size_t i = 0; i < len; i++)
		do_byte(in, p[i]);
}

/* Nobody types the bytes of a sequence after its first two: what comes after those belongs to it, however slow the line is. */
unsigned input_wait_ms(const struct input *in)
{
	bool begun = in->seq_len > 0;
	switch ((enum state)in->state) {
	case GROUND: return 0;
	case PASTE: return INPUT_PASTE_MS;
	case CSI:
	case SS3:
	case STRING: return begun ? INPUT_TORN_MS : INPUT_ESCAPE_MS;
	case CHARACTER:
	case STRING_ESCAPE:
	case MOUSE: return INPUT_TORN_MS;
	case ESCAPE: break;
	}
	return INPUT_ESCAPE_MS;
}

void input_timeout(struct input *in)
{
	enum state state = (enum state)in->state;
	bool bare = in->seq_len == 0;
	if (state == PASTE) {
		paste_bytes(in, PASTE_END, in->paste_match);
		emit_paste(in, true);
		return;
	}
	in->state = GROUND;
	in->seq_len = 0;
	if (state == ESCAPE) {
		if (in->alt) { /* the key was pressed twice */
			in->alt = false;
			emit_key(in, TERM_KEY_ESCAPE, 0);
		}
		emit_key(in, TERM_KEY_ESCAPE, 0);
	} else if (bare && (state == CSI || state == SS3 || state == STRING)) {
		in->alt = true;
		emit_key(in, state == CSI ? '[' : state == SS3 ? 'O' : in->opener, 0);
	}
	in->alt = false;
}
