/* A helper gets the text as its standard input from a file in memory that has no name. That needs no writing while it reads, and the
 * place up to which it has read is known here too, because both share the open file: a helper that has read all of it and
 * stays is serving the selection (wl-copy and xclip do that in the background, a command of the operator may do it itself).
 * Its output goes nowhere: a helper that keeps a descriptor of ours open must not keep anybody waiting. */
#include "tui/clipboard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"

#define HELPER_MS   2000
#define FILE_NAME   "clipboard.txt"
#define SCREEN_MOST 250 /* bytes that GNU screen hands through in one piece */
#define WORDS_MAX   400

/* A helper that runs. It outlives the copy when it serves the selection. */
struct helper {
	struct list link;
	struct clipboard *clipboard;
	struct child *child;
	int text; /* its standard input; -1: handed over */
};

struct clipboard {
	struct loop *loop;
	const struct clipboard_ops *ops;
	void *arg;
	enum clipboard_method method;
	char *command, *folder; /* owned */
	size_t osc52_most;
	struct list helpers;
	struct timer *timer; /* of the helper, or to tell */
	/* The copy that goes on. */
	struct buf text;
	enum clipboard_method now;
	bool trying;            /* `now` is one of several */
	struct helper *current; /* NULL: none runs for this copy */
	bool telling, done;
	char words[WORDS_MAX], failed[WORDS_MAX];
};

#define M(NAME, name) [CLIPBOARD_##NAME] = name,
static const char *const NAMES[] = {CLIPBOARD_METHODS(M)};
#undef M

const char *clipboard_method_name(enum clipboard_method method)
{
	return NAMES[method];
}

bool clipboard_parse_method(const char *name, enum clipboard_method *out)
{
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		if (strcmp(NAMES[i], name) == 0) {
			*out = (enum clipboard_method)i;
			return true;
		}
	return false;
}

enum clipboard_method clipboard_method(const struct clipboard *c)
{
	return c->method;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);
	return value && value[0];
}

/* ---- telling ---- */

static void tell(struct clipboard *c, bool done, const char *words)
{
	c->done = done;
	c->telling = true;
	snprintf(c->words, sizeof(c->words), "%s", words);
	timer_once(c->timer, 0);
}

static void tell_bytes(struct clipboard *c, const char *what)
{
	char words[WORDS_MAX];
	snprintf(words, sizeof(words), "%s, %zu byte%s", what, c->text.len, c->text.len == 1 ? "" : "s");
	tell(c, true, words);
}

/* ---- OSC 52 ---- */

static void put_base64(struct buf *out, const uint8_t *p, size_t len)
{
	static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < len; i += 3) {
		unsigned left = (unsigned)MIN(len - i, 3u);
		uint32_t bits = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
		                (left > 2 ? p[i + 2] : 0);
		char digits[4] = {DIGITS[bits >> 18], DIGITS[bits >> 12 & 63],
		                  left > 1 ? DIGITS[bits >> 6 & 63] : '=',
		                  left > 2 ? DIGITS[bits & 63] : '='};
		buf_put(out, digits, sizeof(digits));
	}
}

/* GNU screen drops OSC 52 and hands through what is in a DCS, a little at a time. */
static void wrap_for_screen(struct buf *out, const struct buf *bytes)
{
	for (size_t i = 0; i < bytes->len; i += SCREEN_MOST) {
		buf_put(out, "\033P", 2);
		buf_put(out, bytes->data + i, MIN(bytes->len - i, (size_t)SCREEN_MOST));
		buf_put(out, "\033\\", 2);
	}
}

static void copy_osc52(struct clipboard *c)
{
	size_t encoded = (c->text.len + 2) / 3 * 4;
	if (encoded > c->osc52_most) {
		char words[WORDS_MAX];
		snprintf(words, sizeof(words),
		         "nothing was copied: %zu bytes are %zu as OSC 52, and terminals take %zu; the way "
		         "'file' has no limit",
		         c->text.len, encoded, c->osc52_most);
		tell(c, false, words);
		return;
	}
	struct buf bytes = BUF_INIT(2 * CLIPBOARD_TEXT_MAX), wrapped = BUF_INIT(3 * CLIPBOARD_TEXT_MAX);
	buf_put(&bytes, "\033]52;c;", 7);
	put_base64(&bytes, c->text.data, c->text.len);
	buf_put(&bytes, "\a", 1);
	bool in_screen = is_set("STY") && !is_set("TMUX");
	if (in_screen)
		wrap_for_screen(&wrapped, &bytes);
	const struct buf *send = in_screen ? &wrapped : &bytes;
	c->ops->send(c->arg, send->data, send->len);
	buf_finish(&bytes);
	buf_finish(&wrapped);
	tell_bytes(c, "sent to the terminal by OSC 52");
}

/* ---- a file ---- */

static void copy_file(struct clipboard *c)
{
	if (!c->folder) {
		tell(c, false, "nothing was copied: there is no runtime folder for the file");
		return;
	}
	char *path FREE_ON_EXIT = mem_printf("%s/" FILE_NAME, c->folder);
	char words[WORDS_MAX];
	struct err e = ERR_INIT;
	if (!fd_write_file(path, c->text.data, c->text.len, 0600, &e)) {
		snprintf(words, sizeof(words), "nothing was copied: %s", e.msg);
		tell(c, false, words);
		return;
	}
	snprintf(words, sizeof(words), "written to %s", path);
	tell_bytes(c, words);
}

/* ---- helpers ---- */

static void free_helper(struct helper *h)
{
	child_close(h->child);
	fd_close(&h->text);
	list_remove(&h->link);
	free(h);
}

/* One that was started for a copy that counts no longer, or that hangs. It has a session of its own, so its children go too. */
static void kill_helper(struct helper *h)
{
	pid_t pid = child_pid(h->child);
	if (pid > 0)
		kill(-pid, SIGKILL);
	fd_close(&h->text);
}

static void try_next(struct clipboard *c);

static void helper_failed(struct clipboard *c, const char *why)
{
	if (!c->failed[0])
		snprintf(c->failed, sizeof(c->failed), "%s: %s", NAMES[c->now], why);
	if (c->trying) {
		try_next(c);
		return;
	}
	char words[WORDS_MAX];
	snprintf(words, sizeof(words), "nothing was copied: %.300s", c->failed);
	tell(c, false, words);
}

static void helper_has_it(struct clipboard *c)
{
	char words[64];
	snprintf(words, sizeof(words), "%s %s",
	         c->now == CLIPBOARD_TMUX ? "put into the buffer of" : "given to",
	         c->now == CLIPBOARD_COMMAND ? "the copy command" : NAMES[c->now]);
	tell_bytes(c, words);
}

static bool has_read(const struct helper *h, size_t len)
{
	return lseek(h->text, 0, SEEK_CUR) == (off_t)len;
}

static void on_helper_exit(void *arg, int code, int signum)
{
	struct helper *h = arg;
	struct clipboard *c = h->clipboard;
	bool counts = c->current == h, read_all = counts && has_read(h, c->text.len);
	free_helper(h);
	if (!counts)
		return;
	c->current = NULL;
	timer_stop(c->timer);
	char why[64] = "it did not read the text";
	if (signum)
		snprintf(why, sizeof(why), "it died by signal %d", signum);
	else if (code != 0)
		snprintf(why, sizeof(why), "it ended with status %d", code);
	if (code == 0 && signum == 0 && read_all)
		helper_has_it(c);
	else
		helper_failed(c, why);
}

static void helper_is_late(struct clipboard *c)
{
	struct helper *h = c->current;
	c->current = NULL;
	if (has_read(h, c->text.len)) {
		fd_close(&h->text); /* it goes on and serves the selection */
		helper_has_it(c);
		return;
	}
	kill_helper(h);
	helper_failed(c, "it does not take the text");
}

static int text_file(const struct buf *text, struct err *e)
{
	int fd = memfd_create("ccvm-copy", MFD_CLOEXEC);
	if (fd >= 0 && fd_write_all(fd, text->data, text->len) && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	err_sys(e, errno, "a file in memory");
	fd_close(&fd);
	return -1;
}

static bool start_helper(struct clipboard *c, const char *const *argv, struct err *e)
{
	int text = text_file(&c->text, e);
	if (text < 0)
		return false;
	struct helper *h = mem_alloc(sizeof(*h));
	*h = (struct helper){.clipboard = c, .text = text};
	list_append(&c->helpers, &h->link);
	struct child_spec spec = {
	    .argv = argv, .fds = {text, CHILD_FD_NULL, CHILD_FD_NULL}, .fd_count = 3, .new_session = true};
	h->child = child_start(c->loop, &spec, on_helper_exit, h, e);
	if (!h->child) {
		free_helper(h);
		return false;
	}
	c->current = h;
	timer_once(c->timer, HELPER_MS);
	return true;
}

/* wl-copy is told what it gets: it guesses by the content otherwise, and what it takes for a program or a picture cannot be
 * pasted as text. */
static void copy_helper(struct clipboard *c)
{
	static const char *const ARGV[][6] = {
	    [CLIPBOARD_TMUX] = {"tmux", "load-buffer", "-w", "-", NULL},
	    [CLIPBOARD_WL_COPY] = {"wl-copy", "--type", "text/plain", NULL},
	    [CLIPBOARD_XCLIP] = {"xclip", "-selection", "clipboard", NULL},
	    [CLIPBOARD_XSEL] = {"xsel", "--clipboard", "--input", NULL},
	};
	const char *const command[] = {"sh", "-c", c->command, NULL};
	struct err e = ERR_INIT;
	if (c->now == CLIPBOARD_COMMAND && !c->command[0])
		helper_failed(c, "copy_command is not set");
	else if (!start_helper(c, c->now == CLIPBOARD_COMMAND ? command : ARGV[c->now], &e))
		helper_failed(c, e.msg);
}

/* ---- which way ---- */

/* May work here. Over ssh a helper would reach the clipboard of that machine's screen, not the operator's. */
static bool is_possible(const struct clipboard *c, enum clipboard_method method)
{
	bool remote = is_set("SSH_TTY") || is_set("SSH_CONNECTION");
	const char *term = getenv("TERM");
	switch (method) {
	case CLIPBOARD_COMMAND: return c->command[0] != '\0';
	case CLIPBOARD_TMUX: return is_set("TMUX");
	case CLIPBOARD_WL_COPY: return is_set("WAYLAND_DISPLAY") && !remote;
	case CLIPBOARD_XCLIP:
	case CLIPBOARD_XSEL: return is_set("DISPLAY") && !remote;
	case CLIPBOARD_OSC52: return !term || strncmp(term, "linux", 5) != 0;
	case CLIPBOARD_FILE: return true;
	case CLIPBOARD_AUTO:
	case CLIPBOARD_METHOD_COUNT: break;
	}
	return false;
}

static void try_now(struct clipboard *c)
{
	if (c->now == CLIPBOARD_OSC52)
		copy_osc52(c);
	else if (c->now == CLIPBOARD_FILE)
		copy_file(c);
	else
		copy_helper(c);
}

/* Ends at the latest with the file, which is always possible. */
static void try_next(struct clipboard *c)
{
	do
		c->now = (enum clipboard_method)(c->now + 1);
	while (!is_possible(c, c->now));
	try_now(c);
}

static void on_timer(void *arg)
{
	struct clipboard *c = arg;
	if (c->telling) {
		c->telling = false;
		c->ops->told(c->arg, c->done, c->words);
	} else if (c->current) {
		helper_is_late(c);
	}
}

void clipboard_copy(struct clipboard *c, struct bytes text, enum clipboard_method method)
{
	if (c->current)
		kill_helper(c->current);
	c->current = NULL;
	c->telling = false;
	c->failed[0] = '\0';
	timer_stop(c->timer);
	buf_clear(&c->text);
	buf_put(&c->text, text.p, text.len);
	if (text.len == 0 || !buf_ok(&c->text)) {
		tell(c, false,
		     text.len == 0 ? "there is nothing to copy" : "nothing was copied: it is over 16 MiB");
		return;
	}
	c->now = method;
	c->trying = method == CLIPBOARD_AUTO;
	if (c->trying)
		try_next(c);
	else
		try_now(c);
}

/* ---- from start to end ---- */

struct clipboard *clipboard_create(struct loop *loop, const struct clipboard_spec *spec,
                                   const struct clipboard_ops *ops, void *arg)
{
	struct clipboard *c = mem_alloc(sizeof(*c));
	*c = (struct clipboard){.loop = loop, .ops = ops, .arg = arg, .method = spec->method};
	c->command = mem_strdup(spec->command ? spec->command : "");
	c->folder = spec->folder ? mem_strdup(spec->folder) : NULL;
	c->osc52_most = spec->osc52_most ? spec->osc52_most : CLIPBOARD_OSC52_DEFAULT;
	list_init(&c->helpers);
	buf_init(&c->text, CLIPBOARD_TEXT_MAX);
	c->timer = timer_create_on(loop, on_timer, c);
	return c;
}

void clipboard_destroy(struct clipboard *c)
{
	if (!c)
		return;
	if (c->current)
		kill_helper(c->current);
	LIST_FOREACH (item, &c->helpers)
		free_helper(LIST_ENTRY(item, struct helper, link));
	timer_close(c->timer);
	buf_finish(&c->text);
	free(c->command);
	free(c->folder);
	free(c);
}
