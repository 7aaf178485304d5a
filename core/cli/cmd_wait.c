/* wait: until an agent needs somebody, a text is on the screen, or a program ends. Nothing is polled: the supervisor tells
 * each change. */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "core/base/parse.h"
#include "core/base/str.h"
#include "core/cli/cli.h"
#include "core/cli/lines.h"
#include "core/cli/look.h"
#include "core/cli/target.h"
#include "core/client/terminal.h"
#include "core/term/screen.h"
#include "core/term/transcript.h"

#define EXIT_TIMEOUT   124 /* as timeout(1) has it */
#define LINE_MAX_BYTES ((size_t)TERM_ROWS_MAX * TERM_COLS_MAX * 4)

static const struct arg_option OPTIONS[] = {
    {.name = "attention",
     .letter = 'a',
     .kind = ARG_LIST,
     .value = "STATE",
     .help = "working, waiting, idle, finished or failed"},
    {.name = "text",
     .letter = 't',
     .kind = ARG_TEXT,
     .value = "RE",
     .help = "a line of the screen matches RE"},
    {.name = "exit", .letter = 'x', .kind = ARG_FLAG, .help = "the terminal's program ends"},
    {.name = "timeout", .kind = ARG_TEXT, .value = "TIME", .help = "no longer than that (30s, 10m)"},
    {.name = NULL},
};

struct waiting {
	const struct target *target;
	unsigned states; /* a bit for each enum vm_attention_state that is waited for */
	regex_t text;
	bool has_text, met;
	/* What has left the screen since it was looked at: */
	uint64_t top,
	    next_top; /* number of the first line that is not looked at for good, now and after this look */
	bool has_top, looking, again;
	struct transcript *lines; /* owned, while looking */
};

/* ---- attention ---- */

static void on_status(struct look *l, const struct vm_status *s)
{
	struct waiting *w = l->arg;
	bool of_terminal = w->target->term != CLIENT_TERM_FIRST;
	const struct vm_attention *a = of_terminal ? &l->terminal.attention : &s->attention;
	if (!w->states || !(w->states & 1u << a->state))
		return;
	printf("%s%s%s\n", vm_attention_name(a->state), a->text[0] ? ": " : "", a->text);
	w->met = true;
	look_done(l);
}

/* ---- text ---- */

static bool matches(const struct waiting *w, const struct str *line)
{
	if (line->overflow || regexec(&w->text, line->s, 0, NULL, 0) != 0)
		return false;
	printf("%s\n", line->s);
	return true;
}

/* From a number to the end; a line that was wrapped is one line again. */
static bool lines_match(const struct waiting *w, const struct transcript *t, uint64_t from)
{
	struct str line = STR_INIT(LINE_MAX_BYTES);
	uint64_t end = transcript_end(t);
	bool found = false;
	for (uint64_t n = from; n < end && !found; n++) {
		bool wrapped = (lines_text(t, n, &line) & ROW_WRAPPED) != 0;
		if (wrapped && n + 1 < end)
			continue;
		found = matches(w, &line);
		str_clear(&line);
	}
	str_finish(&line);
	return found;
}

static void look_at(struct look *l, const struct screen *s);

static void on_back(struct look *l)
{
	struct waiting *w = l->arg;
	uint64_t from = MAX(w->top, transcript_first(w->lines));
	w->top = w->next_top;
	w->met = lines_match(w, w->lines, from);
	transcript_destroy(w->lines);
	w->lines = NULL;
	w->looking = false;
	if (w->met)
		look_done(l);
	else if (w->again)
		look_at(l, client_term_screen(l->term));
}

/* The screen now and, of what has left its top since the last time, every line: much may pass between two pictures. */
static void look_at(struct look *l, const struct screen *s)
{
	struct waiting *w = l->arg;
	uint64_t top = s->history_first + s->history;
	w->again = w->looking;
	if (w->looking)
		return;
	if (!w->has_top || w->top > top || (s->modes & TERM_ALT_SCREEN))
		w->top = top; /* nothing to look back at */
	w->has_top = w->looking = true;
	w->next_top = top;
	w->lines = transcript_create(s);
	look_back(l, w->lines, w->top, on_back);
}

/* When it is over: the last picture may have come while older lines were waited for. */
static void look_at_last(struct look *l)
{
	struct waiting *w = l->arg;
	if (w->met || !w->has_text || !l->term)
		return;
	struct transcript *t = transcript_create(client_term_screen(l->term));
	w->met = lines_match(w, t, transcript_first(t));
	transcript_destroy(t);
}

static void on_screen(struct look *l, struct screen *s)
{
	struct waiting *w = l->arg;
	if (w->has_text)
		look_at(l, s);
}

/* ---- the command ---- */

static bool parse_states(const struct args *args, unsigned *states, struct err *e)
{
	const struct arg_values *names = args_list(args, "attention");
	for (size_t i = 0; i < names->count; i++) {
		enum vm_attention_state state;
		if (!vm_attention_parse(names->values[i], &state) || state == ATTENTION_NONE)
			return err_set(
			    e, ERR_INVALID,
			    "--attention '%.40s' is not working, waiting, idle, finished or failed",
			    names->values[i]);
		*states |= 1u << state;
	}
	return true;
}

static bool parse_text(struct waiting *w, const char *text, struct err *e)
{
	char why[200];
	int code = text ? regcomp(&w->text, text, REG_EXTENDED | REG_NOSUB) : 0;
	w->has_text = text && code == 0;
	if (code == 0)
		return true;
	regerror(code, &w->text, why, sizeof(why));
	return err_set(e, ERR_INVALID, "--text '%.60s': %s", text, why);
}

static bool parse(const struct args *args, struct waiting *w, struct look *l, struct err *e)
{
	const char *timeout = args_text(args, "timeout");
	int kinds = args_has(args, "attention") + args_has(args, "text") + args_has(args, "exit");
	if (kinds != 1)
		return err_set(e, ERR_INVALID, "give one of --attention, --text and --exit");
	if (timeout && (!parse_duration(timeout, &l->timeout_ms) || l->timeout_ms == 0))
		return err_set(e, ERR_INVALID, "--timeout '%.40s' is no time like 30s", timeout);
	return parse_states(args, &w->states, e) && parse_text(w, args_text(args, "text"), e);
}

static int wait_for_it(struct cli *cli, struct look *l)
{
	struct waiting *w = l->arg;
	struct err e = ERR_INIT;
	enum look_end end = look_run(cli->loop, l, &e);
	look_at_last(l);
	look_close(l);
	transcript_destroy(w->lines);
	if (w->met)
		return CLI_OK;
	if (end == LOOK_TIMEOUT) {
		err_set(&e, ERR_TIMEOUT, "it did not happen in time");
		cli_error(cli, &e);
		return EXIT_TIMEOUT;
	}
	if (end == LOOK_ENDED && !w->states && !w->has_text)
		return l->signum ? 128 + (int)l->signum : (int)(l->code & 0xff);
	if (end == LOOK_ENDED)
		err_set(&e, ERR_GONE, "the program in the terminal ended before");
	return cli_error(cli, &e);
}

static int run(struct cli *cli, struct args *args)
{
	struct target target;
	struct waiting w = {.target = &target};
	struct look look = {.target = &target, .on_status = on_status, .on_screen = on_screen, .arg = &w};
	struct err e = ERR_INIT;
	int status;
	if (!target_parse(args->words[0], &target, &e) || !parse(args, &w, &look, &e)) {
		status = cli_usage_error(cli, &e);
	} else if (!target_find(args->words[0], &target, &e)) {
		status = cli_error(cli, &e);
	} else {
		look.wants_terminal = !w.states || target.term != CLIENT_TERM_FIRST;
		status = wait_for_it(cli, &look);
	}
	if (w.has_text)
		regfree(&w.text);
	return status;
}

const struct command command_wait = {
    .name = "wait",
    .usage = TARGET_USAGE " --attention STATE... | --text RE | --exit  [--timeout TIME]",
    .summary = "wait until an agent needs you, a text is on the screen, or a program ends",
    .details =
        "What is the case already counts. --attention is that of the VM when no terminal is named, and may "
        "be given several\n"
        "times for any of several states; what was met is printed. --text is a POSIX extended regular "
        "expression for one\n"
        "line of the terminal, on its screen or from now on (a line that was wrapped is one line); the line "
        "is printed.\n"
        "Exit status: 0 it happened; 1 it cannot any more (the program ended, the VM went away); 124 not in "
        "time;\n"
        "of --exit the program's own, 128 + n when signal n ended it.\n"
        "    ccvm wait alpha --attention waiting --attention finished --timeout 1h && notify-send alpha\n",
    .options = OPTIONS,
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
