/* What a program says about itself, in the spellings that are around: OSC 9 (a notice, or ConEmu's commands, of which progress
 * is taken), OSC 777 of urxvt, OSC 99 of kitty, and the shell's marks, OSC 133. Nothing here is answered. */
#include <string.h>

#include "core/base/parse.h"
#include "core/term/state.h"
#include "core/term/unicode.h"

static void tell(struct emulator *e, const char *title, size_t title_len, const char *body, size_t body_len)
{
	char text[EMULATOR_TEXT_MAX + 1], rest[EMULATOR_TEXT_MAX + 1];
	size_t used = utf8_printable(text, sizeof(text), title, title_len);
	size_t more = utf8_printable(rest, sizeof(rest), body, body_len);
	if (used > 0 && more > 0 && used + 2 < EMULATOR_TEXT_MAX) {
		text[used++] = ':';
		text[used++] = ' ';
	}
	used += utf8_printable(text + used, sizeof(text) - used, rest, more);
	if (used > 0)
		state_event(e, EMULATOR_NOTICE, 0, 0, text);
}

/* Cuts *rest at the next `sep` and returns the part before it; *rest is NULL after the last. */
static char *next_field(char **rest, char sep)
{
	char *field = *rest, *end = strchr(field, sep);
	if (end != NULL)
		*end++ = '\0';
	*rest = end;
	return field;
}

/* ---- OSC 9 ------------------------------------------------------------------------------------------------------- */

static void progress(struct emulator *e, char *text)
{
	uint64_t state, percent = 0;
	char *rest = text;
	if (!parse_u64(next_field(&rest, ';'), 0, 4, &state))
		return;
	if (rest != NULL && *rest != '\0' && !parse_u64(next_field(&rest, ';'), 0, 9999, &percent))
		return;
	state_event(e, EMULATOR_PROGRESS, (int)state, (int)MIN(percent, 100), "");
}

/* ConEmu's commands are a number up to 12, alone or before a semicolon. */
static bool is_command(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	return (text[digits] == ';' || text[digits] == '\0') &&
	       ((digits == 1 && text[0] != '0') || (digits == 2 && text[0] == '1' && text[1] <= '2'));
}

void notices_osc9(struct emulator *e, char *text, bool bel)
{
	(void)bel;
	if (strncmp(text, "4;", 2) == 0)
		progress(e, text + 2);
	else if (!is_command(text))
		tell(e, text, strlen(text), "", 0);
}

/* ---- OSC 777 ----------------------------------------------------------------------------------------------------- */

void notices_osc777(struct emulator *e, char *text, bool bel)
{
	char *rest = text;
	(void)bel;
	if (strcmp(next_field(&rest, ';'), "notify") != 0 || rest == NULL)
		return;
	const char *title = next_field(&rest, ';'), *body = rest != NULL ? rest : "";
	tell(e, title, strlen(title), body, strlen(body));
}

/* ---- OSC 99 ------------------------------------------------------------------------------------------------------ */

static int base64_value(char c)
{
	static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(DIGITS, c);
	return at != NULL && c != '\0' ? (int)(at - DIGITS) : -1;
}

/* Decodes in place up to the padding; false for what is no base64. */
static bool decode_base64(char *text, size_t *len)
{
	unsigned bits = 0, held = 0;
	size_t n = 0;
	for (size_t i = 0; i < *len && text[i] != '='; i++) {
		int value = base64_value(text[i]);
		if (value < 0)
			return false;
		held = (held << 6 | (unsigned)value) & 0xffff;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			text[n++] = (char)(held >> bits);
		}
	}
	*len = n;
	return true;
}

static void append(char *part, size_t *len, const char *bytes, size_t more)
{
	more = MIN(more, NOTICE_PART_MAX - *len);
	memcpy(part + *len, bytes, more);
	*len += more;
}

struct metadata {
	const char *id, *part; /* i, p */
	bool done, encoded;    /* d, e */
};

/* "key=value" pairs with colons between them; unknown keys are not ours. */
static struct metadata read_metadata(char *text)
{
	struct metadata m = {.id = "", .part = "title", .done = true};
	for (char *rest = text; rest != NULL;) {
		const char *field = next_field(&rest, ':');
		if (field[0] == '\0' || field[1] != '=')
			continue;
		const char *value = field + 2;
		switch (field[0]) {
		case 'i': m.id = value; break;
		case 'p': m.part = value; break;
		case 'd': m.done = strcmp(value, "0") != 0; break;
		case 'e': m.encoded = strcmp(value, "1") == 0; break;
		default: break;
		}
	}
	return m;
}

/* Questions about notifications, and orders to take one back. */
static bool is_no_notification(const char *part)
{
	return strcmp(part, "?") == 0 || strcmp(part, "close") == 0 || strcmp(part, "alive") == 0;
}

/* One notification is collected at a time: another id, or a broken piece, begins anew. */
void notices_osc99(struct emulator *e, char *text, bool bel)
{
	struct notice *n = &e->notice;
	char *payload = text;
	struct metadata m = read_metadata(next_field(&payload, ';'));
	(void)bel;
	if (payload == NULL || is_no_notification(m.part))
		return;
	if (strncmp(n->id, m.id, sizeof(n->id) - 1) != 0) {
		*n = (struct notice){0};
		memcpy(n->id, m.id, strnlen(m.id, sizeof(n->id) - 1));
	}
	size_t len = strlen(payload);
	if (m.encoded && !decode_base64(payload, &len)) {
		*n = (struct notice){0};
		return;
	}
	if (strcmp(m.part, "title") == 0)
		append(n->title, &n->title_len, payload, len);
	else if (strcmp(m.part, "body") == 0)
		append(n->body, &n->body_len, payload, len);
	if (m.done) {
		tell(e, n->title, n->title_len, n->body, n->body_len);
		*n = (struct notice){0};
	}
}

/* ---- OSC 133 ----------------------------------------------------------------------------------------------------- */

/* A prompt of another kind (k=s: of a line that goes on) is no place to jump to. */
static void prompt_starts(struct emulator *e, const char *options)
{
	const char *kind = strstr(options, ";k=");
	int row, col;
	if (kind != NULL && kind[3] != 'i')
		return;
	engine_cursor(e->engine, &row, &col);
	grid_set_flag(&e->screens[e->active], row, ROW_PROMPT, true);
	state_event(e, EMULATOR_PROMPT, 0, 0, "");
}

static void command_ends(struct emulator *e, char *options)
{
	char *rest = options;
	uint64_t status;
	(void)next_field(&rest, ';');
	bool said = rest != NULL && parse_u64(next_field(&rest, ';'), 0, 65535, &status);
	state_event(e, EMULATOR_COMMAND_DONE, said ? (int)status : -1, 0, "");
}

void notices_osc133(struct emulator *e, char *text, bool bel)
{
	(void)bel;
	if (text[0] == '\0' || (text[1] != '\0' && text[1] != ';'))
		return;
	switch (text[0]) {
	case 'A': prompt_starts(e, text + 1); break;
	case 'C': state_event(e, EMULATOR_COMMAND, 0, 0, ""); break;
	case 'D': command_ends(e, text + 1); break;
	default: break; /* B: the command begins here */
	}
}
