/* What the status says of a terminal. The title is the guest's: the emulator hands it on as printable UTF-8. */
#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/supervisor/board.h"
#include "core/supervisor/terminals_internal.h"

static_assert(TERMINALS_MOST == VM_TERMINALS_MOST, "every terminal has its place in the status");

/* The program's own name and what it was given, as people would call it. */
static void describe_command(struct bytes argv, char *out, size_t size)
{
	char line[128];
	size_t len = 0;
	const char *words = (const char *)argv.p;
	if (argv.len == 0) {
		memcpy(out, "shell", 6);
		return;
	}
	const char *slash = memrchr(words, '/', strnlen(words, argv.len));
	for (const char *p = slash ? slash + 1 : words; p < words + argv.len - 1 && len < sizeof(line); p++)
		line[len++] = *p ? *p : ' ';
	escape_text(out, size, line, len);
}

void term_entry_add(struct terminal *t, struct bytes argv)
{
	struct vm_status *v = board_edit(t->owner->board);
	CHECK(v->terminal_count < VM_TERMINALS_MOST);
	struct vm_terminal *entry = &v->terminal[v->terminal_count++]; /* numbers only grow: in order */
	*entry = (struct vm_terminal){.number = t->number, .first = t->first};
	describe_command(argv, entry->command, sizeof(entry->command));
	term_entry_update(t);
	board_changed(t->owner->board);
}

void term_entry_remove(struct terminal *t)
{
	struct vm_status *v = board_edit(t->owner->board);
	struct vm_terminal *entry = board_terminal(t->owner->board, t->number);
	size_t behind = (size_t)(&v->terminal[v->terminal_count] - (entry + 1));
	memmove(entry, entry + 1, behind * sizeof(*entry));
	v->terminal_count--;
	board_changed(t->owner->board);
}

void term_entry_update(struct terminal *t)
{
	struct vm_terminal *entry = board_terminal(t->owner->board, t->number);
	uint16_t rows = (uint16_t)emulator_rows(t->emulator), cols = (uint16_t)emulator_cols(t->emulator);
	uint64_t stamp = emulator_title_stamp(t->emulator);
	uint32_t watchers = 0;
	LIST_FOREACH (item, &t->watches)
		watchers++;
	if (entry->rows == rows && entry->cols == cols && entry->watchers == watchers &&
	    t->title_stamp == stamp)
		return;
	entry->rows = rows;
	entry->cols = cols;
	entry->watchers = watchers;
	t->title_stamp = stamp;
	snprintf(entry->title, sizeof(entry->title), "%s", emulator_title(t->emulator));
	board_changed(t->owner->board);
}
