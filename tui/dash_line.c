/* Lines that are typed at the bottom: the filter, the palette, a text to send, a text to search for; and the form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "tui/dash_internal.h"

#define LIST_ROWS_MOST 8 /* of candidates above the line */
#define RULES_OFFERED  20

void dash_line_begin(struct dash *d, enum line_kind kind, const char *text)
{
	struct line_prompt *p = &d->line;
	p->kind = kind;
	p->back = false;
	p->chosen = SIZE_MAX;
	p->history_at = p->history_count;
	p->words = (struct palette_words){0};
	snprintf(p->was, sizeof(p->was), "%s", d->filter);
	line_edit_set(&p->edit, text);
}

void dash_line_finish(struct line_prompt *p)
{
	for (size_t i = 0; i < p->history_count; i++)
		free(p->history[i]);
}

static void keep_history(struct line_prompt *p)
{
	if (p->edit.len == 0 ||
	    (p->history_count > 0 && strcmp(p->history[p->history_count - 1], p->edit.text) == 0))
		return;
	if (p->history_count == HISTORY_MOST) {
		free(p->history[0]);
		memmove(&p->history[0], &p->history[1], (HISTORY_MOST - 1) * sizeof(p->history[0]));
		p->history_count--;
	}
	p->history[p->history_count++] = mem_strdup(p->edit.text);
}

static void step_history(struct line_prompt *p, int by)
{
	size_t at = p->history_at;
	if (by < 0 && at > 0)
		at--;
	else if (by > 0 && at < p->history_count)
		at++;
	p->history_at = at;
	line_edit_set(&p->edit, at < p->history_count ? p->history[at] : "");
}

/* ---- completion ---- */

struct offering {
	struct dash *d;
	const struct view *v;
};

static void offer_vms(const struct view *v, palette_offer_fn *offer, void *to)
{
	for (size_t i = 0; i < v->all_count; i++)
		offer(to, v->all[i]->status.name);
}

static void offer_rules(const struct view *v, palette_offer_fn *offer, void *to)
{
	const struct feed_list *f = &v->model.feed;
	for (size_t i = 0; i < MIN(f->denial_count, (size_t)RULES_OFFERED); i++) {
		const struct feed_denial *denial = f->denials[f->denial_count - 1 - i];
		struct feed_row row = {.entry = &denial->newest, .count = 1};
		char rule[FEED_RULE_SIZE];
		struct err e = ERR_INIT;
		if (feed_row_rule(&row, rule, &e))
			offer(to, rule);
	}
}

static void offer_words(void *arg, enum action_takes takes, palette_offer_fn *offer, void *to)
{
	struct offering *o = arg;
	switch (takes) {
	case TAKES_VM: offer_vms(o->v, offer, to); break;
	case TAKES_RULE: offer_rules(o->v, offer, to); break;
	case TAKES_SORT:
		for (int i = 0; i < SORT_COUNT; i++)
			offer(to, vm_sort_name((enum vm_sort)i));
		break;
	case TAKES_THEME:
	case TAKES_CLIPBOARD:
	case TAKES_IMAGE: o->d->ops->offer(o->d->arg, takes, offer, to); break;
	case TAKES_NOTHING:
	case TAKES_TEXT: break;
	}
}

static void find_words(struct dash *d, const struct view *v, const char *line, struct palette_words *out)
{
	struct offering o = {.d = d, .v = v};
	palette_complete(line, offer_words, &o, out);
}

/* Puts a word in the place of the one that is being typed. */
static void put_word(struct line_prompt *p, const char *word, bool whole)
{
	char line[LINE_EDIT_SIZE];
	bool takes =
	    whole && p->words.start == 0 && keymap_action(keymap_action_named(word)).takes != TAKES_NOTHING;
	snprintf(line, sizeof(line), "%.*s%s%s", (int)p->words.start, p->stem, word, takes ? " " : "");
	line_edit_set(&p->edit, line);
}

/* As far as all candidates agree; then through them, one after the other. */
static void complete(struct dash *d, const struct view *v)
{
	struct line_prompt *p = &d->line;
	char common[PALETTE_WORD_SIZE];
	if (p->edit.at != p->edit.len)
		return;
	if (p->chosen != SIZE_MAX && p->words.count > 1) {
		p->chosen = (p->chosen + 1) % p->words.count;
		put_word(p, p->words.words[p->chosen].text, false);
		return;
	}
	memcpy(p->stem, p->edit.text, sizeof(p->stem));
	find_words(d, v, p->edit.text, &p->words);
	palette_common(p->edit.text, &p->words, common);
	if (strlen(common) > strlen(p->edit.text + p->words.start) || p->words.total == 1) {
		put_word(p, common, p->words.total == 1);
	} else if (p->words.count > 0) {
		p->chosen = 0;
		put_word(p, p->words.words[0].text, false);
	}
}

/* ---- keys ---- */

static void changed(struct dash *d)
{
	if (d->line.kind == LINE_FILTER)
		dash_set_filter(d, d->line.edit.text);
	else if (d->line.kind == LINE_SEARCH && d->copy)
		copy_mode_search(d->copy, d->line.edit.text, d->line.back);
}

static void run_line(struct dash *d, struct view *v)
{
	enum action action;
	const char *rest;
	char line[LINE_EDIT_SIZE];
	struct err e = ERR_INIT;
	keep_history(&d->line);
	memcpy(line, d->line.edit.text, sizeof(line));
	if (line[strspn(line, " ")] == '\0')
		return;
	if (palette_parse(line, &action, &rest, &e))
		dash_run_action(d, v, action, rest);
	else
		dash_notice(d, e.msg);
}

static void end_line(struct dash *d, struct view *v, bool accepted)
{
	enum line_kind kind = d->line.kind;
	d->line.kind = LINE_NONE;
	if (kind == LINE_FILTER && !accepted)
		dash_set_filter(d, d->line.was);
	else if (kind == LINE_SEARCH && d->copy)
		copy_mode_search_done(d->copy, !accepted);
	else if (kind == LINE_SEND && accepted)
		dash_send(d, v, d->line.edit.text);
	else if (kind == LINE_PALETTE && accepted)
		run_line(d, v);
}

void dash_line_key(struct dash *d, struct view *v, uint32_t key, unsigned mods)
{
	struct line_prompt *p = &d->line;
	enum action action = keymap_find(&d->settings->keymap, KEYS_PROMPT, key, mods);
	bool empty = p->edit.len == 0;
	if (action == ACTION_EDIT_COMPLETE) {
		if (p->kind == LINE_PALETTE)
			complete(d, v);
		return;
	}
	p->chosen = SIZE_MAX;
	if (action == ACTION_EDIT_ACCEPT || action == ACTION_EDIT_CANCEL)
		end_line(d, v, action == ACTION_EDIT_ACCEPT);
	else if (action == ACTION_EDIT_BACKSPACE && empty)
		end_line(d, v, false);
	else if (action == ACTION_EDIT_UP || action == ACTION_EDIT_DOWN)
		step_history(p, action == ACTION_EDIT_UP ? -1 : 1);
	else if (action != ACTION_NONE)
		line_edit_act(&p->edit, action);
	else if (!(mods & (TERM_ALT | TERM_CTRL)))
		line_edit_insert(&p->edit, key);
	if (p->kind != LINE_NONE)
		changed(d);
}

void dash_line_paste(struct dash *d, struct bytes text)
{
	d->line.chosen = SIZE_MAX;
	line_edit_paste(&d->line.edit, text);
	changed(d);
}

/* ---- the form ---- */

/* Goes on with what came to nothing, unless it is to be another one. */
void dash_form_begin(struct dash *d, const char *name)
{
	if (d->made && !name[0]) {
		d->form = d->made;
		d->made = NULL;
		return;
	}
	d->form = mem_alloc(sizeof(*d->form));
	form_init(d->form, &d->settings->config.defaults, name);
}

struct search {
	const char *word;
	bool any, found;
};

static void look_for(void *arg, const char *word)
{
	struct search *s = arg;
	s->any = true;
	s->found = s->found || strcmp(word, s->word) == 0;
}

/* What the command would refuse, while it can still be mended. Where no images are known it is left to the command. */
static bool form_fits(struct dash *d, const struct view *v)
{
	char problem[LINE_EDIT_SIZE + 64];
	const char *name = d->form->fields[FORM_NAME].text;
	struct search image = {.word = d->form->fields[FORM_IMAGE].text};
	if (dash_find_vm(v, name)) {
		snprintf(problem, sizeof(problem), "a VM is called %s already", name);
		form_refuse(d->form, FORM_NAME, problem);
		return false;
	}
	d->ops->offer(d->arg, TAKES_IMAGE, look_for, &image);
	if (image.any && !image.found) {
		snprintf(problem, sizeof(problem), "there is no image %s", image.word);
		form_refuse(d->form, FORM_IMAGE, problem);
		return false;
	}
	return true;
}

static void make(struct dash *d)
{
	char words[LINE_EDIT_SIZE];
	const char *argv[FORM_ARGV_MOST];
	form_argv(d->form, words, argv);
	d->ops->run(d->arg, argv);
	free(d->made);
	d->made = d->form;
	d->form = NULL;
}

/* It is selected, unless the operator is busy with another one. */
void dash_form_done(struct dash *d, struct view *v)
{
	const char *name = d->made ? d->made->fields[FORM_NAME].text : "";
	if (!d->made || !dash_find_vm(v, name))
		return;
	bool busy = d->typing || d->copy || d->form || d->in_feed || d->line.kind != LINE_NONE ||
	            d->question.action != ACTION_NONE;
	if (!busy)
		dash_select_name(d, v, name);
	free(d->made);
	d->made = NULL;
}

void dash_form_key(struct dash *d, const struct view *v, uint32_t key, unsigned mods)
{
	enum action action = keymap_find(&d->settings->keymap, KEYS_PROMPT, key, mods);
	if (action == ACTION_NONE) {
		if (!(mods & (TERM_ALT | TERM_CTRL)))
			form_insert(d->form, key);
		return;
	}
	enum form_result result = form_act(d->form, action);
	if (result == FORM_ACCEPTED && form_fits(d, v)) {
		make(d);
	} else if (result == FORM_LEFT) {
		dash_notice(d, "nothing was made");
		free(d->form);
		d->form = NULL;
	}
}

/* ---- picture ---- */

static void draw_words(struct dash *d, struct canvas *c, const struct view *v)
{
	struct line_prompt *p = &d->line;
	struct palette_words fresh;
	const struct palette_words *w = &p->words;
	if (p->chosen == SIZE_MAX) {
		find_words(d, v, p->edit.text, &fresh);
		w = &fresh;
	}
	size_t room = (size_t)MAX(MIN(LIST_ROWS_MOST, v->layout.status.row - 1), 0);
	size_t rows = MIN(w->count, room);
	size_t top = p->chosen != SIZE_MAX && p->chosen >= rows ? p->chosen - rows + 1 : 0;
	for (size_t i = 0; i < rows; i++) {
		struct rect r = {
		    .row = v->layout.status.row - (int)(rows - i), .rows = 1, .cols = v->layout.status.cols};
		const struct palette_word *word = &w->words[top + i];
		bool chosen = top + i == p->chosen;
		canvas_fill(c, r, chosen ? STYLE_SELECTED : STYLE_NOTICE, ' ');
		canvas_text(c, r, 1, chosen ? STYLE_SELECTED : STYLE_NOTICE, word->text);
		if (word->help && r.cols >= 40)
			canvas_text_cut(c, r, 18, chosen ? STYLE_SELECTED : STYLE_MUTED, word->help);
	}
}

static void label_of(const struct dash *d, char *out, size_t size)
{
	switch (d->line.kind) {
	case LINE_FILTER: snprintf(out, size, "/"); break;
	case LINE_PALETTE: snprintf(out, size, ":"); break;
	case LINE_SEARCH: snprintf(out, size, "%s", d->line.back ? "?" : "/"); break;
	case LINE_SEND:
		if (d->marked.count > 0)
			snprintf(out, size, "send to %zu marked: ", d->marked.count);
		else
			snprintf(out, size, "send to %s: ", d->selected);
		break;
	case LINE_NONE: out[0] = '\0'; break;
	}
}

void dash_line_draw(struct dash *d, struct canvas *c, const struct view *v)
{
	char label[VM_NAME_MAX + 32];
	struct rect r = v->layout.status;
	if (rect_is_empty(r))
		return;
	if (d->line.kind == LINE_PALETTE)
		draw_words(d, c, v);
	label_of(d, label, sizeof(label));
	canvas_fill(c, r, STYLE_PLAIN, ' ');
	int at = canvas_text(c, r, 0, STYLE_KEY, label);
	if (at >= r.cols - 4) /* too narrow for both: what is typed counts */
		at = 0;
	struct rect rest = {.row = r.row, .col = r.col + at, .rows = 1, .cols = r.cols - at};
	canvas_fill(c, rest, STYLE_PLAIN, ' ');
	line_edit_draw(&d->line.edit, c, rest, STYLE_PLAIN);
}
