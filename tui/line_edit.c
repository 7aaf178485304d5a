#include "tui/line_edit.h"

#include <stdio.h>
#include <string.h>

#include "core/term/unicode.h"

static uint32_t code_at(const struct line_edit *l, size_t at, size_t *size)
{
	uint32_t code = 0;
	*size = at < l->len ? utf8_decode((const uint8_t *)l->text + at, l->len - at, &code) : 0;
	return code;
}

/* A character is a base with the marks behind it. */
static size_t next_at(const struct line_edit *l, size_t at)
{
	size_t size;
	code_at(l, at, &size);
	for (at += size; at < l->len && codepoint_is_mark(code_at(l, at, &size)); at += size)
		;
	return at;
}

static size_t previous_at(const struct line_edit *l, size_t at)
{
	size_t before = 0;
	for (size_t next = 0; next < at; next = next_at(l, next))
		before = next;
	return before;
}

static size_t word_start(const struct line_edit *l)
{
	size_t at = l->at;
	while (at > 0 && l->text[at - 1] == ' ')
		at--;
	while (at > 0 && l->text[at - 1] != ' ')
		at--;
	return at;
}

static void cut(struct line_edit *l, size_t from, size_t to)
{
	memmove(l->text + from, l->text + to, l->len - to + 1);
	l->len -= to - from;
	l->at = from;
}

void line_edit_set(struct line_edit *l, const char *text)
{
	l->len = utf8_printable(l->text, sizeof(l->text), text, strlen(text));
	l->at = l->len;
}

bool line_edit_act(struct line_edit *l, enum action action)
{
	switch ((int)action) {
	case ACTION_EDIT_LEFT: l->at = previous_at(l, l->at); return true;
	case ACTION_EDIT_RIGHT: l->at = next_at(l, l->at); return true;
	case ACTION_EDIT_HOME: l->at = 0; return true;
	case ACTION_EDIT_END: l->at = l->len; return true;
	case ACTION_EDIT_BACKSPACE: cut(l, previous_at(l, l->at), l->at); return true;
	case ACTION_EDIT_DELETE: cut(l, l->at, next_at(l, l->at)); return true;
	case ACTION_EDIT_KILL_WORD: cut(l, word_start(l), l->at); return true;
	case ACTION_EDIT_KILL_START: cut(l, 0, l->at); return true;
	case ACTION_EDIT_KILL_END: cut(l, l->at, l->len); return true;
	default: return false;
	}
}

bool line_edit_insert(struct line_edit *l, uint32_t code)
{
	char bytes[4];
	if (!codepoint_is_base(code) && !codepoint_is_mark(code))
		return false;
	size_t n = utf8_encode(code, bytes);
	if (l->len + n >= sizeof(l->text))
		return false;
	memmove(l->text + l->at + n, l->text + l->at, l->len - l->at + 1);
	memcpy(l->text + l->at, bytes, n);
	l->len += n;
	l->at += n;
	return true;
}

void line_edit_paste(struct line_edit *l, struct bytes text)
{
	for (size_t i = 0; i < text.len;) {
		uint32_t code;
		size_t n = utf8_decode(text.p + i, text.len - i, &code);
		if (n == 0 || code == '\n' || code == '\r')
			return;
		line_edit_insert(l, code);
		i += n;
	}
}

/* What stands left of the cursor is cut from its start until the cursor is inside. */
void line_edit_draw(const struct line_edit *l, struct canvas *c, struct rect r, enum theme_style style)
{
	char before[LINE_EDIT_SIZE];
	if (rect_is_empty(r))
		return;
	memcpy(before, l->text, l->at);
	before[l->at] = '\0';
	size_t from = 0;
	while (from < l->at && canvas_text_width(before + from) >= r.cols)
		from = next_at(l, from);
	int col = canvas_text_width(before + from);
	canvas_text(c, r, 0, style, l->text + from);
	c->cursor_visible = true;
	c->cursor_row = r.row;
	c->cursor_col = r.col + MIN(col, r.cols - 1);
}
