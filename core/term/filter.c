/* A state machine after the usual VT500 diagram, with three changes: bytes over 0x7f are UTF-8 and end an unfinished
 * sequence (so there are no 8-bit controls), runs of text are handed over in one piece without copying, and numbers are
 * limited while they are read. */
#include "core/term/filter.h"

#include <string.h>

#include "core/term/unicode.h"

enum state {
	GROUND,
	ESCAPE,
	ESCAPE_INTERMEDIATE,
	CSI_START, /* a leader may come */
	CSI_PARAM,
	CSI_INTERMEDIATE,
	CSI_IGNORE, /* malformed: skipped up to its final byte */
	STRING,
	STRING_ESCAPE /* ESC inside a string: its end, or a new sequence */
};

enum string_kind { KIND_OSC = FILTER_OSC, KIND_DCS = FILTER_DCS, KIND_SWALLOWED };

enum { BEL = 0x07, BS = 0x08, CR = 0x0d, SO = 0x0e, SI = 0x0f, CAN = 0x18, SUB = 0x1a, ESC = 0x1b };

int csi_param(const struct csi *seq, unsigned i, int missing)
{
	return i < seq->count && seq->params[i] >= 0 ? seq->params[i] : missing;
}

void filter_init(struct filter *f, const struct filter_ops *ops, void *arg)
{
	*f = (struct filter){.ops = ops, .arg = arg};
	buf_init(&f->string, FILTER_STRING_MAX);
}

void filter_finish(struct filter *f)
{
	buf_finish(&f->string);
}

static bool is_text_control(uint8_t c)
{
	return c >= BS && c <= CR;
}

/* Controls act at once, even in the middle of a sequence. */
static void do_control(struct filter *f, uint8_t c)
{
	f->after_base = false;
	if (is_text_control(c))
		f->ops->text(f->arg, &c, 1);
	else if (c == BEL || c == SO || c == SI)
		f->ops->control(f->arg, c);
}

/* One character that is not part of a plain run. */
static void do_codepoint(struct filter *f, uint32_t cp)
{
	if (codepoint_is_base(cp)) {
		char text[4];
		size_t n = utf8_encode(cp, text);
		f->ops->text(f->arg, (const uint8_t *)text, n);
		f->after_base = true;
	} else if (codepoint_is_mark(cp) && f->after_base) {
		f->ops->mark(f->arg, cp);
	}
}

/* Length of what can be handed over as it is; sets after_base for its last character. */
static size_t plain_run(struct filter *f, const uint8_t *p, size_t len)
{
	size_t i = 0;
	bool base = f->after_base;
	while (i < len) {
		uint8_t c = p[i];
		if (c >= 0x20 && c < 0x7f) {
			base = true;
			i++;
			continue;
		}
		if (c < 0x80) {
			if (!is_text_control(c))
				break;
			base = false;
			i++;
			continue;
		}
		uint32_t cp;
		size_t n = utf8_decode(p + i, len - i, &cp);
		if (n < 2 || !codepoint_is_base(cp))
			break;
		base = true;
		i += n;
	}
	f->after_base = base;
	return i;
}

/* Ground state: text up to the next thing that is not; returns how many bytes it took (at least one). */
static size_t do_ground(struct filter *f, const uint8_t *p, size_t len)
{
	size_t run = plain_run(f, p, len);
	if (run > 0) {
		f->ops->text(f->arg, p, run);
		return run;
	}
	if (p[0] < 0x80) {
		if (p[0] == ESC) {
			f->was_base = f->after_base;
			f->after_base = false;
			f->state = ESCAPE;
			f->intermediate = 0;
		} else {
			do_control(f, p[0]);
		}
		return 1;
	}
	uint32_t cp;
	size_t n = utf8_decode(p, len, &cp);
	if (n == 0) {
		memcpy(f->tail, p, len);
		f->tail_len = (uint8_t)len;
		return len;
	}
	do_codepoint(f, cp);
	return n;
}

/* Finishes the character that the last piece left open. Returns how many of the new bytes it took. */
static size_t do_tail(struct filter *f, const uint8_t *p, size_t len)
{
	uint8_t both[8];
	size_t old = f->tail_len, add = MIN(len, sizeof(f->tail)), at = 0;
	memcpy(both, f->tail, old);
	memcpy(both + old, p, add);
	f->tail_len = 0;
	while (at < old) {
		uint32_t cp;
		size_t n = utf8_decode(both + at, old + add - at, &cp);
		if (n == 0) {
			f->tail_len = (uint8_t)(old + add - at);
			memcpy(f->tail, both + at, f->tail_len);
			return add;
		}
		do_codepoint(f, cp);
		at += n;
	}
	return at - old;
}

static void start_string(struct filter *f, enum string_kind kind)
{
	f->state = STRING;
	f->string_kind = (uint8_t)kind;
	buf_clear(&f->string);
}

static void start_csi(struct filter *f)
{
	f->state = CSI_START;
	f->csi.leader = f->csi.intermediate = 0;
	f->csi.count = 1;
	f->csi.params[0] = -1;
	f->csi.sub[0] = false;
	f->csi.after_base = f->was_base;
	f->was_base = false;
}

static void do_escape(struct filter *f, uint8_t c)
{
	if (c <= 0x2f) {
		/* A second intermediate makes it a sequence that nobody knows. */
		f->intermediate = f->state == ESCAPE_INTERMEDIATE ? '?' : (char)c;
		f->state = ESCAPE_INTERMEDIATE;
		return;
	}
	f->state = GROUND;
	if (f->intermediate == 0) {
		switch (c) {
		case '[': start_csi(f); return;
		case ']': start_string(f, KIND_OSC); return;
		case 'P': start_string(f, KIND_DCS); return;
		case 'X':
		case '^':
		case '_': start_string(f, KIND_SWALLOWED); return;
		default: break;
		}
	}
	f->ops->escape(f->arg, f->intermediate, (char)c);
}

static void csi_digit(struct csi *s, uint8_t digit)
{
	int32_t *p = &s->params[s->count - 1];
	*p = MIN((*p < 0 ? 0 : *p * 10) + digit, FILTER_PARAM_LIMIT);
}

static void csi_next_param(struct filter *f, bool sub)
{
	struct csi *s = &f->csi;
	if (s->count == FILTER_PARAMS_MAX) {
		f->state = CSI_IGNORE;
		return;
	}
	s->params[s->count] = -1;
	s->sub[s->count] = sub;
	s->count++;
}

static void do_csi(struct filter *f, uint8_t c)
{
	struct csi *s = &f->csi;
	if (c >= 0x40) {
		bool known = f->state != CSI_IGNORE;
		f->state = GROUND;
		s->final = (char)c;
		if (known)
			f->ops->csi(f->arg, s);
		return;
	}
	if (f->state == CSI_IGNORE)
		return;
	if (c <= 0x2f) {
		bool second = s->intermediate != 0;
		s->intermediate = (char)c;
		f->state = second ? CSI_IGNORE : CSI_INTERMEDIATE;
	} else if (f->state == CSI_INTERMEDIATE || (c >= 0x3c && f->state != CSI_START)) {
		f->state = CSI_IGNORE;
	} else {
		f->state = CSI_PARAM;
		if (c >= 0x3c)
			s->leader = (char)c;
		else if (c <= '9')
			csi_digit(s, c - '0');
		else
			csi_next_param(f, c == ':');
	}
}

static void end_string(struct filter *f, bool bel)
{
	f->state = GROUND;
	if (f->string_kind != KIND_SWALLOWED && buf_ok(&f->string))
		f->ops->string(f->arg, (enum filter_string)f->string_kind, f->string.data, f->string.len,
		               bel);
}

/* Inside a string: takes bytes up to something that matters; returns how many. */
static size_t do_string(struct filter *f, const uint8_t *p, size_t len)
{
	size_t n = 0;
	while (n < len && p[n] >= 0x20)
		n++;
	if (n > 0) {
		if (f->string_kind != KIND_SWALLOWED && buf_ok(&f->string))
			buf_put(&f->string, p, n);
		return n;
	}
	if (p[0] == ESC)
		f->state = STRING_ESCAPE;
	else if (p[0] == CAN || p[0] == SUB)
		f->state = GROUND;
	else if (p[0] == BEL && f->string_kind == KIND_OSC)
		end_string(f, true);
	return 1;
}

/* One byte of an escape or control sequence. Returns 0 when it belongs to the text after it. */
static size_t do_sequence(struct filter *f, uint8_t c)
{
	if (c >= 0x80) {
		f->state = GROUND;
		return 0;
	}
	if (c == ESC) {
		f->was_base = false;
		f->state = ESCAPE;
		f->intermediate = 0;
	} else if (c == CAN || c == SUB) {
		f->state = GROUND;
	} else if (c < 0x20) {
		do_control(f, c);
	} else if (c != 0x7f) {
		if (f->state == ESCAPE || f->state == ESCAPE_INTERMEDIATE)
			do_escape(f, c);
		else
			do_csi(f, c);
	}
	return 1;
}

static size_t do_string_escape(struct filter *f, uint8_t c)
{
	if (c == '\\') {
		end_string(f, false);
		return 1;
	}
	f->was_base = false;
	f->state = ESCAPE;
	f->intermediate = 0;
	return 0;
}

void filter_write(struct filter *f, const uint8_t *bytes, size_t len)
{
	size_t at = 0;
	while (at < len) {
		const uint8_t *p = bytes + at;
		if (f->tail_len > 0)
			at += do_tail(f, p, len - at);
		else if (f->state == GROUND)
			at += do_ground(f, p, len - at);
		else if (f->state == STRING)
			at += do_string(f, p, len - at);
		else if (f->state == STRING_ESCAPE)
			at += do_string_escape(f, *p);
		else
			at += do_sequence(f, *p);
	}
}
