#include "tui/palette.h"

#include <stdio.h>
#include <string.h>

#include "core/base/nearest.h"

/* Those that move a cursor are of no use by name. */
bool palette_has(enum action action)
{
	switch ((int)action) {
	case ACTION_NONE:
	case ACTION_JUMP:
	case ACTION_DOWN:
	case ACTION_UP:
	case ACTION_LEFT:
	case ACTION_RIGHT:
	case ACTION_FIRST:
	case ACTION_LAST:
	case ACTION_PAGE_DOWN:
	case ACTION_PAGE_UP:
	case ACTION_PALETTE: return false;
	default: return action < ACTION_EDIT_FIRST;
	}
}

/* ---- completion ---- */

struct collect {
	struct palette_words *out;
	const char *typed;
	bool inside; /* this pass is for those that have it inside and not at the start */
};

static void keep(struct palette_words *out, const char *word, const char *help)
{
	out->total++;
	if (out->count == PALETTE_MOST)
		return;
	struct palette_word *w = &out->words[out->count++];
	snprintf(w->text, sizeof(w->text), "%s", word);
	w->help = help;
}

static void offer_with_help(struct collect *c, const char *word, const char *help)
{
	const char *found = strcasestr(word, c->typed);
	if (found && strlen(word) < PALETTE_WORD_SIZE && (found > word) == c->inside)
		keep(c->out, word, help);
}

static void offer(void *to, const char *word)
{
	offer_with_help(to, word, NULL);
}

static void offer_actions(struct collect *c)
{
	for (unsigned a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		struct action_info info = keymap_action((enum action)a);
		if (palette_has((enum action)a))
			offer_with_help(c, info.name, info.help);
	}
}

static enum action named(const char *line, size_t len)
{
	char name[PALETTE_WORD_SIZE];
	if (len >= sizeof(name))
		return ACTION_NONE;
	memcpy(name, line, len);
	name[len] = '\0';
	enum action action = keymap_action_named(name);
	return palette_has(action) ? action : ACTION_NONE;
}

void palette_complete(const char *line, palette_source_fn *source, void *arg, struct palette_words *out)
{
	size_t lead = strspn(line, " "), name_len = strcspn(line + lead, " ");
	const char *rest = line + lead + name_len;
	enum action action = named(line + lead, name_len);
	*out = (struct palette_words){.start = lead};
	struct collect c = {.out = out, .typed = line + lead};
	if (*rest) {
		rest += strspn(rest, " ");
		out->start = (size_t)(rest - line);
		c.typed = rest;
	}
	for (int pass = 0; pass < 2; pass++) {
		c.inside = pass == 1;
		if (!line[lead + name_len])
			offer_actions(&c);
		else if (action != ACTION_NONE && keymap_action(action).takes != TAKES_NOTHING)
			source(arg, keymap_action(action).takes, offer, &c);
	}
}

void palette_common(const char *line, const struct palette_words *words, char out[PALETTE_WORD_SIZE])
{
	size_t typed = strlen(line + words->start), len = 0;
	out[0] = '\0';
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->words[i].text;
		if (strncasecmp(word, line + words->start, typed) != 0)
			break; /* these have it inside */
		size_t same = 0;
		while (same < len && out[same] == word[same])
			same++;
		if (i == 0)
			len = (size_t)snprintf(out, PALETTE_WORD_SIZE, "%s", word);
		else
			len = same;
		out[len] = '\0';
	}
	if (len == 0 && words->count == 1 && words->total == 1)
		snprintf(out, PALETTE_WORD_SIZE, "%s", words->words[0].text);
}

/* ---- what a line means ---- */

static bool fail_unknown(const char *name, struct err *e)
{
	struct nearest n;
	nearest_begin(&n, name);
	for (unsigned a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		if (palette_has((enum action)a))
			nearest_offer(&n, keymap_action((enum action)a).name);
	}
	if (nearest_best(&n))
		return err_set(e, ERR_NOT_FOUND, "no action '%s'; did you mean %s?", name, nearest_best(&n));
	return err_set(e, ERR_NOT_FOUND, "no action '%s'; Tab lists them", name);
}

bool palette_parse(const char *line, enum action *action, const char **rest, struct err *e)
{
	char name[PALETTE_WORD_SIZE];
	line += strspn(line, " ");
	size_t len = strcspn(line, " ");
	snprintf(name, sizeof(name), "%.*s", (int)MIN(len, sizeof(name) - 1), line);
	*action = named(line, len);
	if (*action == ACTION_NONE)
		return fail_unknown(name, e);
	*rest = line + len;
	*rest += strspn(*rest, " ");
	if (**rest && keymap_action(*action).takes == TAKES_NOTHING)
		return err_set(e, ERR_INVALID, "%s takes nothing after its name", name);
	return true;
}
