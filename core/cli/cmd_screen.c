/* screen: what a terminal of a VM shows, and what has left its top. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/cli/cli.h"
#include "core/cli/format.h"
#include "core/cli/lines.h"
#include "core/cli/look.h"
#include "core/cli/target.h"
#include "core/client/terminal.h"
#include "core/term/screen.h"
#include "core/term/svg.h"
#include "core/term/transcript.h"
#include "core/term/tty.h"

#define HISTORY_MOST 1000000
#define TEXT_MOST    ((size_t)512 * 1024 * 1024)

static const struct arg_option OPTIONS[] = {
    {.name = "ansi", .kind = ARG_FLAG, .help = "with colours and styles"},
    {.name = "json", .kind = ARG_FLAG, .help = "as JSON: lines, cursor, size, title, modes, attention"},
    {.name = "svg", .kind = ARG_FLAG, .help = "as a picture"},
    {.name = "history",
     .letter = 'H',
     .kind = ARG_TEXT,
     .value = "N",
     .help = "and at most N lines that have left its top"},
    {.name = NULL},
};

/* The first whole screen is copied; history is asked for until there is enough, which the guest's further output does not
 * disturb: lines have numbers. */
struct shot {
	struct screen screen;
	struct transcript *lines; /* NULL until a screen came */
	uint64_t history;         /* lines wanted */
	struct look *look;
};

static uint64_t first_wanted(const struct shot *s)
{
	uint64_t screen = transcript_end(s->lines) - s->screen.rows;
	return screen > s->history ? screen - s->history : 0;
}

static void on_screen(struct look *l, struct screen *now)
{
	struct shot *s = l->arg;
	if (s->lines)
		return;
	screen_copy(&s->screen, now);
	s->lines = transcript_create(now);
	look_back(l, s->lines, first_wanted(s), look_done);
}

/* ---- the forms ---- */

static uint64_t first_line(const struct shot *s)
{
	return MAX(transcript_first(s->lines), first_wanted(s));
}

/* Calls `put` for each line, empty ones at the end left out. */
static void for_each_line(const struct shot *s, void (*put)(const struct screen *line, void *out), void *out)
{
	uint64_t end = transcript_end(s->lines), first = first_line(s);
	struct screen line;
	struct str text = STR_INIT(TERM_COLS_MAX * CELL_UTF8_MAX);
	for (; end > first; end--) {
		lines_take(s->lines, end - 1, s->screen.cols, &line);
		str_clear(&text);
		screen_row_text(&line, 0, &text);
		bool blank = text.len == 0 && cell_is_blank(&line.cells[0]);
		screen_finish(&line);
		if (!blank)
			break;
	}
	for (uint64_t n = first; n < end; n++) {
		lines_take(s->lines, n, s->screen.cols, &line);
		put(&line, out);
		screen_finish(&line);
	}
	str_finish(&text);
}

static void put_plain(const struct screen *line, void *out)
{
	screen_row_text(line, 0, out);
	str_append_char(out, '\n');
}

static void put_ansi(const struct screen *line, void *out)
{
	static const struct tty_caps CAPS = {.colours = 256, .truecolor = true};
	struct buf bytes = BUF_INIT(1 << 20);
	tty_dump(line, &CAPS, &bytes);
	size_t len = bytes.len >= 2 ? bytes.len - 2 : 0; /* CR LF is for terminals */
	str_append_bytes(out, (const char *)bytes.data, len);
	str_append_char(out, '\n');
	buf_finish(&bytes);
}

static void put_json(const struct screen *line, void *out)
{
	struct str text = STR_INIT(TERM_COLS_MAX * CELL_UTF8_MAX);
	cJSON *o = cJSON_CreateObject();
	screen_row_text(line, 0, &text);
	cJSON_AddStringToObject(o, "text", text.s);
	cJSON_AddBoolToObject(o, "wrapped", (line->flags[0] & ROW_WRAPPED) != 0);
	cJSON_AddBoolToObject(o, "prompt", (line->flags[0] & ROW_PROMPT) != 0);
	cJSON_AddItemToArray(out, o);
	str_finish(&text);
}

static void print_text(const struct shot *s, bool ansi)
{
	struct str text = STR_INIT(TEXT_MOST);
	for_each_line(s, ansi ? put_ansi : put_plain, &text);
	fputs(text.s, stdout);
	str_finish(&text);
}

static void add_modes(cJSON *o, unsigned modes)
{
	static const struct {
		unsigned mode;
		const char *name;
	} NAMES[] = {
	    {TERM_ALT_SCREEN, "alternate_screen"},
	    {TERM_BRACKETED_PASTE, "bracketed_paste"},
	    {TERM_APP_CURSOR, "application_cursor"},
	    {TERM_APP_KEYPAD, "application_keypad"},
	    {TERM_FOCUS_EVENTS, "focus_events"},
	    {TERM_REVERSE_VIDEO, "reverse_video"},
	    {TERM_MOUSE_CLICK | TERM_MOUSE_DRAG | TERM_MOUSE_MOVE, "mouse"},
	};
	cJSON *all = cJSON_AddObjectToObject(o, "modes");
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		cJSON_AddBoolToObject(all, NAMES[i].name, (modes & NAMES[i].mode) != 0);
}

static void add_attention(cJSON *o, const struct vm_attention *a)
{
	cJSON *attention = cJSON_AddObjectToObject(o, "attention");
	cJSON_AddStringToObject(attention, "state", vm_attention_name(a->state));
	cJSON_AddStringToObject(attention, "source", vm_attention_source_name(a->source));
	cJSON_AddBoolToObject(attention, "seen", a->seen);
	format_add_time(attention, "since", a->at_ms);
	cJSON_AddStringToObject(attention, "text", a->text);
}

static void print_json(const struct shot *s)
{
	const struct vm_terminal *t = &s->look->terminal;
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "vm", s->look->target->vm);
	cJSON_AddNumberToObject(o, "terminal", t->number);
	cJSON_AddStringToObject(o, "command", t->command);
	cJSON_AddStringToObject(o, "title", s->screen.title);
	cJSON_AddNumberToObject(o, "rows", s->screen.rows);
	cJSON_AddNumberToObject(o, "cols", s->screen.cols);
	cJSON *cursor = cJSON_AddObjectToObject(o, "cursor");
	cJSON_AddNumberToObject(cursor, "row", s->screen.cursor.row);
	cJSON_AddNumberToObject(cursor, "col", s->screen.cursor.col);
	cJSON_AddBoolToObject(cursor, "visible", s->screen.cursor.visible);
	add_modes(o, s->screen.modes);
	add_attention(o, &t->attention);
	/* The line of row 0; with the cursor's row this finds it among the lines. */
	uint64_t screen = transcript_end(s->lines) - s->screen.rows;
	cJSON_AddNumberToObject(o, "history", (double)(screen - first_line(s)));
	cJSON *lines = cJSON_AddArrayToObject(o, "lines");
	for (uint64_t n = first_line(s); n < transcript_end(s->lines); n++) {
		struct screen line;
		lines_take(s->lines, n, s->screen.cols, &line);
		put_json(&line, lines);
		screen_finish(&line);
	}
	format_print_json(o);
}

/* History and screen as one tall screen. */
static void print_svg(const struct shot *s)
{
	struct svg_look look = SVG_LOOK_DARK;
	struct str text = STR_INIT(SVG_TEXT_MAX);
	struct screen tall;
	uint64_t first = first_line(s);
	unsigned history = (unsigned)(transcript_end(s->lines) - first) - s->screen.rows;
	screen_init(&tall, history + s->screen.rows, s->screen.cols);
	for (unsigned row = 0; row < tall.rows; row++) {
		struct screen line;
		lines_take(s->lines, first + row, s->screen.cols, &line);
		for (unsigned col = 0; col < tall.cols; col++)
			tall.cells[(size_t)row * tall.cols + col] =
			    clusters_copy_cell(&tall.clusters, &line.clusters, screen_cell(&line, 0, col));
		screen_finish(&line);
	}
	tall.modes = s->screen.modes;
	tall.cursor = s->screen.cursor;
	tall.cursor.row = (uint16_t)(tall.cursor.row + history);
	look.cursor = true;
	look.title = s->screen.title[0] ? s->screen.title : s->look->target->vm;
	svg_draw(&tall, &look, &text);
	fputs(text.s, stdout);
	str_finish(&text);
	screen_finish(&tall);
}

/* ---- the command ---- */

static bool parse(const struct args *args, struct shot *s, struct err *e)
{
	bool svg = args_has(args, "svg");
	if (args_has(args, "ansi") + args_has(args, "json") + svg > 1)
		return err_set(e, ERR_INVALID, "give one of --ansi, --json and --svg");
	/* A picture of ten thousand lines is none. */
	return args_number(args, "history", 0, svg ? TERM_ROWS_MAX : HISTORY_MOST, 0, &s->history, e);
}

static int run(struct cli *cli, struct args *args)
{
	struct target target;
	struct shot s = {.history = 0};
	struct look look = {.target = &target, .wants_terminal = true, .on_screen = on_screen, .arg = &s};
	struct err e = ERR_INIT;
	int status = CLI_OK;
	if (!target_parse(args->words[0], &target, &e) || !parse(args, &s, &e))
		return cli_usage_error(cli, &e);
	if (!target_find(args->words[0], &target, &e))
		return cli_error(cli, &e);
	s.look = &look;
	screen_init(&s.screen, 1, 2);
	enum look_end end = look_run(cli->loop, &look, &e);
	if (end == LOOK_ENDED)
		err_set(&e, ERR_GONE, "the program in the terminal ended");
	if (end != LOOK_DONE)
		status = cli_error(cli, &e);
	else if (args_has(args, "json"))
		print_json(&s);
	else if (args_has(args, "svg"))
		print_svg(&s);
	else
		print_text(&s, args_has(args, "ansi"));
	look_close(&look);
	transcript_destroy(s.lines);
	screen_finish(&s.screen);
	return status;
}

const struct command command_screen = {
    .name = "screen",
    .usage = TARGET_USAGE " [--ansi | --json | --svg] [--history N]",
    .summary = "print what a VM's terminal shows",
    .details = "Its size is left as it is, and no terminal is started. Empty lines at the end are left out, "
               "but not from\n"
               "JSON, whose `history` counts the lines before the screen's first.\n",
    .options = OPTIONS,
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
