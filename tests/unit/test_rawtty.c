/* core/loop/rawtty: a terminal that is slow, hangs or goes away. Standard input and output become a pseudo terminal whose other end
 * is read here, or is not. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/rawtty.h"
#include "core/loop/tty_guard.h"
#include "tests/lib/loop_wait.h"

#define ENTER "<enter>"
#define LEAVE "<leave>"
#define BYTES(text)                                       \
	{                                                 \
		(const uint8_t *)(text), sizeof(text) - 1 \
	}

struct rig {
	struct loop *loop;
	struct rawtty *tty;
	int master, slave, saved_in, saved_out;
	struct termios before;
	struct buf got; /* what the terminal has read */
	unsigned drains;
	bool gone;
};

static void on_drain(void *arg)
{
	((struct rig *)arg)->drains++;
}

static void on_gone(void *arg)
{
	((struct rig *)arg)->gone = true;
}

static int setup(void **state)
{
	static const struct rawtty_ops OPS = {.on_drain = on_drain, .on_gone = on_gone};
	static const struct rawtty_spec SPEC = {.enter = BYTES(ENTER), .leave = BYTES(LEAVE)};
	struct rig *r = mem_alloc(sizeof(*r));
	struct err e = ERR_INIT;
	*state = r;
	r->loop = loop_create();
	buf_init(&r->got, 16 << 20);
	r->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (r->master < 0 || grantpt(r->master) || unlockpt(r->master))
		return -1;
	r->slave = open(ptsname(r->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	r->saved_in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
	r->saved_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	dup2(r->slave, STDIN_FILENO);
	dup2(r->slave, STDOUT_FILENO);
	tcgetattr(r->slave, &r->before);
	r->tty = rawtty_open(r->loop, &SPEC, &OPS, r, &e);
	return r->tty ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *r = *state;
	rawtty_close(r->tty);
	dup2(r->saved_in, STDIN_FILENO);
	dup2(r->saved_out, STDOUT_FILENO);
	fd_close(&r->saved_in);
	fd_close(&r->saved_out);
	fd_close(&r->slave);
	fd_close(&r->master);
	loop_destroy(r->loop);
	buf_finish(&r->got);
	free(r);
	return 0;
}

/* What is there now. */
static void terminal_reads(struct rig *r)
{
	struct pollfd p = {.fd = r->master, .events = POLLIN};
	while (poll(&p, 1, 0) > 0 && (p.revents & POLLIN)) {
		uint8_t *to = buf_reserve(&r->got, 4096);
		ssize_t n = read(r->master, to, 4096);
		if (n <= 0)
			return;
		buf_commit(&r->got, (size_t)n);
	}
}

static bool is_drained(void *arg)
{
	struct rig *r = arg;
	terminal_reads(r);
	return r->drains > 0;
}

static bool has(const struct rig *r, const char *text)
{
	return memmem(r->got.data, r->got.len, text, strlen(text)) != NULL;
}

static bool is_raw(const struct rig *r)
{
	struct termios now;
	return tcgetattr(r->slave, &now) == 0 && !(now.c_lflag & (ICANON | ECHO | ISIG));
}

/* More than any terminal takes unread. */
static void fill(struct rig *r, size_t len)
{
	uint8_t *bytes FREE_ON_EXIT = mem_alloc(len);
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)('a' + i % 26);
	rawtty_write(r->tty, bytes, len);
}

static void output_waits_for_a_slow_terminal(void **state)
{
	struct rig *r = *state;
	assert_true(is_raw(r));
	assert_true(rawtty_is_drained(r->tty));
	fill(r, 1 << 20);
	rawtty_write(r->tty, "end", 3);
	assert_false(rawtty_is_drained(r->tty));
	/* Nobody else's flags were touched for that. */
	assert_false(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK);
	assert_false(fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK);
	loop_settle(r->loop);
	assert_int_equal(r->drains, 0);
	assert_true(loop_wait(r->loop, is_drained, r));
	terminal_reads(r);
	assert_true(rawtty_is_drained(r->tty));
	assert_int_equal(r->drains, 1);
	assert_int_equal(r->got.len, sizeof(ENTER) - 1 + (1 << 20) + 3);
	for (size_t i = 0; i < 1 << 20; i++)
		if (r->got.data[sizeof(ENTER) - 1 + i] != 'a' + i % 26)
			fail_msg("byte %zu is wrong", i);
	assert_memory_equal(r->got.data + r->got.len - 3, "end", 3);
}

static void a_terminal_that_hangs_is_left_all_the_same(void **state)
{
	struct rig *r = *state;
	struct termios after;
	fill(r, 1 << 20);
	int more = rawtty_reopen(STDOUT_FILENO);
	while (write(more, "x", 1) == 1) /* the last byte of room */
		continue;
	fd_close(&more);
	rawtty_close(r->tty);
	r->tty = NULL;
	tcgetattr(r->slave, &after);
	assert_int_equal(after.c_lflag, r->before.c_lflag);
	terminal_reads(r);
	assert_true(r->got.len < 1 << 20); /* what was on its way is thrown away, */
	assert_true(has(r, LEAVE));        /* what brings the screen back is not */
}

static void giving_back_and_taking_again(void **state)
{
	struct rig *r = *state;
	rawtty_give_back(r->tty);
	assert_false(rawtty_is_taken(r->tty));
	rawtty_give_back(r->tty); /* idempotent */
	rawtty_write(r->tty, "hidden", 6);
	assert_false(is_raw(r));
	terminal_reads(r);
	assert_int_equal(r->got.len, strlen(ENTER LEAVE));
	rawtty_take(r->tty);
	assert_true(is_raw(r));
	rawtty_take(r->tty); /* somebody else may have had it */
	terminal_reads(r);
	assert_int_equal(r->got.len, strlen(ENTER LEAVE ENTER LEAVE ENTER));
	assert_false(has(r, "hidden"));
}

static int unread_input(const struct rig *r)
{
	int n = -1;
	struct termios now;
	tcgetattr(r->slave, &now);
	now.c_lflag &= (tcflag_t)~ICANON; /* else a line that has no end does not count */
	tcsetattr(r->slave, TCSANOW, &now);
	ioctl(r->slave, FIONREAD, &n);
	return n;
}

/* An answer that comes after we have left would be taken for typed text. Here it is on its way when we leave. */
static void late_answers_are_waited_for(void **state)
{
	static const char ANSWERS[] = "\033[?2026;0$y\033[?62;22c";
	struct rig *r = *state;
	rawtty_answered(r->tty, false);
	pid_t terminal = fork();
	if (terminal == 0) {
		struct pollfd p = {.fd = r->master, .events = POLLIN};
		char got[4096] = {0};
		size_t len = 0;
		while (!strstr(got, LEAVE) && poll(&p, 1, LOOP_WAIT_MS) > 0) {
			ssize_t n = read(r->master, got + len, sizeof(got) - 1 - len);
			len += n > 0 ? (size_t)n : 0;
		}
		_exit(fd_write_all(r->master, ANSWERS, sizeof(ANSWERS) - 1) ? 0 : 1);
	}
	rawtty_close(r->tty);
	r->tty = NULL;
	int status;
	assert_int_equal(waitpid(terminal, &status, 0), terminal);
	assert_int_equal(status, 0);
	assert_int_equal(unread_input(r), 0);
}

static void a_terminal_that_goes_away_is_told_once(void **state)
{
	struct rig *r = *state;
	fill(r, 1 << 20);
	fd_close(&r->master);
	assert_true(loop_wait_flag(r->loop, &r->gone));
	r->gone = false;
	rawtty_write(r->tty, "x", 1);
	loop_settle(r->loop);
	assert_false(r->gone);
	assert_int_equal(r->drains, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	tty_guard_main(argc, argv);
	const struct CMUnitTest tests[] = {
	    TEST(output_waits_for_a_slow_terminal),       TEST(a_terminal_that_hangs_is_left_all_the_same),
	    TEST(giving_back_and_taking_again),           TEST(late_answers_are_waited_for),
	    TEST(a_terminal_that_goes_away_is_told_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
