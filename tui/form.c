#include "tui/form.h"

#include <stdio.h>
#include <string.h>

#include "core/base/parse.h"
#include "core/egress/rule.h"
#include "tui/box.h"

#define LABEL_COLS 9
#define FORM_COLS  60

static const struct {
	const char *label, *hint;
} FIELDS[FORM_FIELD_COUNT] = {
    [FORM_NAME] = {"name", "letters, digits and -"},
    [FORM_IMAGE] = {"image", "what it is made from"},
    [FORM_ALLOW] = {"allow", "hosts that it may reach, blanks between"},
    [FORM_MEMORY] = {"memory", "512M, 2G"},
    [FORM_CPUS] = {"cpus", "how many"},
    [FORM_DISK] = {"disk", "the most that its files may take"},
};

static void set_size(struct line_edit *l, uint64_t bytes)
{
	static const char UNITS[] = "TGMK";
	char text[32];
	int unit = 0, shift = 40;
	while (shift > 0 && bytes % (1ull << shift) != 0) {
		shift -= 10;
		unit++;
	}
	if (shift > 0)
		snprintf(text, sizeof(text), "%llu%c", (unsigned long long)(bytes >> shift), UNITS[unit]);
	else
		snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	line_edit_set(l, text);
}

void form_init(struct form *f, const struct vm_spec *defaults, const char *name)
{
	char cpus[16];
	*f = (struct form){.at = FORM_NAME};
	snprintf(cpus, sizeof(cpus), "%u", defaults->cpus);
	line_edit_set(&f->fields[FORM_NAME], name);
	line_edit_set(&f->fields[FORM_IMAGE], defaults->image);
	set_size(&f->fields[FORM_MEMORY], defaults->memory_bytes);
	line_edit_set(&f->fields[FORM_CPUS], cpus);
	set_size(&f->fields[FORM_DISK], defaults->disk_bytes);
}

/* ---- what is right ---- */

static bool check_hosts(const char *text, struct err *e)
{
	int count = 0;
	for (const char *at = text + strspn(text, " "); *at;) {
		struct rule rule;
		size_t len = strcspn(at, " ");
		if (!rule_parse_host(RULE_ALLOW, at, len, &rule, e))
			return false;
		if (++count > (FORM_ARGV_MOST - 12) / 2)
			return err_set(e, ERR_INVALID, "too many hosts for one line");
		at += len;
		at += strspn(at, " ");
	}
	return true;
}

static bool check_field(const struct form *f, enum form_field field, struct err *e)
{
	const char *text = f->fields[field].text;
	uint64_t n;
	switch (field) {
	case FORM_NAME: return parse_name("VM name", text, e);
	case FORM_IMAGE: return parse_name("image name", text, e);
	case FORM_ALLOW: return check_hosts(text, e);
	case FORM_CPUS:
		return parse_u64(text, 1, VM_CPUS_MAX, &n) ||
		       err_set(e, ERR_INVALID, "cpus: 1 to %d", VM_CPUS_MAX);
	case FORM_MEMORY:
		return (parse_size(text, &n) && n >= VM_MEMORY_MIN && n <= VM_MEMORY_MAX) ||
		       err_set(e, ERR_INVALID, "memory: a size like 512M or 2G, 128M at least");
	case FORM_DISK:
		return (parse_size(text, &n) && n >= VM_DISK_MIN && n <= VM_DISK_MAX) ||
		       err_set(e, ERR_INVALID, "disk: a size like 4G, 64M at least");
	case FORM_FIELD_COUNT: break;
	}
	return true;
}

void form_refuse(struct form *f, enum form_field field, const char *problem)
{
	f->at = (int)field;
	snprintf(f->problem, sizeof(f->problem), "%s", problem);
}

/* The first field that is wrong gets the cursor. */
static bool check(struct form *f)
{
	for (int i = 0; i < FORM_FIELD_COUNT; i++) {
		struct err e = ERR_INIT;
		if (!check_field(f, (enum form_field)i, &e)) {
			form_refuse(f, (enum form_field)i, e.msg);
			return false;
		}
	}
	return true;
}

/* ---- keys ---- */

static void go(struct form *f, int by)
{
	f->at = (f->at + by + FORM_FIELD_COUNT) % FORM_FIELD_COUNT;
}

enum form_result form_act(struct form *f, enum action action)
{
	f->problem[0] = '\0';
	if (line_edit_act(&f->fields[f->at], action))
		return FORM_STAYS;
	switch ((int)action) {
	case ACTION_EDIT_CANCEL: return FORM_LEFT;
	case ACTION_EDIT_UP: go(f, -1); break;
	case ACTION_EDIT_DOWN:
	case ACTION_EDIT_COMPLETE: go(f, 1); break;
	case ACTION_EDIT_ACCEPT: return check(f) ? FORM_ACCEPTED : FORM_STAYS;
	default: break;
	}
	return FORM_STAYS;
}

void form_insert(struct form *f, uint32_t code)
{
	f->problem[0] = '\0';
	line_edit_insert(&f->fields[f->at], code);
}

void form_paste(struct form *f, struct bytes text)
{
	line_edit_paste(&f->fields[f->at], text);
}

void form_argv(const struct form *f, char words[LINE_EDIT_SIZE], const char *argv[FORM_ARGV_MOST])
{
	static const char *const OPTIONS[FORM_FIELD_COUNT] = {[FORM_IMAGE] = "--image",
	                                                      [FORM_MEMORY] = "--memory",
	                                                      [FORM_CPUS] = "--cpus",
	                                                      [FORM_DISK] = "--disk"};
	size_t n = 0;
	argv[n++] = "up";
	argv[n++] = f->fields[FORM_NAME].text;
	for (int i = 0; i < FORM_FIELD_COUNT; i++) {
		if (!OPTIONS[i])
			continue;
		argv[n++] = OPTIONS[i];
		argv[n++] = f->fields[i].text;
	}
	memcpy(words, f->fields[FORM_ALLOW].text, LINE_EDIT_SIZE);
	char *save = NULL;
	for (char *host = strtok_r(words, " ", &save); host && n + 3 <= FORM_ARGV_MOST;
	     host = strtok_r(NULL, " ", &save)) {
		argv[n++] = "--allow";
		argv[n++] = host;
	}
	argv[n] = NULL;
}

/* ---- picture ---- */

void form_draw(const struct form *f, struct canvas *c, const struct keymap *keys)
{
	char foot[3 * KEYMAP_KEYS_SIZE], done[KEYMAP_KEYS_SIZE], leave[KEYMAP_KEYS_SIZE],
	    next[KEYMAP_KEYS_SIZE];
	keymap_key_of(keys, ACTION_EDIT_ACCEPT, KEYS_PROMPT, done);
	keymap_key_of(keys, ACTION_EDIT_CANCEL, KEYS_PROMPT, leave);
	keymap_key_of(keys, ACTION_EDIT_COMPLETE, KEYS_PROMPT, next);
	snprintf(foot, sizeof(foot), "%s makes it  %s next  %s leaves", done, next, leave);
	struct rect inner = box_draw(c, FORM_FIELD_COUNT + 1, FORM_COLS, "New VM", foot);
	int top = MAX(MIN(f->at + 2 - inner.rows, f->at),
	              0); /* on a short screen the field that is edited is seen */
	for (int row = 0; row < inner.rows && top + row < FORM_FIELD_COUNT; row++) {
		int i = top + row;
		struct rect line = rect_row(inner, row), value = line;
		value.col += LABEL_COLS;
		value.cols = MAX(value.cols - LABEL_COLS, 0);
		canvas_text(c, line, 0, i == f->at ? STYLE_KEY : STYLE_MUTED, FIELDS[i].label);
		if (i == f->at)
			line_edit_draw(&f->fields[i], c, value, STYLE_PLAIN);
		else
			canvas_text_cut(c, value, 0, STYLE_PLAIN, f->fields[i].text);
		if (i == f->at && f->fields[i].len == 0)
			canvas_text_cut(c, value, 1, STYLE_MUTED, FIELDS[i].hint);
	}
	struct rect last = rect_row(inner, inner.rows - 1);
	if (f->problem[0])
		canvas_fill(c, last, STYLE_PLAIN, ' ');
	canvas_text_cut(c, last, 0, STYLE_STATE_FAILED, f->problem);
}
