/* send: what an operator would type, from a script. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/escape.h"
#include "core/base/mem.h"
#include "core/cli/cli.h"
#include "core/cli/setup.h"
#include "core/cli/target.h"
#include "core/client/send.h"
#include "core/loop/loop.h"
#include "core/term/keys.h"

#define PIECE ((size_t)64 * 1024) /* of standard input */

static const struct arg_option OPTIONS[] = {
    {.name = "key",
     .letter = 'k',
     .kind = ARG_LIST,
     .value = "NAME",
     .help = "a key: C-c, Escape, F5, M-x, Up"},
    {.name = "enter", .letter = 'e', .kind = ARG_FLAG, .help = "Enter at the end"},
    {.name = "paste", .letter = 'p', .kind = ARG_FLAG, .help = "the text as pastes"},
    {.name = NULL},
};

struct outgoing {
	struct send_item *items; /* owned; texts are in `text`, one behind the other, until finish_items */
	size_t count;
	struct buf text;
	bool has_input; /* `-` was there */
	enum send_kind text_kind;
};

static void add(struct outgoing *o, struct send_item item)
{
	o->items = mem_resize(o->items, o->count + 1, sizeof(item));
	o->items[o->count++] = item;
}

/* What was put into `text` since it had this length: part of the item before when that is a text, too. */
static void added_text(struct outgoing *o, size_t since)
{
	size_t len = o->text.len - since;
	if (o->count && o->items[o->count - 1].kind == o->text_kind)
		o->items[o->count - 1].len += len;
	else if (len)
		add(o, (struct send_item){.kind = o->text_kind, .len = len});
}

static void add_text(struct outgoing *o, const char *text)
{
	size_t since = o->text.len;
	buf_put(&o->text, text, strlen(text));
	added_text(o, since);
}

static void finish_items(struct outgoing *o)
{
	const char *at = (const char *)o->text.data;
	for (size_t i = 0; i < o->count; i++) {
		if (o->items[i].kind == SEND_KEY)
			continue;
		o->items[i].bytes = at;
		at += o->items[i].len;
	}
}

static bool add_key(struct outgoing *o, const char *name, struct err *e)
{
	struct send_item item = {.kind = SEND_KEY};
	char shown[64];
	if (key_parse(name, &item.key, &item.mods)) {
		add(o, item);
		return true;
	}
	escape_text(shown, sizeof(shown), name, strlen(name));
	return err_set(e, ERR_INVALID, "'%s' is no key (C-c, M-x, Enter, Escape, Tab, Up, PageUp, F5...)",
	               shown);
}

static bool read_input(struct outgoing *o, struct err *e)
{
	size_t since = o->text.len;
	ssize_t n = 1;
	if (o->has_input)
		return err_set(e, ERR_INVALID, "- is given twice");
	o->has_input = true;
	while (n > 0) {
		uint8_t *to = buf_reserve(&o->text, PIECE);
		n = to ? read(STDIN_FILENO, to, PIECE) : 0;
		if (n > 0)
			buf_commit(&o->text, (size_t)n);
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	added_text(o, since);
	return n == 0 || err_sys(e, errno, "read standard input");
}

/* Words that follow each other are one text with a blank between, as echo has it. */
static bool add_word(struct outgoing *o, const char *word, bool follows_word, struct err *e)
{
	if (strcmp(word, "-") == 0)
		return read_input(o, e);
	if (follows_word)
		add_text(o, " ");
	add_text(o, word);
	return true;
}

/* In the order of the command line; what stands behind "--" is text whatever it looks like. */
static bool collect(const struct args *args, struct outgoing *o, struct err *e)
{
	const struct arg_values *keys = args_list(args, "key");
	size_t key = 0, word = 1;
	bool follows_word = false;
	while (key < keys->count || word < args->word_count) {
		bool is_key = key < keys->count &&
		              (word == args->word_count || keys->places[key] < args->word_places[word]);
		if (is_key ? !add_key(o, keys->values[key++], e)
		           : !add_word(o, args->words[word++], follows_word, e))
			return false;
		follows_word = !is_key;
	}
	for (const char *const *rest = args->rest; rest && *rest; rest++) {
		if (follows_word)
			add_text(o, " ");
		add_text(o, *rest);
		follows_word = true;
	}
	if (args_has(args, "enter") && !add_key(o, "Enter", e))
		return false;
	finish_items(o);
	if (o->count == 0 && !o->has_input)
		return err_set(e, ERR_INVALID, "nothing to send: give a TEXT or --key NAME");
	return (buf_ok(&o->text) && o->text.len <= CLIENT_SEND_MAX) ||
	       err_set(e, ERR_LIMIT, "more than %d bytes", CLIENT_SEND_MAX);
}

struct delivery {
	bool done;
	struct err why;
};

static void on_sent(void *arg, const struct err *e)
{
	struct delivery *d = arg;
	d->done = true;
	if (e)
		d->why = *e;
}

static bool deliver(struct cli *cli, const struct target *to, const struct outgoing *o, struct err *e)
{
	struct delivery d = {.done = false};
	struct client_send *s =
	    client_send_start(cli->loop, to->vm, to->term, o->items, o->count, on_sent, &d, e);
	if (!s)
		return false;
	while (!d.done)
		loop_turn(cli->loop, false);
	client_send_close(s);
	if (d.why.kind)
		*e = d.why;
	return d.why.kind == ERR_NONE;
}

static int run(struct cli *cli, struct args *args)
{
	struct target to;
	struct err e = ERR_INIT;
	struct outgoing o = {.text = BUF_INIT(CLIENT_SEND_MAX + 2 * PIECE),
	                     .text_kind = args_has(args, "paste") ? SEND_PASTE : SEND_TEXT};
	int status = CLI_OK;
	if (!target_parse(args->words[0], &to, &e) || !collect(args, &o, &e))
		status = e.kind == ERR_SYSTEM ? cli_error(cli, &e) : cli_usage_error(cli, &e);
	else if (!setup_check_vm(to.vm, &e) || !deliver(cli, &to, &o, &e))
		status = cli_error(cli, &e);
	free(o.items);
	buf_finish(&o.text);
	return status;
}

const struct command command_send = {
    .name = "send",
    .usage = TARGET_USAGE " [TEXT | - | --key NAME]... [--enter] [--paste]",
    .summary = "type text and keys into a VM's terminal",
    .details = "Goes to the VM's first terminal when none is named, which gets a shell if it has none. TEXT "
               "is sent as it is, words\n"
               "with a blank between them; - stands for what standard input holds; after -- everything is "
               "text. Texts and keys\n"
               "go in the order in which they are given:\n"
               "    ccvm send alpha --key Escape ':wq' --key Enter\n"
               "    git diff | ccvm send alpha:2 --paste - --enter\n"
               "With --paste the program gets it as one paste, marked as such if it asked for that. Exit "
               "status 0: the VM's\n"
               "supervisor has taken all of it for the program; 1: it could not be delivered.\n",
    .options = OPTIONS,
    .min_words = 1,
    .max_words = SIZE_MAX,
    .run = run,
};
