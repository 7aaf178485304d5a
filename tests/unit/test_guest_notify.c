/* guest/notify: what a hook says arrives at the supervisor's events port, or the hook hears why not. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/listener.h"
#include "core/loop/loop.h"
#include "core/supervisor/guest_events.h"
#include "core/vm/vm.h"
#include "guest/notify.h"
#include "tests/lib/loop_wait.h"

static void words_become_a_message(void **state)
{
	(void)state;
	static const struct {
		const char *words[5];
		const char *terminal;
		enum vm_attention_state attention;
		uint32_t term;
		const char *text;
	} CASES[] = {
	    {{"working"}, NULL, ATTENTION_WORKING, 0, ""},
	    {{"waiting", "need", "you"}, "3", ATTENTION_WAITING, 3, "need you"},
	    {{"idle", ""}, "", ATTENTION_IDLE, 0, ""},
	    {{"finished", "a\nb\x1b[31mc\x7f"}, "4294967295", ATTENTION_FINISHED, 4294967295u, "a b [31mc "},
	    {{"failed", "", "x"}, "4294967296", ATTENTION_FAILED, 0, " x"},
	    {{"failed", "notify"}, "-1", ATTENTION_FAILED, 0, "notify"},
	    {{"idle", "\xc3\xa9"}, "1 ", ATTENTION_IDLE, 0, "\xc3\xa9"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct wire_event_notify m;
		struct err e = ERR_INIT;
		char *words[5];
		memcpy(words, CASES[i].words, sizeof(words));
		assert_true(notify_read(words, CASES[i].terminal, &m, &e));
		assert_int_equal(m.attention, CASES[i].attention);
		assert_int_equal(m.term, CASES[i].term);
		assert_string_equal(m.text, CASES[i].text);
	}
}

static void every_state_has_its_number(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ATTENTION_STATE_COUNT; i++) {
		struct wire_event_notify m;
		struct err e = ERR_INIT;
		char name[16];
		snprintf(name, sizeof(name), "%s", vm_attention_name((enum vm_attention_state)i));
		char *words[] = {name, NULL};
		assert_int_equal(notify_read(words, NULL, &m, &e), i != ATTENTION_NONE);
		assert_int_equal(m.attention, i);
	}
}

static void nonsense_is_refused(void **state)
{
	(void)state;
	static const char *const BAD[] = {NULL, "", "none", "Waiting", "waiting ", "wait", "1"};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct wire_event_notify m;
		struct err e = ERR_INIT;
		char word[16];
		snprintf(word, sizeof(word), "%s", BAD[i] ? BAD[i] : "");
		char *words[] = {BAD[i] ? word : NULL, NULL};
		assert_false(notify_read(words, NULL, &m, &e));
		assert_int_equal(e.kind, ERR_INVALID);
	}
}

/* Whatever precedes it: the bytes of one character are never parted, and what fits is there. */
static void long_texts_are_cut_at_a_character(void **state)
{
	(void)state;
	char idle[] = "idle", text[1200];
	for (size_t i = 0; i + 3 < sizeof(text); i += 3)
		memcpy(text + i, "\xe2\x82\xac", 4);
	for (size_t shift = 0; shift < 3; shift++) {
		struct wire_event_notify m;
		struct err e = ERR_INIT;
		char lead[] = "xxx";
		lead[shift] = '\0';
		char *words[] = {idle, lead, text, NULL};
		assert_true(notify_read(words, NULL, &m, &e));
		size_t len = strlen(m.text);
		assert_int_equal((len - shift - 1) % 3, 0);
		assert_in_range(len, WIRE_TEXT_MAX - 2, WIRE_TEXT_MAX);
	}
}

/* ---- sending ---- */

struct host {
	struct loop *loop;
	char dir[40];
	char *path;
	uint32_t term;
	char text[WIRE_TEXT_MAX + 1];
	bool heard;
	void (*answer)(int fd);
};

static int set_up(void **state)
{
	static struct host h;
	h = (struct host){.loop = loop_create()};
	strcpy(h.dir, "/tmp/ccvm-notify-XXXXXX");
	assert_non_null(mkdtemp(h.dir));
	h.path = mem_printf("%s/events", h.dir);
	*state = &h;
	return 0;
}

static int tear_down(void **state)
{
	struct host *h = *state;
	struct err e = ERR_INIT;
	assert_true(fd_remove_tree(h->dir, &e));
	free(h->path);
	loop_destroy(h->loop);
	return 0;
}

static void on_ready(void *arg, const struct wire_event_ready *m)
{
	(void)arg;
	(void)m;
}

static void on_incident(void *arg, const char *text)
{
	(void)arg;
	fail_msg("%s", text);
}

static void on_notify(void *arg, const struct wire_event_notify *m)
{
	struct host *h = arg;
	h->heard = true;
	h->term = m->term;
	memcpy(h->text, m->text, sizeof(h->text));
}

/* The hook's process; its exit status is 0 when it was heard. */
static pid_t start_hook(const struct host *h, const char *text)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid != 0)
		return pid;
	struct wire_event_notify m = {.attention = ATTENTION_WAITING, .term = 5};
	struct err e = ERR_INIT;
	snprintf(m.text, sizeof(m.text), "%s", text);
	int fd = fd_unix_connect(h->path, &e);
	_exit(fd >= 0 && notify_send(fd, &m, &e) ? 0 : 1);
}

static bool has_ended(void *arg)
{
	const pid_t *pid = arg;
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)*pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == *pid;
}

/* True when it was heard. */
static bool run_hook(struct host *h, const char *text)
{
	int status;
	pid_t pid = start_hook(h, text);
	assert_true(loop_wait(h->loop, has_ended, &pid));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 0;
}

static void a_hook_is_heard(void **state)
{
	struct host *h = *state;
	static const struct guest_events_ops OPS = {
	    .on_ready = on_ready, .on_incident = on_incident, .on_notify = on_notify};
	struct err e = ERR_INIT;
	struct guest_events *g = guest_events_open(h->loop, h->path, &OPS, h, &e);
	assert_non_null(g);
	for (int i = 0; i < 40; i++) { /* more than connections at a time: each is over when it has ended */
		h->heard = false;
		assert_true(run_hook(h, "need you"));
		assert_true(h->heard);
	}
	assert_int_equal(h->term, 5);
	assert_string_equal(h->text, "need you");
	guest_events_close(g);
}

static void on_accept(void *arg, int fd)
{
	struct host *h = arg;
	h->answer(fd);
}

/* What it sent is not read. */
static void hang_up(int fd)
{
	close(fd);
}

/* The rest of it is read until the hook goes. */
static void answer(int fd, const void *bytes, size_t len)
{
	char byte;
	assert_true(fd_set_nonblock(fd, false));
	assert_true(fd_write_all(fd, bytes, len));
	shutdown(fd, SHUT_WR);
	while (read(fd, &byte, 1) > 0)
		;
	close(fd);
}

static void answer_half(int fd)
{
	answer(fd, "\0\0\0\4\0\3\0\0\0\0\0\0\0\0", 14); /* an OK lacks two bytes */
}

static void answer_another(int fd)
{
	struct buf out = BUF_INIT(1024);
	wire_put_my_hello(&out, "supervisor");
	answer(fd, out.data, out.len);
	buf_finish(&out);
}

static void answer_nonsense(int fd)
{
	char bytes[2000];
	memset(bytes, 'x', sizeof(bytes));
	answer(fd, bytes, sizeof(bytes));
}

static void a_hook_that_is_not_heard_says_so(void **state)
{
	struct host *h = *state;
	struct err e = ERR_INIT;
	struct listener *l = listener_open(h->loop, h->path, on_accept, h, &e);
	assert_non_null(l);
	static void (*const ANSWERS[])(int fd) = {hang_up, answer_half, answer_another, answer_nonsense};
	for (size_t i = 0; i < ARRAY_LEN(ANSWERS); i++) {
		h->answer = ANSWERS[i];
		assert_false(run_hook(h, "x"));
	}
	listener_close(l);
	assert_false(run_hook(h, "x")); /* nobody is there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words_become_a_message),
	    cmocka_unit_test(every_state_has_its_number),
	    cmocka_unit_test(nonsense_is_refused),
	    cmocka_unit_test(long_texts_are_cut_at_a_character),
	    cmocka_unit_test_setup_teardown(a_hook_is_heard, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_hook_that_is_not_heard_says_so, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
