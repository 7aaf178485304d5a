/* The operator's terminal, for benchmarks: runs a program on a pseudo terminal and reads what it writes as fast as it comes.
 *
 *     outer_terminal ROWS COLS KEYS -- PROGRAM ARG...
 *
 * Commands come as lines on stdin: "type TEXT" (with \e and \r), "keys" types KEYS different characters one after the other, each
 * when the one before has been drawn, and prints the microseconds that each took; "sink" answers questions about the cursor
 * from now on and understands nothing, as the quickest terminal that can be; "bytes" prints how many bytes were written;
 * "text STRING" waits until the program has written it. Each is answered by its last line "ok". The end of stdin kills the
 * program.
 *
 * The characters are from U+0100 on: no control sequence and no other output holds them, so their bytes are their drawing. */
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

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/parse.h"

#define WAIT_MS  60000
#define GAP_MS   12     /* between keys, as a quick typist and as the keyboard's own repeat */
#define KEPT     262144 /* of the output, to search in */
#define FIRST_CP 0x100

struct outer {
	int master;
	pid_t pid;
	char kept[2 * KEPT + 1];
	size_t kept_len;
	size_t total;
	bool sink;
};

static NORETURN void die(const char *what)
{
	fprintf(stderr, "outer_terminal: %s\n", what);
	exit(1);
}

/* Reads once, after at most `ms`; false when nothing came. `also` (-1: none) ends the waiting too. */
static bool drain(struct outer *o, int ms, int also)
{
	struct pollfd fds[2] = {{.fd = o->master, .events = POLLIN}, {.fd = also, .events = POLLIN}};
	if (poll(fds, 2, ms) <= 0 || !fds[0].revents)
		return false;
	if (o->kept_len > KEPT) {
		memmove(o->kept, o->kept + o->kept_len - KEPT / 2, KEPT / 2);
		o->kept_len = KEPT / 2;
	}
	ssize_t n = read(o->master, o->kept + o->kept_len, KEPT);
	if (n <= 0)
		exit(0); /* the program has ended; whoever waits for an answer sees that */
	size_t from = o->kept_len > 3 ? o->kept_len - 3 : 0;
	o->kept_len += (size_t)n;
	o->total += (size_t)n;
	if (o->sink && memmem(o->kept + from, o->kept_len - from, "\x1b[6n", 4))
		o->sink = fd_write_all(o->master, "\x1b[1;1R", 6);
	return true;
}

static void wait_text(struct outer *o, const char *text, size_t len)
{
	uint64_t end = clock_mono_ms() + WAIT_MS;
	while (!memmem(o->kept, o->kept_len, text, len)) {
		if (clock_mono_ms() > end) {
			fprintf(stderr, "outer_terminal: '%s' was not drawn\n", text);
			exit(1);
		}
		drain(o, 100, -1);
	}
}

static void pass_time(struct outer *o, uint64_t ms)
{
	uint64_t end = clock_mono_ms() + ms, now;
	while ((now = clock_mono_ms()) < end)
		drain(o, (int)(end - now), -1);
}

static void do_keys(struct outer *o, uint64_t keys)
{
	for (uint64_t i = 0; i < keys; i++) {
		uint32_t cp = FIRST_CP + (uint32_t)(i % 256);
		char key[2] = {(char)(0xc0 | cp >> 6), (char)(0x80 | (cp & 0x3f))};
		pass_time(o, GAP_MS);
		o->kept_len = 0;
		uint64_t start = clock_mono_us();
		if (!fd_write_all(o->master, key, 2))
			die("the program takes no input");
		wait_text(o, key, 2);
		printf("%llu\n", (unsigned long long)(clock_mono_us() - start));
	}
}

static void do_type(struct outer *o, const char *text)
{
	for (; *text; text++) {
		char c = *text;
		if (c == '\\' && (text[1] == 'e' || text[1] == 'r'))
			c = *++text == 'e' ? '\033' : '\r';
		if (!fd_write_all(o->master, &c, 1))
			die("the program takes no input");
	}
}

static void run_command(struct outer *o, char *line, uint64_t keys)
{
	line[strcspn(line, "\n")] = '\0';
	if (strcmp(line, "keys") == 0)
		do_keys(o, keys);
	else if (strcmp(line, "sink") == 0)
		o->sink = true;
	else if (strcmp(line, "bytes") == 0)
		printf("%zu\n", o->total);
	else if (strncmp(line, "type ", 5) == 0)
		do_type(o, line + 5);
	else if (strncmp(line, "text ", 5) == 0)
		wait_text(o, line + 5, strlen(line + 5));
	else
		die("no such command");
	puts("ok");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct outer o;
	uint64_t rows, cols, keys;
	char line[400];
	if (argc < 6 || !parse_u64(argv[1], 2, 1000, &rows) || !parse_u64(argv[2], 2, 1000, &cols) ||
	    !parse_u64(argv[3], 1, 10000, &keys) || strcmp(argv[4], "--") != 0)
		die("usage: outer_terminal ROWS COLS KEYS -- PROGRAM ARG...");
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
	o.pid = forkpty(&o.master, NULL, NULL, &size);
	if (o.pid == 0) {
		execvp(argv[5], argv + 5);
		_exit(127);
	}
	if (o.pid < 0)
		die("forkpty");
	setvbuf(stdin, NULL, _IONBF, 0); /* poll must see what is not read */
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	for (;;) {
		if (poll(&in, 1, 0) == 0) {
			drain(&o, 1000, STDIN_FILENO);
			continue;
		}
		if (!fgets(line, sizeof(line), stdin))
			break;
		run_command(&o, line, keys);
	}
	kill(o.pid, SIGTERM);
	close(o.master);
	waitpid(o.pid, NULL, 0);
	return 0;
}
