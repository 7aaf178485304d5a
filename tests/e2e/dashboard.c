/* The real dashboard on a pseudo terminal, with fake supervisors behind it. Run by tests/e2e/dashboard.t, which sets up
 * private folders; prints TAP. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "tests/lib/fake_vm.h"
#include "tests/lib/pty.h"

#define ROWS 30
#define COLS 110

/* ---- the dashboard ---- */

static struct pty *dashboard(unsigned rows, unsigned cols, const char *env)
{
	static const char *const ARGV[] = {"build/ccvm", NULL};
	const char *const ENV[] = {"TERM=xterm-256color", "NO_COLOR", env, NULL};
	return pty_start(&(struct pty_spec){.argv = ARGV, .env = ENV, .rows = rows, .cols = cols});
}

static void last_row(struct pty *p, unsigned rows, struct str *out)
{
	struct str all = STR_INIT(1 << 20);
	pty_screen_text(p, &all);
	const char *line = all.s;
	for (unsigned i = 1; i < rows; i++)
		line = strchr(line, '\n') + 1;
	size_t len = strcspn(line, "\n");
	while (len > 0 && line[len - 1] == ' ')
		len--;
	str_append_bytes(out, line, len);
	str_finish(&all);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);
	return n >= k && strcmp(text + n - k, end) == 0;
}

struct wanted_end {
	unsigned rows;
	const char *text;
};

static bool bottom_line_ends(struct pty *p, void *arg)
{
	const struct wanted_end *w = arg;
	struct str row = STR_INIT(4096);
	last_row(p, w->rows, &row);
	bool found = ends_with(row.s, w->text);
	str_finish(&row);
	return found;
}

static bool wait_bottom(struct pty *p, unsigned rows, const char *text)
{
	struct wanted_end w = {.rows = rows, .text = text};
	return pty_wait(p, bottom_line_ends, &w, text);
}

/* The size of the pane as it is drawn, from its corner to the line above the feed and the edge of the screen: what the
 * program in it must have. */
struct size {
	unsigned rows, cols;
};

static struct size pane_size(struct pty *p, unsigned screen_cols)
{
	struct size size = {0};
	const struct clusters *clusters;
	int top = pty_find_row(p, "━ alpha"), bottom = pty_find_row(p, "[Denied");
	for (unsigned col = 0; top >= 0 && bottom > top && col < screen_cols; col++) {
		if (pty_cell(p, (unsigned)top, col, &clusters)->code == 0x250f) {
			size.rows = (unsigned)(bottom - top - 1);
			size.cols = screen_cols - col - 1;
		}
	}
	return size;
}

/* While typing. */
static bool program_has_size_of_pane(struct pty *p, unsigned screen_cols)
{
	char stty[40], title[40];
	struct size size = pane_size(p, screen_cols);
	snprintf(stty, sizeof(stty), "┃%u %u", size.rows, size.cols);
	snprintf(title, sizeof(title), "· %ux%u ━", size.cols, size.rows);
	pty_send(p, "stty size\r");
	return size.rows > 0 && pty_wait_text(p, stty) && pty_wait_text(p, title);
}

static bool same_settings(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

/* The screen before the alternate one is back, and nothing that was switched on is left on. */
static bool given_back(struct pty *p, const struct termios *before)
{
	struct termios after = pty_termios(p);
	unsigned left_on = pty_modes(p) & (TERM_ALT_SCREEN | TERM_BRACKETED_PASTE | TERM_APP_CURSOR |
	                                   TERM_APP_KEYPAD | TERM_FOCUS_EVENTS | TERM_MOUSE_CLICK);
	bool fine = same_settings(&after, before) && left_on == 0 && pty_cursor(p).visible &&
	            strstr(pty_output(p, NULL), "\033[?1049l");
	if (!fine)
		printf("# after: settings %d modes %#x cursor %d\n", same_settings(&after, before), left_on,
		       pty_cursor(p).visible);
	return fine;
}

static bool is_given_back(struct pty *p, void *arg)
{
	struct termios after = pty_termios(p);
	return same_settings(&after, arg) && !(pty_modes(p) & (TERM_ALT_SCREEN | TERM_BRACKETED_PASTE)) &&
	       pty_cursor(p).visible;
}

static void quit(struct pty *p)
{
	pty_send(p, "q");
	pty_wait_exit(p, NULL);
	pty_end(p);
}

/* ---- tests ---- */

static void test_empty(struct tap *t)
{
	struct pty *p = dashboard(12, 80, NULL);
	tap_ok(t, pty_wait_text(p, "No VMs. N makes one"), "an empty dashboard says what to do");
	quit(p);
}

static void test_list(struct tap *t, struct pty *p)
{
	tap_ok(t,
	       pty_wait_text(p, "2 VMs") && pty_wait_text(p, "▸ alpha  ○ ready") &&
	           pty_wait_text(p, "  beta   ○ ready"),
	       "the list shows both VMs with their states");
	tap_ok(t, pty_wait_text(p, "│$"), "the pane shows the prompt of the selected VM's shell");
}

static void test_typing(struct tap *t, struct pty *p)
{
	pty_send(p, "\r");
	tap_ok(t, wait_bottom(p, ROWS, "TYPING alpha — C-] leaves") && pty_has_text(p, "┏━ alpha"),
	       "Enter types: border and bottom line say so");
	pty_send(p, "echo he''llo\r");
	tap_ok(t, pty_wait_text(p, "┃hello"), "what is typed reaches the program");
	tap_ok(t, program_has_size_of_pane(p, COLS),
	       "the program's terminal has exactly the size of the pane");
	pty_send(p, "stty -icanon -isig -ixon -iexten -echo; echo go''ing; dd bs=1 count=19 2>/dev/null | "
	            "cat -v; stty sane\r");
	pty_wait_text(p, "┃going");
	pty_send(p, "\003\032\021\023"); /* C-c C-z C-q C-s */
	pty_send(p, "\033x");            /* Alt-x */
	pty_send(p, "\033[15~");         /* F5 */
	pty_send(p, "\033[1;5D");        /* Control-Left */
	pty_send(p, "\035\035");         /* C-] C-]: one for the guest */
	pty_send(p, "\033");             /* and a bare Escape, last: told apart by time */
	tap_ok(t, pty_wait_text(p, "^C^Z^Q^S^[x^[[15~^[[1;5D^]^["),
	       "every key reaches the program as it was pressed");
}

static void test_paste(struct tap *t, struct pty *p)
{
	pty_wait_text(p, "^]^[$"); /* the prompt is back */
	pty_send(p, "\033[200~echo o''ne q\035\033[201~\r");
	tap_ok(t, pty_wait_text(p, "┃one q") && wait_bottom(p, ROWS, "TYPING alpha — C-] leaves"),
	       "a paste goes to the program, and nothing in it acts as a key");
	pty_send(p, "\003\035");
	tap_ok(t, wait_bottom(p, ROWS, "COMMAND"), "C-] leaves typing");
	pty_send(p, "\033[200~qqxy\033[201~");
	tap_ok(t, pty_wait_text(p, "a paste goes to a VM while typing"), "a paste is no command");
}

static void test_selection(struct tap *t, struct pty *p)
{
	pty_send(p, "j");
	tap_ok(t, pty_wait_text(p, "┌─ beta") && pty_wait_no_text(p, "hello"), "j shows the next VM");
	pty_send(p, "k");
	tap_ok(t, pty_wait_text(p, "┌─ alpha") && pty_wait_text(p, "│hello"),
	       "k goes back to the same screen");
}

static void test_denied(struct tap *t, struct pty *p, const struct fake_vm *alpha)
{
	fake_vm_tell(alpha, "deny telemetry.test 443");
	tap_ok(t,
	       pty_wait_text(p, "alpha  telemetry.test:443") && pty_wait_text(p, "[Denied 1]") &&
	           pty_wait_text(p, "1 denied"),
	       "a refusal is in the feed and counted");
	pty_send(p, "a");
	tap_ok(t, pty_wait_text(p, "allow telemetry.test for alpha? y/n"), "an allow asks first");
	pty_send(p, "y");
	tap_ok(t, pty_wait_text(p, "alpha: allow telemetry.test:443: in force"), "and shows the answer");
	pty_send(p, "j");
	pty_send(p, "\t\r");
	tap_ok(t, pty_wait_text(p, "▸ alpha"), "Enter on a row goes to its VM");
}

static void test_egress(struct tap *t, struct pty *p, const struct fake_vm *beta)
{
	fake_vm_tell(beta, "egress broken the relay does not listen");
	tap_ok(t, pty_wait_text(p, "the relay does not listen") && pty_wait_text(p, "1 egress broken"),
	       "a broken way out is seen at a glance");
	fake_vm_tell(beta, "egress ok");
	tap_ok(t, pty_wait_no_text(p, "egress broken"), "and so is its repair");
}

static void test_hostile_output(struct tap *t, struct pty *p, const struct fake_vm *alpha)
{
	fake_vm_tell(
	    alpha, "title \\e]0;evil\\e[2Jtitle\\a\\e]52;c;aGk=\\a\\e[?1049hZ\\e[?1049l\\e]2;plain title\\a");
	tap_ok(t, pty_wait_text(p, "· plain title"), "the program's title is in the pane's title");
	const char *out = pty_output(p, NULL);
	tap_ok(t, !strstr(out, "\033]52") && !strstr(out, "evil\033"),
	       "no sequence of the program reaches the operator's terminal");
}

/* Column of a character in the first row that has it; -1. */
static int find_col(struct pty *p, const char *row_text, uint32_t code, unsigned cols)
{
	const struct clusters *clusters;
	int row = pty_find_row(p, row_text);
	for (unsigned col = 0; row >= 0 && col < cols; col++) {
		if (pty_cell(p, (unsigned)row, col, &clusters)->code == code)
			return (int)col;
	}
	return -1;
}

static void test_odd_characters(struct tap *t, struct pty *p, const struct fake_vm *alpha)
{
	/* Wide ones; a base with marks, more than a cell holds; an emoji that the C library does not know; a family that some
	 * terminals draw as one; a soft hyphen; a right-to-left override. */
	fake_vm_tell(
	    alpha,
	    "title \\e[2J\\e[H\xe6\x97\xa5\xe6\x9c\xac|e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86|"
	    "\xe2\x80\xae|END \xf0\x9f\xab\xa8");
	tap_ok(t, pty_wait_text(p, "|END"), "odd characters are drawn");
	int border = find_col(p, "|END", 0x2502, COLS), e = find_col(p, "|END", 'E', COLS);
	tap_ok(t, border > 0 && e - border == 1 + 4 + 1 + 1 + 1 + 1, "and shift nothing to their right");
	tap_ok(t, !strstr(pty_output(p, NULL), "\xe2\x80\xae"),
	       "and none that changes the direction gets out");
	fake_vm_tell(alpha, "title \\e[2J\\e[H\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9|\xc2\xad|DONE");
	tap_ok(t, pty_wait_text(p, "|DONE") && !strstr(pty_output(p, NULL), "\xe2\x80\x8d"),
	       "nor one that joins cells");
}

static void test_idle(struct tap *t, struct pty *p)
{
	pty_wait_quiet(p, 300);
	size_t before = pty_output_total(p);
	/* The clock in the title may change once in this time, and that is a few bytes. */
	pty_wait_quiet(p, 2200);
	tap_ok(t, pty_output_total(p) - before < 200, "nothing is written while nothing happens");
}

static void test_resize_storm(struct tap *t, struct pty *p)
{
	unsigned seed = 12345;
	for (int i = 0; i < 120; i++) {
		seed = seed * 1103515245 + 12345;
		pty_resize(p, 1 + (seed >> 16) % 60, 1 + (seed >> 8) % 200);
		pty_poll(p);
	}
	pty_resize(p, 1, 1);
	pty_poll(p);
	pty_resize(p, 26, 100);
	tap_ok(t,
	       wait_bottom(p, 26, "COMMAND") && pty_wait_text(p, "▸ alpha") && pty_wait_text(p, "┌─ alpha"),
	       "after a storm of sizes the last one is drawn");
	pty_send(p, "\r");
	wait_bottom(p, 26, "TYPING alpha — C-] leaves");
	tap_ok(t, program_has_size_of_pane(p, 100), "and the program has it, too");
	pty_send(p, "\035");
	wait_bottom(p, 26, "COMMAND");
	pty_resize(p, ROWS, COLS);
	wait_bottom(p, ROWS, "COMMAND");
}

static void test_program_ends(struct tap *t, struct pty *p)
{
	pty_send(p, "\rexit 3\r");
	tap_ok(t, pty_wait_text(p, "the program ended with code 3") && wait_bottom(p, ROWS, "COMMAND"),
	       "typing ends with the program");
	pty_send(p, "\r");
	tap_ok(t, wait_bottom(p, ROWS, "TYPING alpha — C-] leaves") && pty_wait_text(p, "┃$"),
	       "Enter starts a new one");
	pty_send(p, "\035");
}

static void test_failed(struct tap *t, struct pty *p, struct fake_vm *alpha)
{
	struct err e = ERR_INIT;
	char *log = mem_printf("%s/ccvm/alpha/console.log", getenv("XDG_STATE_HOME"));
	static const char TEXT[] = "Linux version\r\nKernel panic - \033[31mnot\033[0m syncing\r\n";
	if (!fd_write_file(log, TEXT, sizeof(TEXT) - 1, 0600, &e))
		printf("# %s\n", e.msg);
	free(log);
	kill(alpha->pid, SIGKILL);
	waitpid(alpha->pid, NULL, 0);
	tap_ok(t,
	       pty_wait_text(p, "✗ failed") && pty_wait_text(p, "its supervisor died") &&
	           pty_wait_text(p, "1 failed"),
	       "a VM whose supervisor was killed is failed, with the reason");
	tap_ok(t, pty_wait_text(p, "Kernel panic - not syncing"),
	       "and its pane shows the last console lines");
	close(alpha->commands);
	*alpha = fake_vm_start("alpha");
	tap_ok(t, pty_wait_text(p, "▸ alpha  ○ ready") && pty_wait_text(p, "│$"),
	       "a new one is seen and opened");
}

static void test_quit(struct tap *t, struct pty *p, const struct termios *before, const struct fake_vm *alpha,
                      const struct fake_vm *beta)
{
	int status = -1;
	kill(alpha->pid, SIGSTOP); /* not even a supervisor that hangs holds it up */
	uint64_t start = clock_mono_ms();
	pty_send(p, "q");
	tap_ok(t, pty_wait_exit(p, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 0, "q quits");
	printf("# in %d ms\n", (int)(clock_mono_ms() - start));
	kill(alpha->pid, SIGCONT);
	tap_ok(t, given_back(p, before), "and gives the terminal back");
	tap_ok(t, fake_vm_runs(alpha) && fake_vm_runs(beta), "and the VMs run on");
	pty_end(p);
}

static void test_signals(struct tap *t)
{
	static const struct {
		int signum;
		const char *name;
	} CASES[] = {{SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}, {SIGQUIT, "SIGQUIT"}};
	char what[64];
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		int status = -1;
		struct pty *p = dashboard(ROWS, COLS, NULL);
		struct termios before = pty_termios(p);
		pty_wait_text(p, "│$");
		pty_send(p, "\r");
		wait_bottom(p, ROWS, "TYPING alpha — C-] leaves");
		pty_signal(p, CASES[i].signum);
		snprintf(what, sizeof(what), "%s ends it and the terminal is given back", CASES[i].name);
		tap_ok(t,
		       pty_wait_exit(p, &status) && WIFEXITED(status) &&
		           WEXITSTATUS(status) == 128 + CASES[i].signum && given_back(p, &before),
		       what);
		printf("# wait status %#x\n", (unsigned)status);
		pty_end(p);
	}
}

/* The one child of a process; 0 when there is none. */
static pid_t child_of(pid_t pid)
{
	struct err e = ERR_INIT;
	char *path = mem_printf("/proc/%d/task/%d/children", (int)pid, (int)pid);
	char *text = fd_read_file(path, 4096, NULL, &e);
	pid_t child = text ? (pid_t)strtol(text, NULL, 10) : 0;
	free(text);
	free(path);
	return child;
}

static void test_hard_ends(struct tap *t)
{
	static const int SIGNALS[] = {SIGKILL, SIGSEGV};
	/* Not as the leader of the session, whose end takes the terminal away from everybody. */
	static const char *const ARGV[] = {"sh", "-c", "build/ccvm; echo sh goes on; read x", NULL};
	static const char *const ENV[] = {"TERM=xterm-256color", NULL};
	for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++) {
		struct pty *p =
		    pty_start(&(struct pty_spec){.argv = ARGV, .env = ENV, .rows = ROWS, .cols = COLS});
		struct termios before = pty_termios(p);
		pty_wait_text(p, "│$");
		kill(child_of(pty_pid(p)), SIGNALS[i]);
		tap_ok(t,
		       pty_wait_text(p, "sh goes on") &&
		           pty_wait(p, is_given_back, &before, "the terminal to be given back"),
		       SIGNALS[i] == SIGKILL ? "the terminal is given back even after kill -9"
		                             : "and after a crash");
		pty_end(p);
	}
}

static void test_suspend(struct tap *t)
{
	static const char *const ARGV[] = {"bash", "--norc", "--noprofile", "-i", NULL};
	static const char *const ENV[] = {"TERM=xterm-256color", "PS1=shell> ", NULL};
	struct pty *p = pty_start(&(struct pty_spec){.argv = ARGV, .env = ENV, .rows = ROWS, .cols = COLS});
	pty_wait_text(p, "shell>");
	pty_send(p, "build/ccvm\r");
	pty_wait_text(p, "│$");
	pty_send(p, "\032");
	tap_ok(t, pty_wait_text(p, "Stopped") && !(pty_modes(p) & TERM_ALT_SCREEN),
	       "C-z goes back to the shell");
	pty_send(p, "echo a''live\r");
	tap_ok(t, pty_wait_text(p, "alive"), "which can be used");
	pty_send(p, "fg\r");
	tap_ok(t, pty_wait_text(p, "▸ alpha") && wait_bottom(p, ROWS, "COMMAND"), "and fg returns");
	pty_send(p, "q");
	tap_ok(t, pty_wait_text(p, "alive") && !(pty_modes(p) & TERM_ALT_SCREEN),
	       "quitting then ends where it began");
	pty_end(p);
}

/* An SGR sequence with a number from 30 on (but 53, overline) is in the output. */
static bool has_colours(const char *out)
{
	while ((out = strstr(out, "\033[")) != NULL) {
		out += 2;
		const char *end = out + strspn(out, "0123456789;:");
		for (; *end == 'm' && out < end; out += strcspn(out, ";:m") + 1) {
			long n = strtol(out, NULL, 10);
			if (n >= 30 && n != 53)
				return true;
		}
	}
	return false;
}

static void test_terminals(struct tap *t)
{
	struct pty *p = dashboard(ROWS, COLS, "NO_COLOR=1");
	bool shown = pty_wait_text(p, "│$");
	tap_ok(t, shown && !has_colours(pty_output(p, NULL)), "NO_COLOR is obeyed");
	quit(p);
	p = dashboard(ROWS, COLS, "LC_ALL=C");
	tap_ok(t, pty_wait_text(p, "> alpha  o ready") && pty_wait_text(p, "|$"),
	       "an ASCII locale gets ASCII");
	quit(p);
	static const unsigned SIZES[][2] = {{1, 1}, {2, 2}, {3, 100}, {8, 30}, {20, 5}, {200, 500}};
	for (size_t i = 0; i < ARRAY_LEN(SIZES); i++) {
		int status = -1;
		char what[64];
		p = dashboard(SIZES[i][0], SIZES[i][1], NULL);
		pty_wait_quiet(p, 150);
		pty_send(p, "jkz\tx?");
		pty_wait_quiet(p, 50);
		pty_send(p, "\033");
		pty_wait_quiet(p, 150);
		pty_send(p, "nq\033qqq");
		snprintf(what, sizeof(what), "%ux%u works", SIZES[i][1], SIZES[i][0]);
		tap_ok(t, pty_wait_exit(p, &status) && status == 0, what);
		pty_end(p);
	}
}

static void test_narrow(struct tap *t)
{
	struct pty *p = dashboard(14, 40, NULL);
	tap_ok(t, pty_wait_text(p, "▸ alpha  ○ ready") && !pty_has_text(p, "─ alpha"),
	       "a narrow screen shows the list");
	pty_send(p, "\r");
	tap_ok(t, pty_wait_text(p, "━ alpha") && pty_wait_text(p, "40x11"), "and Enter all of the pane");
	pty_send(p, "\035");
	tap_ok(t, pty_wait_no_text(p, "━ alpha") && pty_wait_text(p, "▸ alpha"), "and C-] the list");
	quit(p);
}

int main(void)
{
	struct tap t = {0};
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	test_empty(&t);
	struct fake_vm alpha = fake_vm_start("alpha"), beta = fake_vm_start("beta");
	struct pty *p = dashboard(ROWS, COLS, NULL);
	struct termios before = pty_termios(p);
	test_list(&t, p);
	test_typing(&t, p);
	test_paste(&t, p);
	test_selection(&t, p);
	test_denied(&t, p, &alpha);
	test_egress(&t, p, &beta);
	test_hostile_output(&t, p, &alpha);
	test_odd_characters(&t, p, &alpha);
	test_idle(&t, p);
	test_resize_storm(&t, p);
	test_program_ends(&t, p);
	test_failed(&t, p, &alpha);
	test_quit(&t, p, &before, &alpha, &beta);
	test_signals(&t);
	test_hard_ends(&t);
	test_suspend(&t);
	test_terminals(&t);
	test_narrow(&t);
	fake_vm_end(&alpha);
	fake_vm_end(&beta);
	printf("1..%d\n", t.count);
	return t.failed > 0;
}
