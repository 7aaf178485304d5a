/* core/audit: lines, reading them back, the file. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/audit/reader.h"
#include "core/audit/record.h"
#include "core/audit/writer.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"

static struct audit_record sample(void)
{
	struct audit_record r = {
	    .seq = 42, .t_ms = 1795988400123, .vm = "a1", .event = AUDIT_DENY, .conn = 7};
	strcpy(r.host, "x.example");
	r.port = 443;
	r.why = AUDIT_NO_RULE;
	return r;
}

static void keys_have_a_fixed_order(void **state)
{
	(void)state;
	char line[AUDIT_LINE_MAX + 1];
	struct audit_record r = sample();
	size_t n = audit_format(&r, line);
	assert_string_equal(
	    line, "{\"v\":1,\"seq\":42,\"t\":\"2026-11-29T21:40:00.123Z\",\"vm\":\"a1\",\"ev\":\"deny\","
	          "\"conn\":7,\"host\":\"x.example\",\"port\":443,\"why\":\"no_rule\",\"rule\":null}\n");
	assert_int_equal(n, strlen(line));
	r = (struct audit_record){
	    .seq = 1, .event = AUDIT_CLOSE, .up = 3, .down = 4, .ms = 5, .end = AUDIT_END_DRAIN};
	strcpy(r.ip, "[2001:db8::1]:443");
	audit_format(&r, line);
	assert_non_null(strstr(line,
	                       "\"rule\":null,\"ip\":\"[2001:db8::1]:443\",\"up\":3,\"down\":4,\"ms\":5,"
	                       "\"end\":\"drain\"}\n"));
}

static void records_come_back(void **state)
{
	(void)state;
	for (int ev = 0; ev < AUDIT_EVENT_COUNT; ev++) {
		char line[AUDIT_LINE_MAX + 1];
		struct audit_record r = sample(), back;
		r.event = (enum audit_event)ev;
		r.why = (enum audit_why)(ev % AUDIT_WHY_COUNT);
		strcpy(r.rule, "deny *.example");
		strcpy(r.ip, "192.0.2.1:443");
		audit_set_detail(&r, "a \"quoted\" \\ text");
		static const char RAW[] = "a\0\r\n\x1b[31m\xc2\x85\xff";
		audit_set_raw(&r, RAW, sizeof(RAW) - 1);
		if (ev == AUDIT_CLOSE) {
			r.up = UINT64_MAX;
			r.down = 1;
			r.ms = 2;
			r.end = AUDIT_END_CLIENT_EOF;
		}
		r.rules = ev == AUDIT_START || ev == AUDIT_POLICY ? 9 : 0;
		r.bytes = ev == AUDIT_RECOVERED ? 8 : 0;
		size_t n = audit_format(&r, line);
		for (size_t i = 0; i + 1 < n; i++)
			assert_true(line[i] >= 0x20 && line[i] < 0x7f);
		assert_true(audit_parse(line, n - 1, &back));
		assert_memory_equal(&r, &back, sizeof(r));
	}
}

static void the_longest_record_is_a_line(void **state)
{
	(void)state;
	static const int FILL[] = {'a', '"', 0x01, 0xff};
	for (size_t i = 0; i < ARRAY_LEN(FILL); i++) {
		struct audit_record r, back;
		char line[AUDIT_LINE_MAX + 1];
		memset(&r, FILL[i], sizeof(r));
		r.event = AUDIT_CLOSE;
		r.why = AUDIT_CONNECT_TIMEOUT;
		r.end = AUDIT_END_SERVER_ERROR;
		r.t_ms = 0;
		r.raw_len = SIZE_MAX;
		r.vm[32] = r.host[253] = r.rule[351] = r.ip[63] = r.detail[AUDIT_DETAIL_MAX] = '\0';
		size_t n = audit_format(&r, line);
		assert_true(n <= AUDIT_LINE_MAX);
		assert_int_equal(line[n - 1], '\n');
		assert_true(audit_parse(line, n - 1, &back));
		assert_string_equal(back.end == r.end ? "same" : "", "same");
	}
}

static void hostile_lines_are_no_records(void **state)
{
	(void)state;
#define OK_LINE "{\"v\":1,\"seq\":5,\"t\":\"2026-11-30T21:30:00.123Z\",\"ev\":\"deny\""
	static const char *const BAD[] = {
	    "",
	    "{",
	    "{}",
	    "[]",
	    "null",
	    OK_LINE,
	    OK_LINE "} ",
	    OK_LINE "}{}",
	    OK_LINE ",}",
	    OK_LINE ",\"seq\":6}",
	    OK_LINE ",\"host\":5}",
	    OK_LINE ",\"port\":0}",
	    OK_LINE ",\"port\":65536}",
	    OK_LINE ",\"port\":\"443\"}",
	    OK_LINE ",\"port\":-1}",
	    OK_LINE ",\"port\":1e3}",
	    OK_LINE ",\"up\":18446744073709551616}",
	    OK_LINE ",\"up\":01}",
	    OK_LINE ",\"why\":\"because\"}",
	    OK_LINE ",\"end\":\"later\"}",
	    OK_LINE ",\"host\":\"a\\u0000b\"}",
	    OK_LINE ",\"host\":\"a\\u2028b\"}",
	    OK_LINE ",\"host\":\"a\\x41\"}",
	    OK_LINE ",\"host\":\"a\x1b\"}",
	    OK_LINE ",\"host\":\"a\x80\"}",
	    OK_LINE ",\"host\":\"a}",
	    OK_LINE ",\"new\":{}}",
	    OK_LINE ",\"new\":[1]}",
	    OK_LINE ",\"new\":nul}",
	    OK_LINE ",\"host\":true}",
	    "{\"v\":2,\"seq\":5,\"t\":\"2026-11-30T21:30:00.123Z\",\"ev\":\"deny\"}",
	    "{\"v\":1,\"seq\":5,\"t\":\"2026-11-30T21:30:00Z\",\"ev\":\"deny\"}",
	    "{\"v\":1,\"seq\":5,\"t\":\"2026-13-30T21:30:00.123Z\",\"ev\":\"deny\"}",
	    "{\"v\":1,\"seq\":5,\"t\":\"2026-11-30T21:30:00.123Z\",\"ev\":\"delete\"}",
	    "{\"v\":1,\"seq\":null,\"t\":\"2026-11-30T21:30:00.123Z\",\"ev\":\"deny\"}",
	    "{\"v\":1,\"t\":\"2026-11-30T21:30:00.123Z\",\"ev\":\"deny\"}",
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct audit_record r = {.seq = 77};
		if (audit_parse(BAD[i], strlen(BAD[i]), &r))
			fail_msg("%s", BAD[i]);
		assert_int_equal(r.seq, 77);
	}
	static const char NEWER[] = OK_LINE ",\"prev\":\"ab\",\"h\":null,\"flag\":true,\"n\":3}";
	struct audit_record r;
	assert_true(audit_parse(NEWER, sizeof(NEWER) - 1, &r));
	assert_int_equal(r.t_ms, 1796074200123);
	char host[400];
	int n = snprintf(host, sizeof(host), OK_LINE ",\"host\":\"%0255d\"}", 0);
	assert_false(audit_parse(host, (size_t)n, &r)); /* longer than any host */
}

struct seen {
	unsigned good, bad;
	uint64_t last;
};

static void on_line(void *arg, const struct audit_record *r, const char *line, size_t len)
{
	struct seen *s = arg;
	(void)line;
	assert_true(len <= AUDIT_LINE_MAX);
	if (r) {
		s->good++;
		s->last = r->seq;
	} else {
		s->bad++;
	}
}

static void a_log_in_pieces_reads_the_same(void **state)
{
	(void)state;
	char text[3 * AUDIT_LINE_MAX + 4096];
	struct audit_record r = sample();
	size_t n = audit_format(&r, text);
	n += (size_t)sprintf(text + n, "garbage\n\n");
	memset(text + n, 'x', AUDIT_LINE_MAX + 100); /* longer than a record can be */
	n += AUDIT_LINE_MAX + 100;
	text[n++] = '\n';
	r.seq = 43;
	n += audit_format(&r, text + n);
	n += (size_t)sprintf(text + n, "{\"v\":1,\"torn");
	for (size_t step = 1; step < 300; step += 7) {
		struct seen seen = {0};
		struct audit_reader rd;
		audit_reader_init(&rd, on_line, &seen);
		for (size_t at = 0; at < n; at += step)
			audit_reader_feed(&rd, text + at, MIN(step, n - at));
		assert_int_equal(seen.good, 2);
		assert_int_equal(seen.bad, 3);
		assert_int_equal(seen.last, 43);
		assert_int_equal(audit_reader_pending(&rd), 12);
	}
}

/* ---- the file ---- */

static char *log_path(char dir[])
{
	assert_non_null(mkdtemp(dir));
	return mem_printf("%s/audit.jsonl", dir);
}

static void remove_log(const char *dir)
{
	struct err e = ERR_INIT;
	assert_true(fd_remove_tree(dir, &e));
}

static struct audit_writer *open_log(const char *path)
{
	struct err e = ERR_INIT;
	struct audit_writer *w = audit_writer_open(path, "alpha", &e);
	if (!w)
		fail_msg("%s", e.msg);
	return w;
}

static void put(struct audit_writer *w, uint64_t want_seq)
{
	struct err e = ERR_INIT;
	struct audit_record r = sample();
	assert_true(audit_write(w, &r, &e));
	assert_int_equal(r.seq, want_seq);
	assert_string_equal(r.vm, "alpha");
}

static void append_raw(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND);
	assert_true(fd_write_all(fd, text, strlen(text)));
	close(fd);
}

static struct seen read_log(const char *path)
{
	struct err e = ERR_INIT;
	struct seen seen = {0};
	struct audit_reader rd;
	size_t len;
	char *text FREE_ON_EXIT = fd_read_file(path, 1 << 20, &len, &e);
	assert_non_null(text);
	audit_reader_init(&rd, on_line, &seen);
	audit_reader_feed(&rd, text, len);
	assert_int_equal(audit_reader_pending(&rd), 0);
	return seen;
}

static void the_sequence_goes_on_over_restarts(void **state)
{
	(void)state;
	char dir[] = "/tmp/ccvm-test-XXXXXX";
	char *path FREE_ON_EXIT = log_path(dir);
	struct audit_writer *w = open_log(path);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	put(w, 1);
	put(w, 2);
	struct err e = ERR_INIT;
	assert_null(audit_writer_open(path, "alpha", &e)); /* one writer at a time */
	assert_int_equal(e.kind, ERR_BUSY);
	audit_writer_close(w);
	w = open_log(path);
	put(w, 3);
	audit_writer_close(w);
	assert_int_equal(read_log(path).last, 3);
	remove_log(dir);
}

static void a_torn_last_line_is_cut_off_on_record(void **state)
{
	(void)state;
	char dir[] = "/tmp/ccvm-test-XXXXXX";
	char *path FREE_ON_EXIT = log_path(dir);
	struct audit_writer *w = open_log(path);
	put(w, 1);
	audit_writer_close(w);
	append_raw(path, "{\"v\":1,\"seq\":2,\"t\":\"20");
	w = open_log(path);
	put(w, 3); /* 2 is the record of the recovery */
	audit_writer_close(w);
	struct seen seen = read_log(path);
	assert_int_equal(seen.good, 3);
	assert_int_equal(seen.bad, 0);
	append_raw(path, "not a record\n");
	w = open_log(path);
	put(w, 5);
	audit_writer_close(w);
	seen = read_log(path);
	assert_int_equal(seen.last, 5);
	assert_int_equal(seen.bad, 1); /* whole lines are never taken away */
	remove_log(dir);
}

static void a_full_disk_leaves_whole_lines(void **state)
{
	(void)state;
	char dir[] = "/tmp/ccvm-test-XXXXXX";
	char *path FREE_ON_EXIT = log_path(dir);
	signal(SIGXFSZ, SIG_IGN);
	struct audit_writer *w = open_log(path);
	put(w, 1);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	struct rlimit old, small;
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = (rlim_t)st.st_size + 20; /* room for a part of a line */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	struct audit_record r = sample();
	for (int i = 0; i < 3; i++) {
		struct err e = ERR_INIT;
		assert_false(audit_write(w, &r, &e));
		assert_int_equal(e.kind, ERR_SYSTEM);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(read_log(path).good, 1);
	put(w, 2); /* no number was used up */
	audit_writer_close(w);
	struct seen seen = read_log(path);
	assert_int_equal(seen.good, 2);
	assert_int_equal(seen.bad, 0);
	remove_log(dir);
}

static void only_regular_files_are_logs(void **state)
{
	(void)state;
	char dir[] = "/tmp/ccvm-test-XXXXXX";
	char *path FREE_ON_EXIT = log_path(dir);
	struct err e = ERR_INIT;
	assert_int_equal(symlink("/tmp/elsewhere", path), 0);
	assert_null(audit_writer_open(path, "", &e));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	err_clear(&e);
	assert_null(audit_writer_open(path, "", &e));
	remove_log(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keys_have_a_fixed_order),
	    cmocka_unit_test(records_come_back),
	    cmocka_unit_test(the_longest_record_is_a_line),
	    cmocka_unit_test(hostile_lines_are_no_records),
	    cmocka_unit_test(a_log_in_pieces_reads_the_same),
	    cmocka_unit_test(the_sequence_goes_on_over_restarts),
	    cmocka_unit_test(a_torn_last_line_is_cut_off_on_record),
	    cmocka_unit_test(a_full_disk_leaves_whole_lines),
	    cmocka_unit_test(only_regular_files_are_logs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
