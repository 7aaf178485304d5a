/* The slave side stays open here as well: so the settings can be read after the program has ended, and the master gives
 * no EIO before everything was read. */
#include "tests/lib/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/term/clusters.h"
#include "core/term/emulator.h"

#define OUTPUT_KEEP ((size_t)1024 * 1024)
#define STEP_MS     20 /* how often a condition that is not about output is looked at again */

struct pty {
	int master, slave;
	pid_t pid; /* 0 once it was waited for */
	int status;
	struct emulator *emulator;
	char *output; /* owned, with NUL */
	size_t output_len, output_total;
};

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(2);
}

static void on_reply(void *arg, const uint8_t *bytes, size_t len)
{
	struct pty *p = arg;
	pty_send_bytes(p, bytes, len);
}

static void set_environment(const char *const *env)
{
	for (; env && *env; env++) {
		char *copy = mem_strdup(*env);
		char *equals = strchr(copy, '=');
		if (equals) {
			*equals = '\0';
			setenv(copy, equals + 1, 1);
		} else {
			unsetenv(copy);
		}
		free(copy);
	}
}

static void run_child(const struct pty *p, const struct pty_spec *spec) NORETURN;
static void run_child(const struct pty *p, const struct pty_spec *spec)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setsid();
	if (ioctl(p->slave, TIOCSCTTY, 0) < 0 || dup2(p->slave, 0) < 0 || dup2(p->slave, 1) < 0 ||
	    dup2(p->slave, 2) < 0)
		_exit(126);
	close(p->master);
	close(p->slave);
	set_environment(spec->env);
	char **argv = mem_array(256, sizeof(*argv));
	for (size_t i = 0; spec->argv[i] && i < 255; i++)
		argv[i] = mem_strdup(spec->argv[i]);
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

struct pty *pty_start(const struct pty_spec *spec)
{
	struct pty *p = mem_alloc(sizeof(*p));
	struct winsize size = {.ws_row = (unsigned short)spec->rows, .ws_col = (unsigned short)spec->cols};
	if (openpty(&p->master, &p->slave, NULL, NULL, &size) < 0)
		die("openpty");
	fd_set_cloexec(p->master, true);
	fd_set_cloexec(p->slave, true);
	fd_set_nonblock(p->master, true);
	p->output = mem_alloc(2 * OUTPUT_KEEP + 1);
	static const struct emulator_ops OPS = {.write_reply = on_reply};
	p->emulator = emulator_create(spec->rows, spec->cols, &OPS, p);
	fflush(NULL);
	p->pid = fork();
	if (p->pid < 0)
		die("fork");
	if (p->pid == 0)
		run_child(p, spec);
	return p;
}

void pty_end(struct pty *p)
{
	if (!p)
		return;
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		kill(p->pid, SIGCONT);
		waitpid(p->pid, NULL, 0);
	}
	emulator_destroy(p->emulator);
	close(p->master);
	close(p->slave);
	free(p->output);
	free(p);
}

pid_t pty_pid(const struct pty *p)
{
	return p->pid;
}

void pty_signal(struct pty *p, int signum)
{
	if (p->pid > 0)
		kill(p->pid, signum);
}

static void keep_output(struct pty *p, const char *bytes, size_t len)
{
	if (p->output_len + len > 2 * OUTPUT_KEEP) {
		memmove(p->output, p->output + p->output_len - OUTPUT_KEEP, OUTPUT_KEEP);
		p->output_len = OUTPUT_KEEP;
	}
	memcpy(p->output + p->output_len, bytes, len);
	p->output_len += len;
	p->output_total += len;
	p->output[p->output_len] = '\0';
}

/* True when something came. */
static bool read_some(struct pty *p)
{
	char bytes[16384];
	ssize_t n = read(p->master, bytes, sizeof(bytes));
	if (n <= 0)
		return false;
	keep_output(p, bytes, (size_t)n);
	emulator_write(p->emulator, bytes, (size_t)n);
	return true;
}

void pty_poll(struct pty *p)
{
	/* A program that writes without end must not keep the test here. */
	for (int i = 0; i < 256 && read_some(p); i++)
		;
}

static void wait_step(struct pty *p, int ms)
{
	struct pollfd fd = {.fd = p->master, .events = POLLIN};
	poll(&fd, 1, ms);
	pty_poll(p);
}

void pty_send_bytes(struct pty *p, const void *bytes, size_t len)
{
	const char *from = bytes;
	uint64_t deadline = clock_mono_ms() + PTY_WAIT_MS;
	while (len > 0) {
		ssize_t n = write(p->master, from, len);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			die("write to the pty");
		if (n > 0) {
			from += n;
			len -= (size_t)n;
			continue;
		}
		if (clock_mono_ms() > deadline)
			die("the program reads nothing");
		/* No reading here: this may be a reply, sent from inside the emulator. */
		struct pollfd fd = {.fd = p->master, .events = POLLOUT};
		poll(&fd, 1, STEP_MS);
	}
}

void pty_send(struct pty *p, const char *keys)
{
	pty_send_bytes(p, keys, strlen(keys));
}

void pty_resize(struct pty *p, unsigned rows, unsigned cols)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
	emulator_resize(p->emulator, rows, cols);
	if (ioctl(p->master, TIOCSWINSZ, &size) < 0)
		die("TIOCSWINSZ");
}

/* ---- the screen ---- */

static void append_row(struct pty *p, unsigned row, struct str *out)
{
	unsigned used;
	const struct cell *cells = emulator_row(p->emulator, row, &used);
	while (used > 0 && cell_is_blank(&cells[used - 1]))
		used--;
	for (unsigned i = 0; i < used; i++) {
		char text[CELL_UTF8_MAX];
		size_t n = clusters_cell_utf8(emulator_clusters(p->emulator), &cells[i], text);
		str_append_bytes(out, text, n);
	}
}

void pty_screen_text(struct pty *p, struct str *out)
{
	for (unsigned row = 0; row < emulator_rows(p->emulator); row++) {
		append_row(p, row, out);
		str_append_char(out, '\n');
	}
}

int pty_find_row(struct pty *p, const char *text)
{
	int found = -1;
	for (unsigned row = 0; row < emulator_rows(p->emulator) && found < 0; row++) {
		struct str line = STR_INIT(65536);
		append_row(p, row, &line);
		if (strstr(line.s, text))
			found = (int)row;
		str_finish(&line);
	}
	return found;
}

bool pty_has_text(struct pty *p, const char *text)
{
	return pty_find_row(p, text) >= 0;
}

static void print_screen(struct pty *p, const char *what)
{
	struct str text = STR_INIT(1024 * 1024);
	pty_screen_text(p, &text);
	printf("# waited %d ms for: %s\n# the screen, %ux%u:\n", PTY_WAIT_MS, what,
	       emulator_cols(p->emulator), emulator_rows(p->emulator));
	for (char *line = text.s, *end; (end = strchr(line, '\n')); line = end + 1)
		printf("# |%.*s\n", (int)(end - line), line);
	fflush(stdout);
	str_finish(&text);
}

const struct cell *pty_cell(struct pty *p, unsigned row, unsigned col, const struct clusters **clusters)
{
	static const struct cell BLANK;
	unsigned used;
	*clusters = emulator_clusters(p->emulator);
	if (row >= emulator_rows(p->emulator))
		return &BLANK;
	const struct cell *cells = emulator_row(p->emulator, row, &used);
	return col < used ? &cells[col] : &BLANK;
}

struct term_cursor pty_cursor(struct pty *p)
{
	return emulator_cursor(p->emulator);
}

unsigned pty_modes(struct pty *p)
{
	return emulator_modes(p->emulator);
}

const char *pty_title(struct pty *p)
{
	return emulator_title(p->emulator);
}

const char *pty_output(struct pty *p, size_t *len)
{
	pty_poll(p);
	if (len)
		*len = p->output_len;
	return p->output;
}

size_t pty_output_total(const struct pty *p)
{
	return p->output_total;
}

struct termios pty_termios(struct pty *p)
{
	struct termios t;
	if (tcgetattr(p->slave, &t) < 0)
		die("tcgetattr");
	return t;
}

/* ---- waiting ---- */

bool pty_wait(struct pty *p, bool (*holds)(struct pty *p, void *arg), void *arg, const char *what)
{
	uint64_t deadline = clock_mono_ms() + PTY_WAIT_MS;
	pty_poll(p);
	while (!holds(p, arg)) {
		if (clock_mono_ms() > deadline) {
			print_screen(p, what);
			return false;
		}
		wait_step(p, STEP_MS);
	}
	return true;
}

static bool has_text(struct pty *p, void *arg)
{
	return pty_has_text(p, arg);
}

static bool has_no_text(struct pty *p, void *arg)
{
	return !pty_has_text(p, arg);
}

bool pty_wait_text(struct pty *p, const char *text)
{
	return pty_wait(p, has_text, (void *)(uintptr_t)text, text);
}

bool pty_wait_no_text(struct pty *p, const char *text)
{
	struct str what = STR_INIT(1000);
	str_appendf(&what, "no more '%s'", text);
	bool ok = pty_wait(p, has_no_text, (void *)(uintptr_t)text, what.s);
	str_finish(&what);
	return ok;
}

bool pty_wait_quiet(struct pty *p, unsigned ms)
{
	uint64_t deadline = clock_mono_ms() + PTY_WAIT_MS, last = clock_mono_ms();
	size_t seen = p->output_total;
	while (clock_mono_ms() - last < ms) {
		if (clock_mono_ms() > deadline) {
			print_screen(p, "the output to stop");
			return false;
		}
		wait_step(p, (int)MIN(ms, (unsigned)STEP_MS));
		if (p->output_total != seen) {
			seen = p->output_total;
			last = clock_mono_ms();
		}
	}
	return true;
}

static bool has_ended(struct pty *p, void *arg)
{
	(void)arg;
	if (p->pid > 0 && waitpid(p->pid, &p->status, WNOHANG) == p->pid) {
		p->pid = 0;
		pty_poll(p);
	}
	return p->pid == 0;
}

bool pty_wait_exit(struct pty *p, int *status)
{
	if (!pty_wait(p, has_ended, NULL, "the program to end"))
		return false;
	if (status)
		*status = p->status;
	return true;
}
