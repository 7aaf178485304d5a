/* vttest in two terminals at once, our emulator and a tmux window of the same size; after each step both must show the same
 * text in the same style. Run by tests/e2e/vttest.t with a private TMUX_TMPDIR; prints TAP, one test for each menu.
 *
 * A step is over when vttest has read what was typed, sleeps, and the cursor stands behind one of its two prompts. What
 * tmux shows is fetched with its colours and drawn into a second emulator, so that cells are compared with cells.
 *
 * Differences that are not ours are listed in tests/e2e/vttest-known.txt with the reason; a listed one that is gone fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/term/emulator.h"
#include "tests/lib/pty.h"

#define ROWS        24
#define COLS        80
#define STEPS_MOST  60
#define GIVE_UP_MS  20000
#define DIFFER_MS   5000 /* so long tmux may take to show the same after it shows a prompt, */
#define KNOWN_MS    300  /* and where it is known not to */
#define CAPTURE_MAX ((size_t)256 * 1024)

/* The menus that apply, and the way to each in choices. */
static const struct {
	const char *name, *keys[4];
} TESTS[] = {
    {"1 cursor movements", {"1"}},
    {"2 screen features", {"2"}},
    {"3 character sets", {"3"}},
    {"6.3 device status report", {"6", "3"}},
    {"6.4 primary device attributes", {"6", "4"}},
    {"8 VT102: insert and delete", {"8"}},
    {"9.1 bug A: smooth to jump scroll", {"9", "1"}},
    {"9.2 bug B: scrolling region", {"9", "2"}},
    {"9.7 wrap around with cursor addressing", {"9", "7"}},
    {"9.9 funny scroll regions", {"9", "9"}},
    {"11.5.1 HPA", {"11", "5", "1"}},
    {"11.5.2 CBT", {"11", "5", "2"}},
    {"11.5.3 CHA", {"11", "5", "3"}},
    {"11.5.4 CHT", {"11", "5", "4"}},
    {"11.5.5 HPR", {"11", "5", "5"}},
    {"11.5.6 VPA", {"11", "5", "6"}},
    {"11.5.7 CNL", {"11", "5", "7"}},
    {"11.5.8 CPL", {"11", "5", "8"}},
    {"11.5.9 VPR", {"11", "5", "9"}},
    {"11.6.2 colours", {"11", "6", "2"}},
    {"11.6.3 SGR 0", {"11", "6", "3"}},
    {"11.6.4 erasing in colour", {"11", "6", "4"}},
    {"11.6.5 ECH and indexing in colour", {"11", "6", "5"}},
    {"11.6.6.1 cursor movements in colour", {"11", "6", "6", "1"}},
    {"11.6.6.2 screen features in colour", {"11", "6", "6", "2"}},
    {"11.6.6.3 insert and delete in colour", {"11", "6", "6", "3"}},
    {"11.6.9 SGR 22 to 27", {"11", "6", "9"}},
    {"11.7.2 REP", {"11", "7", "2"}},
    {"11.7.3 SD", {"11", "7", "3"}},
    {"11.7.6 SU", {"11", "7", "6"}},
};
#define DEEPEST 4

struct screens {
	struct pty *ours;
	struct emulator *theirs; /* what tmux showed last */
	int tmux_pid;            /* of vttest in tmux */
	long ours_read, theirs_read;
	struct term_cursor their_cursor;
	char *known; /* owned; the list, of which what was met becomes a comment */
};

static NORETURN void bail(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(2);
}

/* ---- tmux -------------------------------------------------------------------------------------------------------- */

static size_t tmux(const char *command, char *out, size_t size)
{
	char line[512];
	snprintf(line, sizeof(line), "tmux -L vttest -f /dev/null %s 2>/dev/null", command);
	FILE *f = popen(line, "r");
	if (f == NULL)
		bail("no shell");
	size_t n = fread(out, 1, size - 1, f);
	out[n] = '\0';
	if (pclose(f) != 0)
		bail(line);
	return n;
}

/* First line: the cursor; then the rows as tmux would print them. */
static void capture(struct screens *s)
{
	static char text[CAPTURE_MAX];
	unsigned row, col;
	tmux("display-message -p -t v '#{cursor_y} #{cursor_x}' \\; capture-pane -p -e -N -t v", text,
	     sizeof(text));
	if (sscanf(text, "%u %u", &row, &col) != 2)
		bail("tmux gives no cursor");
	s->their_cursor = (struct term_cursor){.row = (uint16_t)row, .col = (uint16_t)MIN(col, COLS - 1)};
	emulator_reset(s->theirs);
	emulator_write(s->theirs, "\x1b[?7l\x1b)0", 8); /* line drawing is written with SO */
	char *rest = strchr(text, '\n') + 1, *line;
	for (unsigned i = 0; i < ROWS && (line = strsep(&rest, "\n")) != NULL; i++) {
		char move[16];
		emulator_write(s->theirs, move, (size_t)snprintf(move, sizeof(move), "\x1b[%uH", i + 1));
		emulator_write(s->theirs, line, strlen(line));
	}
}

/* ---- is it waiting? ---------------------------------------------------------------------------------------------- */

/* Bytes that a process has read so far; -1 when it is not asleep. */
static long bytes_read(int pid)
{
	char path[64], text[512];
	long count = -1;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *f = fopen(path, "r");
	bool asleep = f != NULL && fgets(text, sizeof(text), f) != NULL && strstr(text, ") S ") != NULL;
	if (f != NULL)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	f = asleep ? fopen(path, "r") : NULL;
	if (f != NULL && fscanf(f, "rchar: %ld", &count) != 1)
		count = -1;
	if (f != NULL)
		fclose(f);
	return count;
}

static void row_text(const struct cell *cells, size_t n, const struct clusters *clusters, char *out)
{
	for (size_t i = 0; i < n; i++)
		out += clusters_cell_utf8(clusters, &cells[i], out);
	*out = '\0';
}

/* "Push <RETURN>" or "... (0 - 12): ", with the cursor behind it. */
static bool is_prompt(const char *before_cursor)
{
	size_t len = strlen(before_cursor);
	while (len > 0 && before_cursor[len - 1] == ' ')
		len--;
	static const char PUSH[] = "Push <RETURN>";
	if (len >= sizeof(PUSH) - 1 &&
	    strncmp(before_cursor + len - (sizeof(PUSH) - 1), PUSH, sizeof(PUSH) - 1) == 0)
		return true;
	return len > 2 && strncmp(before_cursor + len - 2, "):", 2) == 0 &&
	       strstr(before_cursor, "Enter choice number") != NULL;
}

static bool our_prompt(struct pty *p, bool *menu)
{
	struct term_cursor c = pty_cursor(p);
	char text[COLS * CELL_UTF8_MAX + 1], *out = text;
	for (unsigned col = 0; col < c.col; col++) {
		const struct clusters *clusters;
		const struct cell *cell = pty_cell(p, c.row, col, &clusters);
		out += clusters_cell_utf8(clusters, cell, out);
	}
	*out = '\0';
	*menu = strstr(text, "Enter choice number") != NULL;
	return is_prompt(text);
}

static bool their_prompt(struct screens *s)
{
	char text[COLS * CELL_UTF8_MAX + 1];
	unsigned used;
	const struct cell *cells = emulator_row(s->theirs, s->their_cursor.row, &used);
	row_text(cells, MIN(used, s->their_cursor.col), emulator_clusters(s->theirs), text);
	return is_prompt(text);
}

static bool we_wait(struct pty *p, void *arg)
{
	const struct screens *s = arg;
	bool menu;
	return bytes_read(pty_pid(p)) > s->ours_read && our_prompt(p, &menu);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* What is seen of a cell: of a blank only its background, unless a line is drawn through it. */
static struct cell seen(struct cell c)
{
	if (c.code == ' ')
		c.code = 0;
	if (c.code == 0 && (c.attrs & (CELL_REVERSE | CELL_UNDERLINE_MASK)) == 0) {
		c.fg = COLOUR_DEFAULT;
		c.attrs = 0;
	}
	c.ul = 0;
	return c;
}

/* tmux leaves cells at the end of a row out when nothing was written to them, whatever their background is. */
static bool same_cell(const struct cell *ours, const struct cell *theirs)
{
	struct cell a = seen(*ours), b = theirs != NULL ? seen(*theirs) : a;
	return a.code == (theirs != NULL ? b.code : 0) && cell_same_style(&a, &b);
}

/* The first place that differs. */
static bool same_cells(struct screens *s, unsigned *row, unsigned *col)
{
	for (*row = 0; *row < ROWS; ++*row) {
		unsigned used;
		const struct cell *cells = emulator_row(s->theirs, *row, &used);
		for (*col = 0; *col < COLS; ++*col) {
			const struct clusters *clusters;
			const struct cell *ours = pty_cell(s->ours, *row, *col, &clusters);
			if (!same_cell(ours, *col < used ? &cells[*col] : NULL))
				return false;
		}
	}
	return true;
}

/* Is there a line for this step in the list? A line: menu, step, reason. */
static char *find_known(struct screens *s, const char *name, unsigned number)
{
	char menu[16], *line = s->known;
	unsigned n;
	while (line != NULL && *line != '\0') {
		if (*line != '#' && sscanf(line, "%15s %u", menu, &n) == 2 && n == number &&
		    strncmp(name, menu, strlen(menu)) == 0 && name[strlen(menu)] == ' ')
			return line;
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return NULL;
}

static bool step_is_over(struct screens *s)
{
	long now = bytes_read(s->tmux_pid);
	capture(s);
	return now > s->theirs_read && their_prompt(s);
}

/* Sends the same to both and waits for both. `known`: it is known that they will differ. */
static void step(struct screens *s, const char *keys, bool known)
{
	char command[64], none[16];
	s->ours_read = MAX(bytes_read(pty_pid(s->ours)), s->ours_read);
	s->theirs_read = MAX(bytes_read(s->tmux_pid), s->theirs_read);
	pty_send(s->ours, keys);
	pty_send(s->ours, "\r");
	snprintf(command, sizeof(command), "send-keys -t v -l '%s' \\; send-keys -t v Enter", keys);
	tmux(*keys != '\0' ? command : "send-keys -t v Enter", none, sizeof(none));
	if (!pty_wait(s->ours, we_wait, s, "vttest waits"))
		bail("vttest does not wait in our terminal");
	uint64_t end = clock_mono_ms() + GIVE_UP_MS, differ_end = 0;
	unsigned row, col;
	for (;;) {
		bool over = step_is_over(s);
		uint64_t now = clock_mono_ms();
		if (over && same_cells(s, &row, &col))
			return;
		if (over && differ_end == 0)
			differ_end = now + (known ? KNOWN_MS : DIFFER_MS);
		if (over && now >= differ_end)
			return;
		if (now >= end)
			bail("vttest does not wait in tmux");
	}
}

static void show(const char *who, const char *text)
{
	printf("#   %s |%s|\n", who, text);
}

static void show_difference(struct screens *s, const char *name, unsigned number, unsigned row, unsigned col)
{
	char text[COLS * CELL_UTF8_MAX + 1], *out = text;
	const struct clusters *clusters;
	unsigned used;
	for (unsigned i = 0; i < COLS; i++) {
		const struct cell *cell = pty_cell(s->ours, row, i, &clusters);
		out += clusters_cell_utf8(clusters, cell, out);
	}
	*out = '\0';
	const struct cell *cells = emulator_row(s->theirs, row, &used);
	const struct cell *ours = pty_cell(s->ours, row, col, &clusters);
	const struct cell none = {0}, *theirs = col < used ? &cells[col] : &none;
	printf("# menu %s, step %u: row %u column %u: fg %x bg %x attributes %x here, fg %x bg %x attributes "
	       "%x in "
	       "tmux\n",
	       name, number, row, col, ours->fg, ours->bg, ours->attrs, theirs->fg, theirs->bg,
	       theirs->attrs);
	show("here", text);
	row_text(cells, used, emulator_clusters(s->theirs), text);
	show("tmux", text);
}

/* Compares what both show now; false for a difference that is not listed, or a listed one that is none. */
static bool compare(struct screens *s, const char *name, unsigned number)
{
	unsigned row, col;
	bool same = same_cells(s, &row, &col);
	char *known = find_known(s, name, number);
	if (same && known != NULL)
		printf("# menu %s, step %u is the same now: take it off tests/e2e/vttest-known.txt\n", name,
		       number);
	if (!same && known == NULL)
		show_difference(s, name, number, row, col);
	if (known != NULL)
		*known = '#';
	return same == (known == NULL);
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static bool walk(struct screens *s, size_t test)
{
	const char *name = TESTS[test].name;
	bool good = true, menu = false;
	unsigned number = 0, depth = 0;
	for (; depth < DEEPEST && TESTS[test].keys[depth] != NULL; depth++)
		step(s, TESTS[test].keys[depth], find_known(s, name, 1) != NULL);
	for (; our_prompt(s->ours, &menu) && !menu && number < STEPS_MOST; number++) {
		good = compare(s, name, number + 1) && good;
		step(s, "", find_known(s, name, number + 2) != NULL);
	}
	if (number == 0 || number == STEPS_MOST) {
		printf("# menu %s: %u steps\n", name, number);
		good = false;
	}
	while (depth-- > 1)
		step(s, "0", false);
	printf("%sok %zu - menu %s: %u screens\n", good ? "" : "not ", test + 1, name, number);
	fflush(stdout);
	return good;
}

/* Everything in the list was met. */
static bool list_is_used_up(const struct screens *s)
{
	bool good = true;
	for (const char *line = s->known; line != NULL && *line != '\0';) {
		if (*line != '#') {
			printf("# never met: %.*s\n", (int)strcspn(line, "\n"), line);
			good = false;
		}
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return good;
}

static void start(struct screens *s)
{
	static const char *const ARGV[] = {"vttest", NULL}, *const ENV[] = {"TERM=xterm-256color", NULL};
	struct err e = ERR_INIT;
	char text[64];
	size_t len;
	s->known = fd_read_file("tests/e2e/vttest-known.txt", 1 << 16, &len, &e);
	if (s->known == NULL)
		bail(e.msg);
	s->theirs = emulator_create(ROWS, COLS, NULL, NULL);
	s->ours_read = s->theirs_read = -1;
	s->ours = pty_start(&(struct pty_spec){.argv = ARGV, .env = ENV, .rows = ROWS, .cols = COLS});
	snprintf(text, sizeof(text), "new-session -d -s v -x %d -y %d vttest", COLS, ROWS);
	tmux(text, text, sizeof(text));
	tmux("display-message -p -t v '#{pane_pid}'", text, sizeof(text));
	s->tmux_pid = atoi(text);
	if (!pty_wait_text(s->ours, "Enter choice number"))
		bail("vttest does not start");
	uint64_t end = clock_mono_ms() + GIVE_UP_MS;
	while (!step_is_over(s))
		if (clock_mono_ms() > end)
			bail("vttest does not start in tmux");
}

int main(void)
{
	struct screens s = {0};
	char none[16];
	unsigned failed = 0;
	start(&s);
	for (size_t i = 0; i < ARRAY_LEN(TESTS); i++)
		failed += !walk(&s, i);
	bool used_up = list_is_used_up(&s);
	failed += !used_up;
	printf("%sok %zu - every listed difference is there\n", used_up ? "" : "not ", ARRAY_LEN(TESTS) + 1);
	printf("1..%zu\n", ARRAY_LEN(TESTS) + 1);
	pty_end(s.ours);
	emulator_destroy(s.theirs);
	free(s.known);
	tmux("kill-server", none, sizeof(none));
	return failed > 0;
}
