/* log: what VMs were let through to and what they were refused, or what their consoles said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/audit/reader.h"
#include "core/base/escape.h"
#include "core/base/mem.h"
#include "core/cli/cli.h"
#include "core/cli/format.h"
#include "core/cli/setup.h"
#include "core/cli/vm_list.h"
#include "core/client/tail.h"
#include "core/config/paths.h"
#include "core/loop/follow.h"
#include "core/loop/loop.h"

/* The logs are read through `follow`, to their end at first. Several logs are put in the order of time, so their lines are
 * kept until all are read; the lines of one are printed as they come, unless only the last ones are wanted. What is
 * kept is bounded: the oldest go. After that, with -f, everything is printed as it arrives. */

#define KEEP_MOST     100000
#define CONSOLE_LINES 50

static const struct arg_option OPTIONS[] = {
    {.name = "all", .letter = 'a', .kind = ARG_FLAG, .help = "of all VMs"},
    {.name = "follow", .letter = 'f', .kind = ARG_FLAG, .help = "go on as the log grows"},
    {.name = "denied", .letter = 'd', .kind = ARG_FLAG, .help = "only what was refused"},
    {.name = "json", .kind = ARG_FLAG, .help = "the records as they are: JSON Lines"},
    {.name = "lines", .letter = 'n', .kind = ARG_TEXT, .value = "N", .help = "only the last N"},
    {.name = "console", .letter = 'c', .kind = ARG_FLAG, .help = "the VM's console instead (50 lines)"},
    {.name = NULL},
};

struct kept {
	int64_t time_ms;
	size_t order; /* of arrival, among equal times */
	char *text;   /* owned; as it will be printed */
};

struct view {
	struct source *sources; /* owned */
	size_t source_count, caught_up;
	bool follow, denied, json, console, several;
	bool live;      /* what was there is printed */
	bool streaming; /* nothing is kept */
	size_t keep;
	struct kept *kept; /* owned; a ring once it is full */
	size_t count, arrivals;
	bool broken; /* nobody reads our output */
};

struct source {
	struct view *view;
	const char *vm; /* borrowed */
	struct follow *follow;
	bool caught_up;
};

/* ---- one record as text ---- */

static void describe_close(const struct audit_record *r, char *out, size_t size)
{
	char up[FORMAT_SIZE], down[FORMAT_SIZE], took[FORMAT_SIZE];
	format_bytes(up, r->up);
	format_bytes(down, r->down);
	format_seconds(took, r->ms);
	snprintf(out, size, "%s out, %s in, %s, %s", up, down, took, audit_end_name(r->end));
}

static void describe(const struct audit_record *r, char *out, size_t size)
{
	char detail[2 * AUDIT_DETAIL_MAX];
	escape_text(detail, sizeof(detail), r->detail, strlen(r->detail));
	const char *why = r->why == AUDIT_WHY_NONE ? "" : audit_why_text(r->why);
	if (r->event == AUDIT_CLOSE)
		describe_close(r, out, size);
	else if (r->event == AUDIT_START || r->event == AUDIT_POLICY)
		snprintf(out, size, "%llu rule%s%s%s", (unsigned long long)r->rules, r->rules == 1 ? "" : "s",
		         detail[0] ? ": " : "", detail);
	else
		snprintf(out, size, "%s%s%s", why, why[0] && detail[0] ? ": " : "", detail);
}

static void target_of(const struct audit_record *r, char *out, size_t size)
{
	if (r->host[0] && r->port) {
		char host[2 * sizeof(r->host)];
		escape_text(host, sizeof(host), r->host, strlen(r->host));
		snprintf(out, size, "%s:%u", host, r->port);
	} else if (r->host[0]) {
		escape_text(out, size, r->host, strlen(r->host));
	} else {
		escape_text(out, size, r->raw, MIN(r->raw_len, sizeof(r->raw)));
	}
}

static char *format_record(const struct view *v, const char *vm, const struct audit_record *r)
{
	char when[FORMAT_SIZE], target[600], text[600];
	format_moment(when, r->t_ms);
	target_of(r, target, sizeof(target));
	describe(r, text, sizeof(text));
	const char *event = r->event == AUDIT_DENY ? "DENIED" : audit_event_name(r->event);
	if (v->several)
		return mem_printf("%s  %-12s  %-9s  %-30s  %s", when, vm, event, target, text);
	return mem_printf("%s  %-9s  %-30s  %s", when, event, target, text);
}

/* ---- collecting ---- */

static void print_line(struct view *v, const char *text)
{
	size_t len = strlen(text);
	while (len && text[len - 1] == ' ')
		len--;
	printf("%.*s\n", (int)len, text);
	if (v->live && fflush(stdout) != 0)
		v->broken = true; /* told when the command ends */
}

static void keep(struct view *v, int64_t time_ms, char *text)
{
	size_t at = v->arrivals % v->keep;
	if (v->count < v->keep) {
		v->kept = mem_resize(v->kept, v->count + 1, sizeof(*v->kept));
		at = v->count++;
	} else {
		free(v->kept[at].text);
	}
	v->kept[at] = (struct kept){.time_ms = time_ms, .order = v->arrivals++, .text = text};
}

static void take(struct view *v, int64_t time_ms, char *text)
{
	if (!v->live && !v->streaming) {
		keep(v, time_ms, text);
		return;
	}
	print_line(v, text);
	free(text);
}

static void on_console_line(struct view *v, const char *line, size_t len)
{
	char text[4 * 512];
	if (len && line[len - 1] == '\r')
		len--;
	escape_text(text, sizeof(text), line, len);
	take(v, 0, mem_strdup(text));
}

static void on_line(void *arg, const char *line, size_t len)
{
	struct source *s = arg;
	struct view *v = s->view;
	struct audit_record r;
	if (v->console) {
		on_console_line(v, line, len);
		return;
	}
	if (!audit_parse(line, len, &r) || (v->denied && r.event != AUDIT_DENY))
		return;
	take(v, r.t_ms, v->json ? mem_printf("%.*s", (int)len, line) : format_record(v, s->vm, &r));
}

static void on_caught_up(void *arg)
{
	struct source *s = arg;
	if (!s->caught_up)
		s->view->caught_up++;
	s->caught_up = true;
}

static const struct follow_ops FOLLOW_OPS = {.on_line = on_line, .on_caught_up = on_caught_up};

static int by_time(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	if (x->time_ms != y->time_ms)
		return x->time_ms < y->time_ms ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void print_kept(struct view *v, size_t most)
{
	if (v->count)
		qsort(v->kept, v->count, sizeof(*v->kept), by_time);
	for (size_t i = v->count > most ? v->count - most : 0; i < v->count; i++)
		print_line(v, v->kept[i].text);
	for (size_t i = 0; i < v->count; i++)
		free(v->kept[i].text);
	free(v->kept);
	v->kept = NULL;
	v->count = 0;
}

/* ---- the command ---- */

static bool open_source(struct cli *cli, struct view *v, struct source *s, const char *vm, uint64_t lines,
                        struct err *e)
{
	char *dir FREE_ON_EXIT = paths_vm_state(vm);
	char *path FREE_ON_EXIT = paths_join(dir, v->console ? "console.log" : "audit.jsonl");
	bool only_last = v->console || (lines < KEEP_MOST && !v->denied);
	uint64_t from = only_last ? tail_offset(path, (size_t)lines, UINT64_MAX) : FOLLOW_START;
	*s = (struct source){.view = v, .vm = vm};
	s->follow = follow_open(cli->loop, path, from, &FOLLOW_OPS, s, e);
	return s->follow != NULL;
}

static int show(struct cli *cli, struct view *v, const char *const *vms, size_t count, uint64_t lines)
{
	struct err e = ERR_INIT;
	v->several = count > 1;
	v->streaming = v->console || (count == 1 && lines == KEEP_MOST);
	v->keep = count > 1 ? KEEP_MOST : (size_t)lines;
	v->sources = mem_array(count, sizeof(*v->sources));
	bool fine = true;
	for (; fine && v->source_count < count; v->source_count++)
		fine = open_source(cli, v, &v->sources[v->source_count], vms[v->source_count], lines, &e);
	while (fine && v->caught_up < v->source_count)
		loop_turn(cli->loop, false);
	print_kept(v, (size_t)lines);
	v->live = true;
	v->broken = fflush(stdout) != 0;
	while (fine && v->follow && !v->broken)
		loop_turn(cli->loop, false);
	for (size_t i = 0; i < v->source_count; i++)
		follow_close(v->sources[i].follow);
	free(v->sources);
	return fine ? CLI_OK : cli_error(cli, &e);
}

static int show_all(struct cli *cli, struct view *v, uint64_t lines)
{
	struct vm_list list;
	struct err e = ERR_INIT;
	if (!vm_list_get(cli->loop, &list, &e))
		return cli_error(cli, &e);
	const char **vms = mem_array(list.count, sizeof(*vms));
	for (size_t i = 0; i < list.count; i++)
		vms[i] = list.items[i].name;
	int status = show(cli, v, vms, list.count, lines);
	free(vms);
	vm_list_finish(&list);
	return status;
}

static int run(struct cli *cli, struct args *args)
{
	struct view v = {.follow = args_has(args, "follow"),
	                 .denied = args_has(args, "denied"),
	                 .json = args_has(args, "json"),
	                 .console = args_has(args, "console")};
	struct err e = ERR_INIT;
	bool all = args_has(args, "all");
	uint64_t lines;
	if (!args_number(args, "lines", 1, KEEP_MOST, v.console ? CONSOLE_LINES : KEEP_MOST, &lines, &e))
		return cli_usage_error(cli, &e);
	if (all == (args->word_count > 0) || (v.console && all)) {
		err_set(&e, ERR_INVALID,
		        v.console ? "--console is of one VM: give its name"
		                  : "give the name of a VM, or --all");
		return cli_usage_error(cli, &e);
	}
	if (v.console && (v.json || v.denied)) {
		err_set(&e, ERR_INVALID, "--console does not go with --json or --denied");
		return cli_usage_error(cli, &e);
	}
	if (all)
		return show_all(cli, &v, lines);
	if (!setup_check_vm(args->words[0], &e))
		return cli_error(cli, &e);
	return show(cli, &v, args->words, 1, lines);
}

const struct command command_log = {
    .name = "log",
    .usage = "NAME | --all  [-f] [--denied] [--json] [-n N] [--console]",
    .summary = "show what VMs reached and what they were refused",
    .details = "Times are local. --json prints the records of the audit log as they are (UTC). Of several "
               "VMs at most the\n"
               "last 100000 records are shown. --console escapes whatever the guest printed.\n",
    .options = OPTIONS,
    .max_words = 1,
    .run = run,
};
