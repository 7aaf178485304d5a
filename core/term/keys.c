/* Three encodings: xterm's for keys, kitty's for those that xterm's cannot tell apart (only what a program gets that asked for
 * unambiguous ones), and two for the mouse. */
#include "core/term/keys.h"

#include <stdio.h>
#include <string.h>

#include "core/base/check.h"
#include "core/term/cells.h"
#include "core/term/unicode.h"

/* How a key is written: by a final letter (CSI A, or SS3 A in application mode), or by a number and '~'. */
struct key_form {
	uint32_t key;
	char final; /* 0: `number` counts */
	bool ss3;   /* without modifiers always SS3 */
	uint8_t number;
	const char *name;
};

static const struct key_form FORMS[] = {
    {TERM_KEY_UP, 'A', false, 0, "Up"},        {TERM_KEY_DOWN, 'B', false, 0, "Down"},
    {TERM_KEY_RIGHT, 'C', false, 0, "Right"},  {TERM_KEY_LEFT, 'D', false, 0, "Left"},
    {TERM_KEY_HOME, 'H', false, 0, "Home"},    {TERM_KEY_END, 'F', false, 0, "End"},
    {TERM_KEY_PAGE_UP, 0, false, 5, "PageUp"}, {TERM_KEY_PAGE_DOWN, 0, false, 6, "PageDown"},
    {TERM_KEY_INSERT, 0, false, 2, "Insert"},  {TERM_KEY_DELETE, 0, false, 3, "Delete"},
    {TERM_KEY_F1, 'P', true, 0, "F1"},         {TERM_KEY_F1 + 1, 'Q', true, 0, "F2"},
    {TERM_KEY_F1 + 2, 'R', true, 0, "F3"},     {TERM_KEY_F1 + 3, 'S', true, 0, "F4"},
    {TERM_KEY_F1 + 4, 0, false, 15, "F5"},     {TERM_KEY_F1 + 5, 0, false, 17, "F6"},
    {TERM_KEY_F1 + 6, 0, false, 18, "F7"},     {TERM_KEY_F1 + 7, 0, false, 19, "F8"},
    {TERM_KEY_F1 + 8, 0, false, 20, "F9"},     {TERM_KEY_F1 + 9, 0, false, 21, "F10"},
    {TERM_KEY_F1 + 10, 0, false, 23, "F11"},   {TERM_KEY_F1 + 11, 0, false, 24, "F12"},
};

static const struct {
	uint32_t key;
	const char *name;
} PLAIN_NAMES[] = {{TERM_KEY_ENTER, "Enter"},
                   {TERM_KEY_TAB, "Tab"},
                   {TERM_KEY_BACKSPACE, "Backspace"},
                   {TERM_KEY_ESCAPE, "Escape"},
                   {' ', "Space"}};

static size_t put_text(uint8_t *out, const char *text)
{
	size_t n = strlen(text);
	memcpy(out, text, n);
	return n;
}

/* In kitty's encoding no key is SS3, and F3 has a number, as CSI R is the answer to a question. */
static size_t encode_form(const struct key_form *f, unsigned mods, unsigned modes, uint8_t *out)
{
	char text[KEY_BYTES_MAX];
	bool kitty = (modes & TERM_KEYS_DISAMBIGUATE) != 0;
	if (kitty && f->final == 'R')
		snprintf(text, sizeof(text), mods != 0 ? "\x1b[13;%u~" : "\x1b[13~", mods + 1);
	else if (kitty && mods == 0 && f->final != 0)
		snprintf(text, sizeof(text), "\x1b[%c", f->final);
	else if (f->final == 0 && mods != 0)
		snprintf(text, sizeof(text), "\x1b[%d;%u~", f->number, mods + 1);
	else if (f->final == 0)
		snprintf(text, sizeof(text), "\x1b[%d~", f->number);
	else if (mods != 0)
		snprintf(text, sizeof(text), "\x1b[1;%u%c", mods + 1, f->final);
	else
		snprintf(text, sizeof(text), "\x1b%c%c", f->ss3 || (modes & TERM_APP_CURSOR) ? 'O' : '[',
		         f->final);
	return put_text(out, text);
}

/* Keys that are a control character; Alt puts ESC in front. Shift and Ctrl have no byte of their own for Enter, so
 * they are plain Enter: what CSI u would send is noise to a shell. */
static size_t encode_control_key(uint32_t key, unsigned mods, unsigned modes, uint8_t *out)
{
	size_t n = 0;
	if (mods & TERM_ALT)
		out[n++] = 0x1b;
	switch (key) {
	case TERM_KEY_ENTER: return n + put_text(out + n, (modes & TERM_NEWLINE) != 0 ? "\r\n" : "\r");
	case TERM_KEY_TAB: return n + put_text(out + n, (mods & TERM_SHIFT) != 0 ? "\x1b[Z" : "\t");
	case TERM_KEY_BACKSPACE: return n + put_text(out + n, (mods & TERM_CTRL) != 0 ? "\b" : "\x7f");
	case TERM_KEY_ESCAPE: return n + put_text(out + n, "\x1b");
	default: return 0;
	}
}

/* What Ctrl makes of a character, as terminals have it since the VT220; -1: nothing. */
static int control_of(uint32_t cp)
{
	static const char FROM[] = " @23456789[\\]^_/?-", TO[] = "\0\0\0\x1b\x1c\x1d\x1e\x1f\x7f"
	                                                         "9\x1b\x1c\x1d\x1e\x1f\x1f\x7f\x1f";
	if (cp < 0x20 || cp == 0x7f)
		return (int)cp;
	if ((cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z'))
		return (int)(cp & 0x1f);
	const char *at = cp < 0x80 ? strchr(FROM, (char)cp) : NULL;
	return at != NULL ? TO[at - FROM] : -1;
}

static size_t encode_character(uint32_t cp, unsigned mods, uint8_t *out)
{
	size_t n = 0;
	if (mods & TERM_ALT)
		out[n++] = 0x1b;
	int control = mods & TERM_CTRL ? control_of(cp) : -1;
	if (control >= 0) {
		out[n++] = (uint8_t)control;
		return n;
	}
	if ((mods & TERM_SHIFT) && cp >= 'a' && cp <= 'z')
		cp -= 'a' - 'A';
	return n + utf8_encode(cp, (char *)out + n);
}

static size_t encode_number(uint32_t number, unsigned mods, uint8_t *out)
{
	char text[KEY_BYTES_MAX];
	if (mods == 0)
		snprintf(text, sizeof(text), "\x1b[%uu", number);
	else
		snprintf(text, sizeof(text), "\x1b[%u;%uu", number, mods + 1);
	return put_text(out, text);
}

/* The character of a key without modifiers: a control is its letter with Ctrl, a capital the small one with Shift. */
static uint32_t plain_character(uint32_t cp, unsigned *mods)
{
	if (cp < 0x20 || cp == 0x7f) {
		*mods |= TERM_CTRL;
		cp = cp == 0 ? ' ' : cp == 0x7f ? '?' : cp | 0x40;
		return cp >= 'A' && cp <= 'Z' ? cp + 'a' - 'A' : cp;
	}
	if (cp >= 'A' && cp <= 'Z') {
		/* With Ctrl a terminal cannot tell whether it was a capital. */
		if ((*mods & TERM_CTRL) == 0)
			*mods |= TERM_SHIFT;
		return cp + 'a' - 'A';
	}
	return cp;
}

/* Keys that kitty's "disambiguate" writes as CSI number ; modifiers u; 0: as always. Enter, Tab and Backspace alone stay
 * what they are, so that a shell can be used after a program has died in this mode. */
static size_t encode_kitty(uint32_t key, unsigned mods, uint8_t *out)
{
	switch (key) {
	case TERM_KEY_ESCAPE: return encode_number(27, mods, out);
	case TERM_KEY_ENTER: return mods != 0 ? encode_number(13, mods, out) : 0;
	case TERM_KEY_TAB: return mods != 0 ? encode_number(9, mods, out) : 0;
	case TERM_KEY_BACKSPACE: return mods != 0 ? encode_number(127, mods, out) : 0;
	default: break;
	}
	if (key > TERM_KEY_F1 + 11 && key <= TERM_KEY_F20)
		return encode_number(57376 + (key - TERM_KEY_F1 - 12), mods, out);
	if (key > 0x10ffff)
		return 0;
	bool text = (mods & (TERM_CTRL | TERM_ALT)) == 0 && key >= 0x20 && key != 0x7f;
	if (text)
		return 0;
	uint32_t number = plain_character(key, &mods);
	return encode_number(number, mods, out);
}

bool key_is_valid(uint32_t key)
{
	return (key <= 0x10ffff && !(key >= 0xd800 && key <= 0xdfff)) ||
	       (key >= TERM_KEY_FIRST && key <= TERM_KEY_ESCAPE) ||
	       (key >= TERM_KEY_F1 && key <= TERM_KEY_F20);
}

size_t key_encode(uint32_t key, unsigned mods, unsigned modes, uint8_t out[KEY_BYTES_MAX])
{
	mods &= TERM_MOD_ALL;
	if (!key_is_valid(key))
		return 0;
	size_t n = modes & TERM_KEYS_DISAMBIGUATE ? encode_kitty(key, mods, out) : 0;
	if (n > 0)
		return n;
	if (key <= 0x10ffff)
		return encode_character(key, mods, out);
	if (key > TERM_KEY_F1 + 11) { /* F13 is Shift-F1 on a PC keyboard, and terminfo says so */
		key -= 12;
		mods |= TERM_SHIFT;
	}
	for (size_t i = 0; i < ARRAY_LEN(FORMS); i++)
		if (FORMS[i].key == key)
			return encode_form(&FORMS[i], mods, modes, out);
	return encode_control_key(key, mods, modes, out);
}

/* ---- the mouse --------------------------------------------------------------------------------------------------- */

#define MOUSE_MODES (TERM_MOUSE_CLICK | TERM_MOUSE_DRAG | TERM_MOUSE_MOVE)

/* Does the program want to hear of it? A wheel is only pressed, and what is neither pressed nor moved is no event. */
static bool mouse_is_wanted(const struct term_mouse *m, unsigned modes)
{
	if ((modes & MOUSE_MODES) == 0 || m->kind >= MOUSE_KIND_COUNT || m->button >= MOUSE_BUTTON_COUNT)
		return false;
	bool wheel = m->button >= MOUSE_WHEEL_UP;
	if (m->kind == MOUSE_PRESS)
		return m->button != MOUSE_NONE;
	if (wheel)
		return false;
	if (m->kind == MOUSE_RELEASE)
		return true;
	return (modes & TERM_MOUSE_MOVE) != 0 || ((modes & TERM_MOUSE_DRAG) != 0 && m->button != MOUSE_NONE);
}

size_t mouse_encode(const struct term_mouse *m, unsigned modes, uint8_t out[MOUSE_BYTES_MAX])
{
	enum { NO_BUTTON = 3, FIRST_WHEEL = 64, MOTION = 32, OLD_OFFSET = 32, OLD_LAST = 223 };
	if (!mouse_is_wanted(m, modes))
		return 0;
	unsigned code = m->button == MOUSE_NONE      ? NO_BUTTON
	                : m->button < MOUSE_WHEEL_UP ? m->button - (unsigned)MOUSE_LEFT
	                                             : FIRST_WHEEL + m->button - (unsigned)MOUSE_WHEEL_UP;
	bool sgr = (modes & TERM_MOUSE_SGR) != 0, release = m->kind == MOUSE_RELEASE;
	if (release && !sgr)
		code = NO_BUTTON; /* the old form does not say which */
	code += m->kind == MOUSE_MOVE ? MOTION : 0;
	code +=
	    (m->mods & TERM_SHIFT ? 4u : 0) + (m->mods & TERM_ALT ? 8u : 0) + (m->mods & TERM_CTRL ? 16u : 0);
	if (sgr) {
		char text[MOUSE_BYTES_MAX];
		snprintf(text, sizeof(text), "\x1b[<%u;%u;%u%c", code, m->col + 1u, m->row + 1u,
		         release ? 'm' : 'M');
		return put_text(out, text);
	}
	if (m->row >= OLD_LAST || m->col >= OLD_LAST)
		return 0;
	const uint8_t bytes[] = {0x1b,
	                         '[',
	                         'M',
	                         (uint8_t)(code + OLD_OFFSET),
	                         (uint8_t)(m->col + 1 + OLD_OFFSET),
	                         (uint8_t)(m->row + 1 + OLD_OFFSET)};
	memcpy(out, bytes, sizeof(bytes));
	return sizeof(bytes);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool find_name(const char *name, uint32_t *key)
{
	for (size_t i = 0; i < ARRAY_LEN(FORMS); i++)
		if (strcasecmp(FORMS[i].name, name) == 0) {
			*key = FORMS[i].key;
			return true;
		}
	for (size_t i = 0; i < ARRAY_LEN(PLAIN_NAMES); i++)
		if (strcasecmp(PLAIN_NAMES[i].name, name) == 0) {
			*key = PLAIN_NAMES[i].key;
			return true;
		}
	for (unsigned f = 13; f <= 20; f++) {
		char text[8];
		snprintf(text, sizeof(text), "F%u", f);
		if (strcasecmp(text, name) == 0) {
			*key = TERM_KEY_F1 + f - 1;
			return true;
		}
	}
	return false;
}

bool key_parse(const char *name, uint32_t *key, unsigned *mods)
{
	static const char LETTERS[] = "SMC"; /* in the order of enum term_mod */
	unsigned m = 0;
	while (name[0] != '\0' && name[1] == '-' && name[2] != '\0' && strchr(LETTERS, name[0]) != NULL) {
		m |= 1u << (strchr(LETTERS, name[0]) - LETTERS);
		name += 2;
	}
	uint32_t k = 0;
	size_t len = strlen(name);
	if (len == 0)
		return false;
	if (!find_name(name, &k)) {
		if (utf8_decode((const uint8_t *)name, len, &k) != len || !codepoint_is_base(k) ||
		    k == UNICODE_REPLACEMENT)
			return false;
		if ((m & TERM_CTRL) && k >= 'A' && k <= 'Z')
			k += 'a' - 'A'; /* terminals cannot tell them apart */
	}
	*key = k;
	*mods = m;
	return true;
}

void key_name(uint32_t key, unsigned mods, char out[KEY_NAME_SIZE])
{
	char text[8] = "?";
	const char *name = text;
	for (size_t i = 0; i < ARRAY_LEN(FORMS); i++)
		if (FORMS[i].key == key)
			name = FORMS[i].name;
	for (size_t i = 0; i < ARRAY_LEN(PLAIN_NAMES); i++)
		if (PLAIN_NAMES[i].key == key)
			name = PLAIN_NAMES[i].name;
	if (key > TERM_KEY_F1 + 11 && key <= TERM_KEY_F20) {
		snprintf(text, sizeof(text), "F%u", key - TERM_KEY_F1 + 1);
	} else if (name == text && codepoint_is_base(key)) {
		size_t len = utf8_encode(key, text);
		text[len] = '\0';
	}
	snprintf(out, KEY_NAME_SIZE, "%s%s%s%s", mods & TERM_CTRL ? "C-" : "", mods & TERM_ALT ? "M-" : "",
	         mods & TERM_SHIFT ? "S-" : "", name);
}
