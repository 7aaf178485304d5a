/* tui/clipboard: which way is taken, what is said about it, helpers that misbehave. Stand-ins in a folder of their own take the
 * place of wl-copy and xclip; tmux is the real one. */
#include "tests/lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/loop/loop.h"
#include "tests/lib/loop_wait.h"
#include "tui/clipboard.h"

struct rig {
	struct loop *loop;
	struct clipboard *c;
	char folder[64]; /* with bin/ for the stand-ins, and what they were given in NAME.got */
	struct buf sent;
	struct str words;
	bool told, done;
	unsigned times;
};

static const char *const VARIABLES[] = {"TMUX",    "STY",     "WAYLAND_DISPLAY",
                                        "DISPLAY", "SSH_TTY", "SSH_CONNECTION"};

static void on_send(void *arg, const void *bytes, size_t len)
{
	struct rig *r = arg;
	buf_put(&r->sent, bytes, len);
}

static void on_told(void *arg, bool done, const char *text)
{
	struct rig *r = arg;
	r->told = true;
	r->done = done;
	r->times++;
	str_clear(&r->words);
	str_append(&r->words, text);
}

static const struct clipboard_ops OPS = {.send = on_send, .told = on_told};

static void rig_open(struct rig *r, enum clipboard_method method, const char *command)
{
	struct clipboard_spec spec = {.method = method, .command = command, .folder = r->folder};
	clipboard_destroy(r->c);
	r->c = clipboard_create(r->loop, &spec, &OPS, r);
}

static int setup(void **state)
{
	struct rig *r = mem_alloc(sizeof(*r));
	struct err e = ERR_INIT;
	r->loop = loop_create();
	buf_init(&r->sent, 1 << 20);
	r->words = (struct str)STR_INIT(4096);
	snprintf(r->folder, sizeof(r->folder), "/tmp/ccvm-clip-XXXXXX");
	if (!mkdtemp(r->folder))
		return -1;
	char *bin FREE_ON_EXIT = mem_printf("%s/bin", r->folder);
	char *path FREE_ON_EXIT = mem_printf("%s:/usr/bin:/bin", bin);
	for (size_t i = 0; i < ARRAY_LEN(VARIABLES); i++)
		unsetenv(VARIABLES[i]);
	setenv("TERM", "xterm-256color", 1);
	setenv("PATH", path, 1);
	setenv("CLIP", r->folder, 1);
	*state = r;
	return fd_make_dirs(bin, 0700, &e) ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *r = *state;
	struct err e = ERR_INIT;
	clipboard_destroy(r->c);
	loop_destroy(r->loop);
	buf_finish(&r->sent);
	str_finish(&r->words);
	bool fine = fd_remove_tree(r->folder, &e);
	free(r);
	return fine ? 0 : -1;
}

static void stand_in(struct rig *r, const char *name, const char *script)
{
	struct err e = ERR_INIT;
	char *path FREE_ON_EXIT = mem_printf("%s/bin/%s", r->folder, name);
	char *text FREE_ON_EXIT = mem_printf("#!/bin/sh\n%s\n", script);
	assert_true(fd_write_file(path, text, strlen(text), 0700, &e));
}

static char *content(struct rig *r, const char *name)
{
	struct err e = ERR_INIT;
	char *path FREE_ON_EXIT = mem_printf("%s/%s", r->folder, name);
	return fd_read_file(path, 1 << 20, NULL, &e);
}

static void check_content(struct rig *r, const char *name, const char *want)
{
	char *got FREE_ON_EXIT = content(r, name);
	assert_non_null(got);
	assert_string_equal(got, want);
}

static void start_copy(struct rig *r, const char *text, enum clipboard_method method)
{
	r->told = false;
	clipboard_copy(r->c, (struct bytes){(const uint8_t *)text, strlen(text)}, method);
	assert_false(r->told); /* never from inside */
}

static const char *copy(struct rig *r, const char *text)
{
	start_copy(r, text, clipboard_method(r->c));
	assert_true(loop_wait_flag(r->loop, &r->told));
	return r->words.s;
}

static void names_of_ways(void **state)
{
	(void)state;
	enum clipboard_method m;
	assert_true(clipboard_parse_method("auto", &m) && m == CLIPBOARD_AUTO);
	assert_true(clipboard_parse_method("wl-copy", &m) && m == CLIPBOARD_WL_COPY);
	assert_false(clipboard_parse_method("pbcopy", &m));
	assert_string_equal(clipboard_method_name(CLIPBOARD_OSC52), "osc52");
}

/* Which way `auto` takes, by what is set. */
static void auto_takes_what_works_here(void **state)
{
	struct rig *r = *state;
	static const struct {
		const char *set[3]; /* variables */
		const char *command, *words;
	} CASES[] = {
	    {{0}, "", "sent to the terminal by OSC 52, 5 bytes"},
	    {{"DISPLAY"}, "", "given to xclip, 5 bytes"},
	    {{"DISPLAY", "WAYLAND_DISPLAY"}, "", "given to wl-copy, 5 bytes"},
	    {{"DISPLAY", "WAYLAND_DISPLAY", "SSH_TTY"}, "", "sent to the terminal by OSC 52, 5 bytes"},
	    {{"DISPLAY", "TMUX", "SSH_TTY"}, "", "put into the buffer of tmux, 5 bytes"},
	    {{"TMUX"}, "cat >$CLIP/command.got", "given to the copy command, 5 bytes"},
	};
	static const char *const PROGRAMS[] = {"wl-copy", "xclip", "xsel", "tmux"};
	for (size_t i = 0; i < ARRAY_LEN(PROGRAMS); i++)
		stand_in(r, PROGRAMS[i], "cat >$CLIP/${0##*/}.got; echo \"$*\" >$CLIP/${0##*/}.args");
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		for (size_t k = 0; k < 3 && CASES[i].set[k]; k++)
			setenv(CASES[i].set[k], "x", 1);
		rig_open(r, CLIPBOARD_AUTO, CASES[i].command);
		if (strcmp(copy(r, "hello"), CASES[i].words) != 0)
			fail_msg("case %zu: %s", i, r->words.s);
		assert_true(r->done);
		for (size_t k = 0; k < ARRAY_LEN(VARIABLES); k++)
			unsetenv(VARIABLES[k]);
	}
	for (size_t i = 0; i < ARRAY_LEN(PROGRAMS); i++) {
		char name[32];
		snprintf(name, sizeof(name), "%s.got", PROGRAMS[i]);
		if (strcmp(PROGRAMS[i], "xsel") != 0)
			check_content(r, name, "hello");
	}
	check_content(r, "command.got", "hello");
	check_content(r, "tmux.args", "load-buffer -w -\n");
	check_content(r, "xclip.args", "-selection clipboard\n");
	check_content(r, "wl-copy.args", "--type text/plain\n");
}

static void auto_goes_on_after_a_failure(void **state)
{
	struct rig *r = *state;
	stand_in(r, "wl-copy", "exit 1");
	stand_in(r, "xclip", "kill -9 $$");
	stand_in(r, "xsel", "cat >$CLIP/xsel.got");
	setenv("DISPLAY", ":9", 1);
	setenv("WAYLAND_DISPLAY", "x", 1);
	rig_open(r, CLIPBOARD_AUTO, NULL);
	assert_string_equal(copy(r, "hello"), "given to xsel, 5 bytes");
	stand_in(r, "xsel", "exit 0"); /* which pretends */
	assert_string_equal(copy(r, "hello"), "sent to the terminal by OSC 52, 5 bytes");
	setenv("TERM", "linux", 1); /* nobody reads OSC 52 there */
	char *words FREE_ON_EXIT = mem_printf("written to %s/clipboard.txt, 5 bytes", r->folder);
	assert_string_equal(copy(r, "hello"), words);
}

/* A way that was chosen is not replaced by another. */
static void a_chosen_way_fails_with_its_reason(void **state)
{
	struct rig *r = *state;
	stand_in(r, "xclip", "exit 3");
	rig_open(r, CLIPBOARD_XCLIP, NULL);
	assert_string_equal(copy(r, "hello"), "nothing was copied: xclip: it ended with status 3");
	assert_false(r->done);
	stand_in(r, "xclip", "true");
	assert_string_equal(copy(r, "hello"), "nothing was copied: xclip: it did not read the text");
	rig_open(r, CLIPBOARD_COMMAND, NULL);
	assert_string_equal(copy(r, "hello"), "nothing was copied: command: copy_command is not set");
	setenv("PATH", "/nowhere", 1);
	rig_open(r, CLIPBOARD_WL_COPY, NULL);
	assert_string_equal(copy(r, "hello"),
	                    "nothing was copied: wl-copy: start wl-copy: no such file or directory");
	rig_open(r, CLIPBOARD_FILE, NULL);
	assert_string_equal(copy(r, ""), "there is nothing to copy");
	assert_int_equal(r->times, 5);
}

static pid_t pid_in(struct rig *r, const char *name)
{
	char *text FREE_ON_EXIT = content(r, name);
	return text && strchr(text, '\n') ? (pid_t)strtol(text, NULL, 10) : 0;
}

static bool helper_began(void *arg)
{
	return pid_in(arg, "pid") > 0;
}

static bool helper_ended(void *arg)
{
	return kill(pid_in(arg, "pid"), 0) != 0;
}

static void helpers_may_hang_or_stay(void **state)
{
	struct rig *r = *state;
	/* One that never reads is ended, with its children. */
	rig_open(r, CLIPBOARD_COMMAND, "sleep 1000 & echo $! >$CLIP/pid; wait");
	assert_string_equal(copy(r, "hello"), "nothing was copied: command: it does not take the text");
	assert_true(loop_wait(r->loop, helper_ended, r));
	/* One that has the text and stays serves the selection: it goes on, also without us. */
	rig_open(r, CLIPBOARD_COMMAND, "cat >$CLIP/got; echo $$ >$CLIP/pid; exec sleep 1000 2>&1");
	assert_string_equal(copy(r, "hello"), "given to the copy command, 5 bytes");
	clipboard_destroy(r->c);
	r->c = NULL;
	loop_settle(r->loop);
	assert_false(helper_ended(r));
	assert_int_equal(getpgid(pid_in(r, "pid")), pid_in(r, "pid")); /* away from the terminal's signals */
	kill(pid_in(r, "pid"), SIGKILL);
}

static void a_second_copy_takes_the_place_of_the_first(void **state)
{
	struct rig *r = *state;
	rig_open(r, CLIPBOARD_COMMAND, "echo $$ >$CLIP/pid; exec sleep 1000");
	start_copy(r, "first", CLIPBOARD_COMMAND);
	assert_true(loop_wait(r->loop, helper_began, r));
	start_copy(r, "second", CLIPBOARD_FILE);
	assert_true(loop_wait_flag(r->loop, &r->told));
	check_content(r, "clipboard.txt", "second");
	assert_true(loop_wait(r->loop, helper_ended, r));
	assert_int_equal(r->times, 1);
}

static void files_are_the_operators_own(void **state)
{
	struct rig *r = *state;
	struct stat st;
	umask(0);
	rig_open(r, CLIPBOARD_FILE, NULL);
	copy(r, "a\nb");
	assert_true(r->done);
	check_content(r, "clipboard.txt", "a\nb");
	char *path FREE_ON_EXIT = mem_printf("%s/clipboard.txt", r->folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	struct clipboard_spec nowhere = {.method = CLIPBOARD_FILE};
	clipboard_destroy(r->c);
	r->c = clipboard_create(r->loop, &nowhere, &OPS, r);
	assert_string_equal(copy(r, "x"), "nothing was copied: there is no runtime folder for the file");
	assert_false(r->done);
}

static void osc52_is_base64_with_a_limit(void **state)
{
	struct rig *r = *state;
	static const struct {
		const char *text, *bytes;
	} CASES[] = {{"f", "\033]52;c;Zg==\a"},
	             {"fo", "\033]52;c;Zm8=\a"},
	             {"foo", "\033]52;c;Zm9v\a"},
	             {"\xff\xfe>?", "\033]52;c;//4+Pw==\a"}};
	rig_open(r, CLIPBOARD_OSC52, NULL);
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		buf_clear(&r->sent);
		copy(r, CASES[i].text);
		assert_int_equal(r->sent.len, strlen(CASES[i].bytes));
		assert_memory_equal(r->sent.data, CASES[i].bytes, r->sent.len);
	}
	char *most FREE_ON_EXIT = mem_alloc(60000);
	size_t fits = CLIPBOARD_OSC52_DEFAULT / 4 * 3;
	memset(most, 'x', fits);
	copy(r, most);
	assert_true(r->done);
	memset(most, 'x', fits + 1);
	buf_clear(&r->sent);
	assert_string_equal(
	    copy(r, most),
	    "nothing was copied: 56245 bytes are 74996 as OSC 52, and terminals take 74994; the way 'file' "
	    "has no limit");
	assert_false(r->done);
	assert_int_equal(r->sent.len, 0);
	start_copy(r, most, CLIPBOARD_FILE); /* what was offered */
	assert_true(loop_wait_flag(r->loop, &r->told) && r->done);
}

static void screen_gets_it_in_pieces(void **state)
{
	struct rig *r = *state;
	char text[400];
	setenv("STY", "1.x", 1);
	rig_open(r, CLIPBOARD_OSC52, NULL);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	copy(r, text);
	assert_memory_equal(r->sent.data, "\033P\033]52;c;eHh4", 13);
	unsigned pieces = 0;
	for (size_t i = 0; i + 1 < r->sent.len; i++)
		pieces += memcmp(r->sent.data + i, "\033P", 2) == 0;
	assert_int_equal(pieces, 3);
	assert_memory_equal(r->sent.data + r->sent.len - 3, "\a\033\\", 3);
}

/* ---- the real tmux ---- */

static void run_tmux(struct rig *r, const char *command, struct str *out)
{
	char line[1024];
	char *shell FREE_ON_EXIT =
	    mem_printf("TMUX_TMPDIR=%s tmux -f /dev/null -L clip %s 2>/dev/null", r->folder, command);
	FILE *f = popen(shell, "r");
	assert_non_null(f);
	str_clear(out);
	for (size_t n; (n = fread(line, 1, sizeof(line), f)) > 0;)
		str_append_bytes(out, line, n);
	pclose(f);
}

static void tmux_has_it(void **state)
{
	struct rig *r = *state;
	struct str out = STR_INIT(4096);
	run_tmux(r, "new-session -d -x 80 -y 24 'exec sleep 1000'", &out);
	run_tmux(r, "display -p '#{socket_path},#{pid},0'", &out);
	assert_non_null(strchr(out.s, ','));
	setenv("TMUX", strtok(out.s, "\n"), 1);
	rig_open(r, CLIPBOARD_AUTO, NULL);
	assert_string_equal(copy(r, "l\303\244ne 1\n  $HOME `x` 'y'\n"),
	                    "put into the buffer of tmux, 24 bytes");
	run_tmux(r, "show-buffer", &out);
	assert_string_equal(out.s, "l\303\244ne 1\n  $HOME `x` 'y'\n");
	run_tmux(r, "kill-server", &out);
	str_clear(&r->words);
	/* A server that is gone: the next way. */
	assert_string_equal(copy(r, "x"), "sent to the terminal by OSC 52, 1 byte");
	str_finish(&out);
}

static void tmux_understands_the_osc52(void **state)
{
	struct rig *r = *state;
	struct err e = ERR_INIT;
	struct str out = STR_INIT(4096);
	rig_open(r, CLIPBOARD_OSC52, NULL);
	copy(r, "through the terminal \342\202\254\n");
	char *path FREE_ON_EXIT = mem_printf("%s/osc", r->folder);
	assert_true(fd_write_file(path, r->sent.data, r->sent.len, 0600, &e));
	char *command FREE_ON_EXIT = mem_printf(
	    "start ';' set -s set-clipboard on ';' new-session -d 'cat %s; exec sleep 1000'", path);
	run_tmux(r, command, &out);
	for (uint64_t end = clock_mono_ms() + LOOP_WAIT_MS; clock_mono_ms() < end;) {
		run_tmux(r, "show-buffer", &out);
		if (out.len > 0)
			break;
	}
	assert_string_equal(out.s, "through the terminal \342\202\254\n");
	run_tmux(r, "kill-server", &out);
	str_finish(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_of_ways),    TEST(auto_takes_what_works_here),
	    TEST(auto_goes_on_after_a_failure), TEST(a_chosen_way_fails_with_its_reason),
	    TEST(helpers_may_hang_or_stay),     TEST(a_second_copy_takes_the_place_of_the_first),
	    TEST(files_are_the_operators_own),  TEST(osc52_is_base64_with_a_limit),
	    TEST(screen_gets_it_in_pieces),     TEST(tmux_has_it),
	    TEST(tmux_understands_the_osc52),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
