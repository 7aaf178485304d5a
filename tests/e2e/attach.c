/* `ccvm attach` and `ccvm exec -t` on a pseudo terminal, with a fake supervisor behind them. Run by tests/e2e/attach.t, which
 * sets up private folders; prints TAP. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/fake_vm.h"
#include "tests/lib/pty.h"

#define ROWS 20
#define COLS 90

/* ---- the terminal ---- */

static struct pty *start(const char *const *argv)
{
	static const char *const ENV[] = {"TERM=xterm-256color", NULL};
	return pty_start(&(struct pty_spec){.argv = argv, .env = ENV, .rows = ROWS, .cols = COLS});
}

static struct pty *attach(void)
{
	static const char *const ARGV[] = {"build/ccvm", "attach", "alpha", NULL};
	return start(ARGV);
}

static bool same_settings(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

/* Nothing that was switched on is left on, and the settings are those of before. */
static bool is_given_back(struct pty *p, void *arg)
{
	struct termios now = pty_termios(p);
	return same_settings(&now, arg) && !(pty_modes(p) & (TERM_ALT_SCREEN | TERM_BRACKETED_PASTE)) &&
	       pty_cursor(p).visible && strstr(pty_output(p, NULL), "\033[?1049l");
}

static bool wait_given_back(struct pty *p, struct termios *before)
{
	return pty_wait(p, is_given_back, before, "the terminal is as it was");
}

static bool exits_with(struct pty *p, int code)
{
	int status;
	if (!pty_wait_exit(p, &status))
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == code)
		return true;
	printf("# wait status %#x, wanted exit code %d\n", status, code);
	return false;
}

static bool has_alt_screen(struct pty *p, void *arg)
{
	(void)arg;
	return (pty_modes(p) & TERM_ALT_SCREEN) != 0;
}

static bool was_left(struct pty *p)
{
	return pty_wait_text(p, "[left alpha; back with: ccvm attach alpha]");
}

/* ---- the tests ---- */

static void test_seeing_and_typing(struct tap *t, struct pty *p)
{
	tap_ok(t, pty_wait_text(p, "$") && (pty_modes(p) & TERM_ALT_SCREEN),
	       "the VM's shell has the whole screen");
	pty_send(p, "echo he''llo\r");
	tap_ok(t, pty_wait_text(p, "hello"), "what is typed reaches it");
	pty_send(p, "stty size\r");
	tap_ok(t, pty_wait_text(p, "20 90"), "its terminal has the size of ours");
	pty_resize(p, 12, 70);
	pty_wait_quiet(p, 100);
	pty_send(p, "stty size\r");
	tap_ok(t, pty_wait_text(p, "12 70"), "and follows it");
	pty_resize(p, ROWS, COLS);
	pty_send(p, "printf '\\033]2;a name\\007'\r");
	pty_wait_quiet(p, 100);
	tap_ok(t, strcmp(pty_title(p), "alpha: a name") == 0, "the title is the VM's name and its own");
}

static void test_hostile_output(struct tap *t, struct pty *p)
{
	pty_send(p, "clear; printf '\\033]52;c;aGk=\\007\\033P+q\\033\\\\\\033[?1006h'; echo do''ne\r");
	tap_ok(t, pty_wait_text(p, "done"), "sequences are swallowed");
	const char *out = pty_output(p, NULL);
	tap_ok(t, !strstr(out, "\033]52") && !strstr(out, "\033P+q") && !strstr(out, "\033[?1006h"),
	       "none of them reaches the operator's terminal");
	pty_send(p, "printf '\\033[?1006l'\r");
}

static bool has_mouse(struct pty *p, void *arg)
{
	return ((pty_modes(p) & (TERM_MOUSE_DRAG | TERM_MOUSE_SGR)) != 0) == *(bool *)arg;
}

static void test_mouse_and_focus(struct tap *t, struct pty *p)
{
	bool on = true, off = false;
	pty_send(p, "\033[<0;4;5M\033[<64;4;5Mecho not''hing\r");
	tap_ok(t, pty_wait_text(p, "nothing") && !pty_has_text(p, "[<"),
	       "a mouse that nobody asked for does nothing");
	pty_send(p, "stty -icanon -echo; printf '\\033[?1002;1006;1004h'; dd bs=1 count=12 2>/dev/null | cat "
	            "-v; stty "
	            "sane\r");
	tap_ok(t, pty_wait(p, has_mouse, &on, "the mouse is reported"),
	       "a guest that asks for the mouse gets one");
	pty_send(p, "\033[<0;4;5M\033[I");
	tap_ok(t, pty_wait_text(p, "^[[<0;4;5M^[[I"), "and its events, and those of the focus");
	pty_send(p, "printf '\\033[?1002;1006;1004l'\r");
	tap_ok(t, pty_wait(p, has_mouse, &off, "the mouse is not reported"), "until it asks no longer");
}

static void test_paste(struct tap *t, struct pty *p)
{
	pty_send(
	    p,
	    "stty -icanon -echo; printf '\\033[?2004h'; dd bs=1 count=16 2>/dev/null | cat -v; stty sane\r");
	pty_wait_quiet(p, 100);
	pty_send(p, "\033[200~a\nb\035d\033[201~"); /* no key is in it, and controls are taken out */
	tap_ok(t, pty_wait_text(p, "^[[200~a") && pty_wait_text(p, "bd^[[201~"), "a paste is one paste");
	pty_send(p, "printf '\\033[?2004l'\r");
	pty_wait_quiet(p, 100);
}

/* What the terminal shows of a cell of the guest. */
static bool has_look(struct pty *p, const char *word, uint32_t fg, uint32_t ul, unsigned attrs,
                     const char *uri)
{
	const struct clusters *clusters;
	int row = pty_find_row(p, word);
	const struct cell *c = row < 0 ? NULL : pty_cell(p, (unsigned)row, 0, &clusters);
	const char *link = c ? clusters_link(clusters, c->link) : NULL;
	return c && c->fg == fg && c->ul == ul && c->attrs == attrs &&
	       (uri ? link && strcmp(link, uri) == 0 : !link);
}

static void test_fidelity(struct tap *t)
{
	static const char *const ARGV[] = {"build/ccvm", "attach", "alpha", NULL};
	static const char *const ENV[] = {"TERM=xterm-256color", "COLORTERM=truecolor", NULL};
	struct pty *p = pty_start(&(struct pty_spec){.argv = ARGV, .env = ENV, .rows = ROWS, .cols = COLS});
	pty_wait_text(p, "$");
	pty_send(p, "clear; printf '\\033[38;2;1;2;3mr''gb\\033[m\\n\\033[4:3;58:2::4:5:6mcu''rly\\033[m\\n"
	            "\\033[1;2;3;9;53mma''ny\\033[m\\n\\033]8;;https://x.example/"
	            "\\007li''nk\\033]8;;\\007\\n\\033[5 qpain''ted'\r");
	tap_ok(t, pty_wait_text(p, "painted"), "colours, underlines and links are drawn");
	tap_ok(t, has_look(p, "rgb", COLOUR_RGB(1, 2, 3), 0, 0, NULL), "as RGB");
	tap_ok(t, has_look(p, "curly", 0, COLOUR_RGB(4, 5, 6), UNDERLINE_CURLY << CELL_UNDERLINE_SHIFT, NULL),
	       "an underline with its form and colour");
	tap_ok(
	    t,
	    has_look(p, "many", 0, 0, CELL_BOLD | CELL_DIM | CELL_ITALIC | CELL_STRIKE | CELL_OVERLINE, NULL),
	    "with all attributes");
	tap_ok(t, has_look(p, "link", 0, 0, 0, "https://x.example/"), "with its target");
	tap_ok(t, pty_cursor(p).shape == CURSOR_BAR, "and the cursor has its shape");
	pty_send(p, "printf '\\033[0 q'\r\035d");
	pty_wait_exit(p, NULL);
	tap_ok(t, pty_cursor(p).shape == CURSOR_DEFAULT, "until it is left");
	pty_end(p);
}

static void test_prefix_key(struct tap *t, struct pty *p)
{
	pty_wait_quiet(p, 100);
	pty_send(p, "stty -isig -icanon -echo; dd bs=1 count=2 2>/dev/null | cat -v; stty sane\r");
	pty_wait_quiet(p, 200);
	pty_send(p, "\035\035x"); /* C-] C-] x */
	tap_ok(t, pty_wait_text(p, "^]x"), "the prefix twice is the key itself");
	pty_wait_quiet(p, 100);
	pty_send(p, "\035?");
	tap_ok(t, pty_wait_text(p, "C-] d leaves") && pty_find_row(p, "C-] d leaves") == ROWS - 1,
	       "prefix ? shows the keys in the last row");
	pty_send(p, "echo a''gain\r");
	tap_ok(t, pty_wait_text(p, "again") && pty_wait_no_text(p, "C-] d leaves"),
	       "the next key takes them away");
}

static void test_leaving(struct tap *t, struct pty *p, struct termios *before)
{
	pty_send(p, "\035d");
	tap_ok(t, exits_with(p, 0) && was_left(p), "prefix d leaves");
	tap_ok(t, wait_given_back(p, before), "and the terminal is as it was");
	pty_end(p);
	p = attach();
	tap_ok(t, pty_wait_text(p, "again"), "coming back shows the same screen");
	pty_send(p, "\035d");
	pty_wait_exit(p, NULL);
	pty_end(p);
}

static void test_signal(struct tap *t, struct termios *before, int signum, const char *what)
{
	char name[100];
	struct pty *p = attach();
	pty_wait_text(p, "$");
	pty_signal(p, signum);
	snprintf(name, sizeof(name), "%s ends it with 128 + n", what);
	tap_ok(t, exits_with(p, 128 + signum), name);
	snprintf(name, sizeof(name), "after %s the terminal is as it was", what);
	tap_ok(t, wait_given_back(p, before), name);
	pty_end(p);
}

static void test_killed(struct tap *t, struct termios *before)
{
	struct pty *p = attach();
	int status;
	pty_wait_text(p, "$");
	pty_signal(p, SIGKILL);
	tap_ok(t, pty_wait_exit(p, &status) && WIFSIGNALED(status), "kill -9 ends it at once");
	tap_ok(t, wait_given_back(p, before), "and even then the terminal is given back");
	pty_end(p);
	p = attach();
	tap_ok(t, pty_wait_text(p, "$"), "the program in the VM did not notice");
	pty_send(p, "\035d");
	pty_wait_exit(p, NULL);
	pty_end(p);
}

/* Two windows of different sizes on one terminal. */
static void test_another_client(struct tap *t)
{
	static const char *const ARGV[] = {"build/ccvm", "attach", "alpha", NULL};
	static const char *const ENV[] = {"TERM=xterm-256color", NULL};
	struct pty *p = attach();
	pty_wait_text(p, "$");
	struct pty *other = pty_start(&(struct pty_spec){.argv = ARGV, .env = ENV, .rows = 8, .cols = 40});
	tap_ok(t, pty_wait_text(p, "another client has set alpha to 40x8, this window is 90x20"),
	       "a client is told that another one has set the size");
	pty_send(other, "\035d");
	pty_wait_exit(other, NULL);
	pty_end(other);
	pty_send(p, "stty size\r");
	tap_ok(t, pty_wait_text(p, "20 90") && !pty_has_text(p, "another client"), "who types has the size");
	pty_send(p, "\035d");
	pty_wait_exit(p, NULL);
	pty_end(p);
}

/* Job control needs a shell: a job without one would never be continued, so the kernel does not stop it. */
static void test_suspend(struct tap *t)
{
	static const char *const ARGV[] = {"bash", "--norc", "-i", NULL};
	struct pty *p = start(ARGV);
	pty_send(p, "PS1='out''side> '; echo first screen; build/ccvm attach alpha\r");
	tap_ok(t, pty_wait(p, has_alt_screen, NULL, "attached"), "attach from a shell");
	pty_wait_quiet(p, 100);
	pty_send(p, "\035z");
	tap_ok(t, pty_wait_text(p, "Stopped") && pty_has_text(p, "first screen") && !has_alt_screen(p, NULL),
	       "prefix z stops it and gives the terminal back");
	pty_send(p, "echo ech''oed\r");
	tap_ok(t, pty_wait_text(p, "echoed"), "the shell works as ever");
	pty_send(p, "bg\r");
	pty_send(p, "echo st''ill\r");
	tap_ok(t, pty_wait_text(p, "still") && !has_alt_screen(p, NULL),
	       "in the background it leaves the terminal alone");
	pty_send(p, "fg\r");
	tap_ok(t, pty_wait(p, has_alt_screen, NULL, "attached again"), "fg brings it back");
	pty_send(p, "\025echo ba''ck\r");
	tap_ok(t, pty_wait_text(p, "back"), "and it takes keys");
	pty_send(p, "\035d");
	tap_ok(t, was_left(p) && pty_has_text(p, "first screen"), "and gives the terminal back in the end");
	pty_send(p, "exit\r");
	pty_wait_exit(p, NULL);
	pty_end(p);
}

static void test_program_ends(struct tap *t, struct termios *before)
{
	struct pty *p = attach();
	pty_wait_text(p, "$");
	pty_send(p, "exit 3\r");
	tap_ok(t, exits_with(p, 3), "the program's exit code is passed on");
	tap_ok(t, pty_wait_text(p, "[alpha: the program ended with status 3]") && wait_given_back(p, before),
	       "it is told on a terminal that is as it was");
	pty_end(p);
}

static void test_exec_tty(struct tap *t, struct termios *before)
{
	static const char *const ARGV[] = {"build/ccvm", "exec", "-t", "alpha", "--", "sh", NULL};
	struct pty *p = start(ARGV);
	pty_wait_text(p, "$");
	pty_send(p, "echo last wo''rds\r");
	pty_wait_text(p, "last words");
	pty_send(p, "exit 5\r");
	tap_ok(t, exits_with(p, 5), "exec -t passes the exit code on");
	tap_ok(t, wait_given_back(p, before) && pty_wait_text(p, "last words"),
	       "and leaves what was shown at last on the terminal");
	pty_end(p);
}

static void test_exec_plain(struct tap *t)
{
	static const char HOSTILE[] = "\033]52;c;aGk=\033\\\033[31mr\xc3\xa9"
	                              "d\x9b"
	                              "2J\xc2\x9b"
	                              "3J\016\xe2\x80\xae.\r\n";
	static const char *const ARGV[] = {"build/ccvm", "exec", "alpha", "--", HOSTILE, NULL};
	static const char *const PIPED[] = {
	    "sh", "-c", "build/ccvm exec alpha -- \"$0\" 2>&1 >/dev/null | od -An -c | head -n 1", HOSTILE,
	    NULL};
	struct pty *p = start(ARGV);
	tap_ok(t,
	       exits_with(p, 4) && pty_wait_text(p, "r\xc3\xa9"
	                                            "d\xef\xbf\xbd"
	                                            "2J3J."),
	       "exec shows the text of what a program prints");
	tap_ok(t, !strpbrk(pty_output(p, NULL), "\033\016") && !strstr(pty_output(p, NULL), "\xc2\x9b"),
	       "and nothing that a terminal obeys");
	pty_end(p);
	p = start(PIPED);
	tap_ok(t, exits_with(p, 0) && pty_wait_text(p, "033   ]   5   2   ;"), "a pipe gets every byte");
	pty_end(p);
}

static void test_supervisor_dies(struct tap *t, struct termios *before, struct fake_vm *vm)
{
	struct pty *p = attach();
	pty_wait_text(p, "$");
	kill(vm->pid, SIGKILL);
	tap_ok(t, exits_with(p, 1), "a dead supervisor ends it with 1");
	tap_ok(t,
	       pty_wait_text(p, "the supervisor of VM alpha closed the connection") &&
	           wait_given_back(p, before),
	       "and it says so on a terminal that is as it was");
	pty_end(p);
	fake_vm_end(vm);
	p = attach();
	tap_ok(t, exits_with(p, 1) && pty_wait_text(p, "is not running"), "a VM that does not run is told");
	tap_ok(t, !strstr(pty_output(p, NULL), "\033[?1049h"), "without touching the screen");
	pty_end(p);
}

int main(void)
{
	struct tap t = {0};
	struct fake_vm vm = fake_vm_start("alpha");
	static const char *const TRUE[] = {"true", NULL};
	struct pty *fresh = start(TRUE);
	struct termios before = pty_termios(fresh);
	pty_end(fresh);

	struct pty *p = attach();
	test_seeing_and_typing(&t, p);
	test_hostile_output(&t, p);
	test_mouse_and_focus(&t, p);
	test_paste(&t, p);
	test_prefix_key(&t, p);
	test_leaving(&t, p, &before);
	test_signal(&t, &before, SIGTERM, "SIGTERM");
	test_signal(&t, &before, SIGHUP, "SIGHUP");
	test_signal(&t, &before, SIGINT, "SIGINT");
	test_killed(&t, &before);
	test_fidelity(&t);
	test_another_client(&t);
	test_suspend(&t);
	test_program_ends(&t, &before);
	test_exec_tty(&t, &before);
	test_exec_plain(&t);
	test_supervisor_dies(&t, &before, &vm);
	printf("1..%d\n", t.count);
	return t.failed != 0;
}
