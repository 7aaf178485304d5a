/* The real dashboard with several fake VMs: many at once, settings that change, an end and a new beginning. Run by
 * tests/e2e/dashboard_many.t, which sets up private folders; prints TAP. */
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

static struct pty *dashboard(void)
{
	static const char *const ARGV[] = {"build/ccvm", NULL};
	static const char *const ENV[] = {"TERM=xterm-256color", "NO_COLOR", NULL};
	return pty_start(&(struct pty_spec){.argv = ARGV, .env = ENV, .rows = ROWS, .cols = COLS});
}

static void quit(struct pty *p)
{
	pty_send(p, "q");
	pty_wait_exit(p, NULL);
	pty_end(p);
}

static void write_config(const char *text)
{
	struct err e = ERR_INIT;
	char *folder FREE_ON_EXIT = mem_printf("%s/ccvm", getenv("XDG_CONFIG_HOME"));
	char *path FREE_ON_EXIT = mem_printf("%s/ccvm.ini", folder);
	if (!fd_make_dirs(folder, 0700, &e) || !fd_write_file(path, text, strlen(text), 0600, &e))
		printf("# %s\n", e.msg);
}

/* A line in a file that a command of ours writes. */
static bool file_has(struct pty *p, void *arg)
{
	struct err ignored = ERR_INIT;
	char *path FREE_ON_EXIT = mem_printf("%s/told", getenv("XDG_STATE_HOME"));
	char *text FREE_ON_EXIT = fd_read_file(path, 65536, NULL, &ignored);
	(void)p;
	return text && strstr(text, arg);
}

/* ---- many at once ---- */

static void test_grid(struct tap *t, struct pty *p)
{
	pty_send(p, "g");
	tap_ok(t, pty_wait_text(p, "─ ▸ alpha") && pty_wait_text(p, "─ beta") && pty_wait_text(p, "─ delta"),
	       "the grid shows all three");
	pty_send(p, "l\r");
	pty_wait_text(p, "TYPING beta");
	pty_send(p, "echo in''beta\r");
	tap_ok(t, pty_wait_text(p, "inbeta"), "Enter types into the chosen one");
	pty_send(p, "\035g");
	tap_ok(t, pty_wait_text(p, "▸ beta"), "and g leads back to the list");
}

static void test_broadcast(struct tap *t, struct pty *p)
{
	pty_send(p, "*g");
	pty_wait_text(p, "3 marked");
	pty_send(p, "B");
	tap_ok(t, pty_wait_text(p, "TYPING INTO 3 VMs — C-] leaves") && pty_wait_text(p, "alpha BROADCAST"),
	       "typing into all of them says so, loudly");
	pty_send(p, "cd /; clear; echo to-$((40+2))-all\r");
	pty_wait_text(p, "to-42-all");
	struct str all = STR_INIT(1 << 20);
	int count = 0;
	pty_wait_quiet(p, 300);
	pty_screen_text(p, &all);
	for (const char *at = all.s; (at = strstr(at, "to-42-all")) != NULL; at++)
		count++;
	tap_ok(t, count == 3, "and each of them gets it");
	str_finish(&all);
	pty_send(p, "\035*g");
	pty_wait_text(p, "COMMAND");
	pty_wait_text(p, "▸ beta");
}

static void test_send(struct tap *t, struct pty *p)
{
	pty_send(p, "*s");
	pty_wait_text(p, "send to 3 marked:");
	pty_send(p, "echo se''nt\r");
	tap_ok(t, pty_wait_text(p, "3 VMs: done") && pty_wait_text(p, "│sent"),
	       "a line goes to all, one answer for them");
	pty_send(p, "*:select delta\r");
	tap_ok(t, pty_wait_text(p, "▸ delta") && pty_wait_text(p, "│sent"), "also to those out of sight");
}

static void test_terminals(struct tap *t, struct pty *p)
{
	pty_send(p, "c");
	tap_ok(t, pty_wait_text(p, "2/2"), "c opens one more shell, as a tab");
	pty_send(p, "\recho se''cond\r");
	pty_wait_text(p, "┃second");
	pty_send(p, "\035h");
	tap_ok(t, pty_wait_text(p, "1/2") && pty_wait_text(p, "│sent"), "h leads to the first one");
	pty_send(p, "lC");
	pty_wait_text(p, "end terminal 2 of delta");
	pty_send(p, "y");
	tap_ok(t, pty_wait_no_text(p, "2/2") && pty_wait_no_text(p, "second"), "and C ends it");
}

static void test_copy(struct tap *t, struct pty *p)
{
	char *path FREE_ON_EXIT = mem_printf("%s/ccvm/clipboard.txt", getenv("XDG_RUNTIME_DIR"));
	struct err e = ERR_INIT;
	write_config("[ui]\nclipboard = osc52\n");
	pty_send(p, ":reload\r");
	pty_wait_text(p, "read again");
	pty_send(p, "\rclear; seq 1000 1100\r");
	pty_wait_text(p, "┃1100");
	pty_send(p, "\035[?");
	pty_send(p, "1003\r"); /* it has been scrolled away */
	tap_ok(t, pty_wait_text(p, "│1003"), "copy mode finds what was scrolled away");
	pty_send(p, "Vjy");
	tap_ok(t, pty_wait_text(p, "10 bytes"), "and says what it copied");
	tap_ok(t, strstr(pty_output(p, NULL), "\033]52;c;MTAwMwoxMDA0") != NULL,
	       "the text goes to the terminal's clipboard");
	pty_send(p, ":recopy file\r");
	pty_wait_text(p, "clipboard.txt");
	char *text FREE_ON_EXIT = fd_read_file(path, 4096, NULL, &e);
	tap_ok(t, text && strncmp(text, "1003\n1004", 9) == 0, "or, again, into a file");
	write_config("");
}

/* A drag in the pane: press, move, release, in the SGR form; places are counted from 1. */
static void test_mouse(struct tap *t, struct pty *p)
{
	int row = pty_find_row(p, "▸ delta"), other = pty_find_row(p, "  beta");
	char keys[128];
	snprintf(keys, sizeof(keys), "\033[<0;5;%dM\033[<0;5;%dm", other + 1, other + 1);
	pty_send(p, keys);
	tap_ok(t, row >= 0 && other >= 0 && pty_wait_text(p, "▸ beta"), "a click selects");
	snprintf(keys, sizeof(keys), "\033[<0;5;%dM\033[<0;5;%dm", row + 1, row + 1);
	pty_send(p, keys);
	pty_wait_text(p, "▸ delta");
	pty_wait_text(p, "│1100");
	pty_send(p, "\033[<64;60;10M");
	tap_ok(t, pty_wait_text(p, "COPY"), "the wheel reads the history");
	pty_send(p, "q");
	pty_wait_text(p, "COMMAND");
	pty_send(p, "\r");
	pty_wait_text(p, "TYPING delta");
	pty_send(p, "clear; printf '\\033[?1000h\\033[?1006h'; cat -v\r");
	pty_wait_quiet(p, 300);
	pty_send(p, "\033[<0;60;10M\033[<0;60;10m\r");
	tap_ok(t, pty_wait_text(p, "^[[<0;"), "a program that asked for the mouse gets it");
	pty_send(p, "\003clear; printf '\\033[?1000l'\r\035");
	pty_wait_text(p, "COMMAND");
}

static void test_palette(struct tap *t, struct pty *p)
{
	pty_send(p, ":sor\t");
	pty_wait_text(p, ":sort");
	pty_send(p, "na\t\r");
	tap_ok(t, pty_wait_text(p, "VM▼") || pty_has_text(p, "by name"), "the palette completes and acts");
	pty_send(p, ":selekt beta\r");
	tap_ok(t, pty_wait_text(p, "no action 'selekt'; did you mean select?"), "and knows what was meant");
	pty_send(p, "/bet");
	tap_ok(t, pty_wait_no_text(p, "  alpha") && pty_wait_text(p, "1 of 3"),
	       "a filter works as it is typed");
	pty_send(p, "\r");
	pty_wait_text(p, "COMMAND");
}

/* ---- what must not be lost ---- */

static void pane_rows(struct pty *p, struct str *out)
{
	struct str all = STR_INIT(1 << 20);
	pty_wait_quiet(p, 300);
	pty_screen_text(p, &all);
	for (char *line = strtok(all.s, "\n"); line; line = strtok(NULL, "\n")) {
		const char *edge = strstr(line, "│");
		if (edge)
			str_appendf(out, "%s\n", edge);
	}
	str_finish(&all);
}

static void test_kill9(struct tap *t)
{
	struct str before = STR_INIT(1 << 20), after = STR_INIT(1 << 20);
	struct pty *p = dashboard();
	tap_ok(t, pty_wait_text(p, "3 VMs") && !pty_has_text(p, "1 of 3"),
	       "no filter of the last run hides VMs");
	pty_send(p, ":select alpha\r");
	pty_wait_text(p, "▸ alpha");
	pty_send(p, "\rprintf '\\033[32mgreen\\033[0m \\346\\227\\245|'; seq 5\r");
	pty_wait_text(p, "┃5");
	pty_send(p, "\035");
	pty_wait_text(p, "COMMAND");
	pane_rows(p, &before);
	kill(pty_pid(p), SIGKILL);
	pty_wait_exit(p, NULL);
	pty_end(p);
	p = dashboard();
	pty_wait_text(p, "│5");
	pane_rows(p, &after);
	tap_ok(t, before.len > 100 && strcmp(before.s, after.s) == 0,
	       "after a kill -9 a new console shows the same screen");
	if (strcmp(before.s, after.s) != 0)
		printf("# before\n%s# after\n%s", before.s, after.s);
	str_finish(&before);
	str_finish(&after);
	quit(p);
}

static void test_settings(struct tap *t)
{
	write_config("[keys]\nstop = z\n");
	struct pty *p = dashboard();
	tap_ok(t, pty_wait_text(p, "ccvm.ini:2: z is the key of 'zoom' already") && pty_wait_text(p, "▸ "),
	       "a mistake in the settings is named by file and line, and the dashboard runs");
	write_config("[keys]\nstop = F8\n");
	pty_send(p, ":reload\r");
	pty_wait_text(p, "read again");
	pty_send(p, "\033[19~");
	tap_ok(t, pty_wait_text(p, "? y/n"), ":reload reads them again");
	pty_send(p, "n");
	write_config("[keys]\nstop = F7\nnonsense = x\n");
	tap_ok(t, pty_wait_text(p, "ccvm.ini:3: no action is called 'nonsense'"),
	       "they are read by themselves when they change");
	pty_send(p, "\033[19~");
	tap_ok(t, pty_wait_text(p, "? y/n"), "and a mistake leaves those from before");
	pty_send(p, "n");
	pty_wait_text(p, "nothing was done");
	write_config("[keys]\nstop = F6\n");
	pty_signal(p, SIGHUP);
	pty_wait_text(p, "read again");
	pty_send(p, "\033[17~");
	tap_ok(t, pty_wait_text(p, "? y/n"), "SIGHUP reads them, too");
	pty_send(p, "n?");
	tap_ok(t, pty_wait_text(p, "F6"), "and the help has the new keys");
	pty_send(p, "q");
	quit(p);
}

/* ---- who calls ---- */

static size_t bells(struct pty *p)
{
	size_t len, count = 0;
	const char *out = pty_output(p, &len);
	for (size_t i = 0; i < len; i++)
		count += out[i] == '\a';
	return count;
}

static void test_attention(struct tap *t, const struct fake_vm *alpha, const struct fake_vm *beta)
{
	char *config FREE_ON_EXIT = mem_printf("[ui]\non_attention = echo \"$CCVM_VM $CCVM_ATTENTION: "
	                                       "$CCVM_TEXT\" >>\"$XDG_STATE_HOME/told\"\n");
	write_config(config);
	struct pty *p = dashboard();
	pty_wait_text(p, "▸ ");
	pty_wait_quiet(p, 300);
	size_t before = bells(p);
	fake_vm_tell(beta, "attention waiting May I $(reboot)?");
	tap_ok(t, pty_wait_text(p, "1 waiting") && pty_wait_text(p, "● waiting"), "who waits is seen");
	static char told[] = "beta waiting: May I $(reboot)?\n";
	tap_ok(t, pty_wait(p, file_has, told, "the command to be run"),
	       "the command is run, with what the guest says in its environment");
	pty_wait_quiet(p, 300);
	tap_ok(t, bells(p) == before + 1, "and the bell rings once");
	fake_vm_tell(alpha, "attention working");
	pty_wait_text(p, "◐ working");
	pty_send(p, "n");
	tap_ok(t, pty_wait_text(p, "▸ beta"), "n goes to it");
	tap_ok(t, pty_wait_text(p, "seen"), "and after a moment it is seen");
	quit(p);
	p = dashboard();
	pty_wait_text(p, "seen");
	pty_wait_quiet(p, 300);
	tap_ok(t, bells(p) == 0, "the next console knows that, too");
	fake_vm_tell(alpha, "attention idle");
	fake_vm_tell(beta, "attention idle");
	pty_wait_no_text(p, "waiting");
	quit(p);
	write_config("");
}

static void test_hanging(struct tap *t, const struct fake_vm *beta)
{
	struct pty *p = dashboard();
	pty_wait_text(p, "○ idle");
	pty_send(p, ":select alpha\r");
	pty_wait_text(p, "▸ alpha");
	kill(beta->pid, SIGSTOP);
	/* Somebody is at the keys: it is asked every two seconds, and judged three later. */
	tap_ok(t, pty_wait_text(p, "no answer") && pty_wait_text(p, "1 hanging"),
	       "a supervisor that hangs is seen");
	pty_send(p, "\recho al''ive\r");
	tap_ok(t, pty_wait_text(p, "┃alive"), "and holds up no key for another VM");
	pty_send(p, "\035");
	kill(beta->pid, SIGCONT);
	pty_send(p, "j");
	tap_ok(t, pty_wait_no_text(p, "no answer"), "when it goes on, that is seen as well");
	quit(p);
}

int main(void)
{
	struct tap t = {0};
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	struct fake_vm alpha = fake_vm_start("alpha"), beta = fake_vm_start("beta"),
	               delta = fake_vm_start("delta");
	struct pty *p = dashboard();
	pty_wait_text(p, "│$");
	test_grid(&t, p);
	test_broadcast(&t, p);
	test_send(&t, p);
	test_terminals(&t, p);
	test_copy(&t, p);
	test_mouse(&t, p);
	test_palette(&t, p);
	quit(p);
	test_kill9(&t);
	test_settings(&t);
	test_attention(&t, &alpha, &beta);
	test_hanging(&t, &beta);
	fake_vm_end(&alpha);
	fake_vm_end(&beta);
	fake_vm_end(&delta);
	printf("1..%d\n", t.count);
	return t.failed > 0;
}
