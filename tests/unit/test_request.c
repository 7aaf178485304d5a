/* proxy/request and proxy/reply. The rows follow what other proxies got wrong. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/check.h"
#include "core/base/mem.h"
#include "proxy/reply.h"
#include "proxy/request.h"

#define END "\r\n\r\n"

struct row {
	const char *bytes;
	size_t len; /* 0: strlen */
	int status; /* 0: ok */
};

static const struct row ROWS[] = {
    /* good */
    {"CONNECT a.test:443 HTTP/1.1" END, 0, 0},
    {"CONNECT a.test:443 HTTP/1.0" END, 0, 0}, /* pip and old Python send no Host */
    {"CONNECT A.TEST.:443 HTTP/1.1\r\nHost: other.test" END, 0, 0},
    {"\r\nCONNECT a.test:443 HTTP/1.1" END, 0, 0},
    {"CONNECT a.test:443 HTTP/1.1\r\nHost:\r\nX: \x80\xff\ty" END, 0, 0},
    {"CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 5" END "hello", 0, 0}, /* no meaning here: payload */
    {"CONNECT a.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked" END "0\r\n\r\n", 0, 0},
    {"CONNECT a.test:443 HTTP/1.1\r\nProxy-Authorization: Basic xyz" END, 0, 0},
    /* never allowed, whatever the policy */
    {"CONNECT 127.0.0.1:443 HTTP/1.1" END, 0, 403},
    {"CONNECT 127.0.0.1.:443 HTTP/1.1" END, 0, 403},
    {"CONNECT 127.1:443 HTTP/1.1" END, 0, 403},
    {"CONNECT 2130706433:443 HTTP/1.1" END, 0, 403},
    {"CONNECT 0x7f.1:443 HTTP/1.1" END, 0, 403},
    {"CONNECT 0177.0.0.1:443 HTTP/1.1" END, 0, 403},
    {"CONNECT 0:443 HTTP/1.1" END, 0, 403},
    {"CONNECT 169.254.169.254.:443 HTTP/1.1" END, 0, 403},
    {"CONNECT [::1]:443 HTTP/1.1" END, 0, 403},
    {"CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1" END, 0, 403},
    {"CONNECT localhost:443 HTTP/1.1" END, 0, 403},
    {"CONNECT localhost.:443 HTTP/1.1" END, 0, 403},
    {"CONNECT a.localhost:443 HTTP/1.1" END, 0, 403},
    {"CONNECT metadata:443 HTTP/1.1" END, 0, 403},
    /* bad names */
    {"CONNECT attacker.example\0.google.com:443 HTTP/1.1" END, 53, 400},
    {"CONNECT a\x01.test:443 HTTP/1.1" END, 0, 400},
    {"CONNECT a%2e.test:443 HTTP/1.1" END, 0, 400},
    {"CONNECT a%00.test:443 HTTP/1.1" END, 0, 400},
    {"CONNECT evil.test/api.anthropic.com:443 HTTP/1.1" END, 0, 400},
    {"CONNECT evil.test\\api.anthropic.com:443 HTTP/1.1" END, 0, 400},
    {"CONNECT evil.test?api.anthropic.com:443 HTTP/1.1" END, 0, 400},
    {"CONNECT evil.test#.api.anthropic.com:443 HTTP/1.1" END, 0, 400},
    {"CONNECT api.anthropic.com@evil.test:443 HTTP/1.1" END, 0, 400},
    {"CONNECT allowed.com@localhost:443 HTTP/1.1" END, 0, 400},
    {"CONNECT user:pw@a.test:443 HTTP/1.1" END, 0, 400},
    {"CONNECT https://a.test:443 HTTP/1.1" END, 0, 400},
    {"CONNECT [example.com]:443 HTTP/1.1" END, 0, 400},
    {"CONNECT [localhost]:443 HTTP/1.1" END, 0, 400},
    {"CONNECT [::1%25.example.com]:80 HTTP/1.1" END, 0, 400},
    {"CONNECT ::ffff:1.2.3.4%x.allowed.com:443 HTTP/1.1" END, 0, 400},
    {"CONNECT ::1:443 HTTP/1.1" END, 0, 400},
    {"CONNECT [::1]443 HTTP/1.1" END, 0, 400},
    {"CONNECT [::1] HTTP/1.1" END, 0, 400},
    {"CONNECT [] HTTP/1.1" END, 0, 400},
    {"CONNECT [ HTTP/1.1" END, 0, 400},
    {"CONNECT a..test:443 HTTP/1.1" END, 0, 400},
    {"CONNECT a.test..:443 HTTP/1.1" END, 0, 400},
    {"CONNECT .:443 HTTP/1.1" END, 0, 400},
    {"CONNECT :443 HTTP/1.1" END, 0, 400},
    {"CONNECT b\xc3\xbc"
     "cher.example:443 HTTP/1.1" END,
     0, 400},
    /* bad ports */
    {"CONNECT a.test HTTP/1.1" END, 0, 400},
    {"CONNECT a.test: HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:0 HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:+443 HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:00443 HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:443a HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:443/ HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:abc HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:65536 HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:65979 HTTP/1.1" END, 0, 400}, /* 443 + 65536 */
    {"CONNECT a.test:443:443 HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:80:extra HTTP/1.1" END, 0, 400},
    {"CONNECT localhost:0 HTTP/1.1" END, 0, 400}, /* the port is wrong in any case */
    /* the line itself */
    {"connect a.test:443 HTTP/1.1" END, 0, 405},
    {"GET http://a.test/ HTTP/1.1" END, 0, 405},
    {"GET / HTTP/1.1" END, 0, 400},
    {"CONNECT  a.test:443 HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:443  HTTP/1.1" END, 0, 400},
    {"CONNECT\ta.test:443 HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:443\tHTTP/1.1" END, 0, 400},
    {" CONNECT a.test:443 HTTP/1.1" END, 0, 400},
    {"CONNECT a.test:443" END, 0, 400},
    {"CONNECT a.test:443 HTTP/1.1 " END, 0, 400},
    {"CONNECT a.test:443 http/1.1" END, 0, 400},
    {"CONNECT a.test:443 HTTP/9.9" END, 0, 505},
    {"CONNECT a.test:443 HTTP/2.0" END, 0, 505},
    {"CONNECT a.test:443 HTTP/1.2" END, 0, 505},
    {"CONNECT a.test:443 HTTP/1.10" END, 0, 400},
    {"CONNECT a.test:443 HTTP/1.1\n\n", 0, 400},
    {"CONNECT a.test:443 HTTP/1.1\nHost: a\r\n\r\n", 0, 400},
    {"CONNECT a.test:443\r HTTP/1.1" END, 0, 400},
    {"\r\n\r\nCONNECT a.test:443 HTTP/1.1" END, 0, 400}, /* one is tolerated, two are not */
    {"\nCONNECT a.test:443 HTTP/1.1" END, 0, 400},
    {"\x16\x03\x01\x02\n", 0, 400}, /* TLS straight away */
    /* fields */
    {"CONNECT a.test:443 HTTP/1.1\r\nHost : a.test" END, 0, 400},
    {"CONNECT a.test:443 HTTP/1.1\r\nno colon" END, 0, 400},
    {"CONNECT a.test:443 HTTP/1.1\r\n: x" END, 0, 400},
    {"CONNECT a.test:443 HTTP/1.1\r\nX: a\r\n folded" END, 0, 400},
    {"CONNECT a.test:443 HTTP/1.1\r\n X: a" END, 0, 400},
    {"CONNECT a.test:443 HTTP/1.1\r\nX: a\rb" END, 0, 400},
    {"CONNECT a.test:443 HTTP/1.1\r\nX: a\0b" END, 37, 400},
    {"CONNECT a.test:443 HTTP/1.1\r\nX: \x1b[31m" END, 0, 400},
    {"CONNECT a.test:443 HTTP/1.1\r\nHost: a\r\nhOST: b" END, 0, 400},
    {"CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost : x" END, 0, 400}, /* 400 comes before 403 */
};

static size_t row_len(const struct row *r)
{
	return r->len ? r->len : strlen(r->bytes);
}

static void the_table_holds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct request q;
		request_parse(ROWS[i].bytes, row_len(&ROWS[i]), &q);
		if (q.state != (ROWS[i].status ? REQUEST_BAD : REQUEST_OK) || q.status != ROWS[i].status)
			fail_msg("row %zu: %s: state %d status %d", i, ROWS[i].bytes, q.state, q.status);
		if (q.state == REQUEST_OK) {
			assert_string_equal(q.host, "a.test");
			assert_int_equal(q.port, 443);
			assert_memory_equal(ROWS[i].bytes + q.head_len - 4, END, 4);
		}
	}
}

/* Each row cut after every byte: the verdict comes once and stays. */
static void chunking_does_not_matter(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct request whole, part;
		size_t len = row_len(&ROWS[i]);
		request_parse(ROWS[i].bytes, len, &whole);
		bool decided = false;
		for (size_t n = 0; n <= len; n++) {
			char *copy FREE_ON_EXIT = mem_copy(ROWS[i].bytes, n + 1); /* overreads are seen */
			request_parse(copy, n, &part);
			if (part.state == REQUEST_MORE) {
				assert_false(decided);
				continue;
			}
			decided = true;
			assert_int_equal(part.state, whole.state);
			assert_int_equal(part.status, whole.status);
			assert_int_equal(part.head_len, whole.head_len);
			assert_string_equal(part.host, whole.host);
		}
	}
}

static size_t build(char *out, size_t fields, size_t field_len)
{
	char *p = out + sprintf(out, "CONNECT a.test:443 HTTP/1.1\r\n");
	for (size_t i = 0; i < fields; i++) {
		p += sprintf(p, "X: ");
		memset(p, 'y', field_len);
		p += field_len;
		p += sprintf(p, "\r\n");
	}
	p += sprintf(p, "\r\n");
	return (size_t)(p - out);
}

static void heads_have_limits(void **state)
{
	(void)state;
	char *head FREE_ON_EXIT = mem_alloc(128 * 1024);
	struct request q;
	request_parse(head, build(head, 100, 1), &q);
	assert_int_equal(q.state, REQUEST_OK);
	request_parse(head, build(head, 101, 1), &q);
	assert_int_equal(q.status, 431);
	size_t most = REQUEST_HEAD_MAX - 29 - 5 - 2;
	request_parse(head, build(head, 1, most), &q);
	assert_int_equal(q.state, REQUEST_OK);
	assert_int_equal(q.head_len, REQUEST_HEAD_MAX);
	request_parse(head, build(head, 1, most + 1), &q);
	assert_int_equal(q.status, 431);
	memset(head, 'A', REQUEST_HEAD_MAX);
	request_parse(head, REQUEST_HEAD_MAX - 1, &q);
	assert_int_equal(q.state, REQUEST_MORE);
	request_parse(head, REQUEST_HEAD_MAX, &q);
	assert_int_equal(q.status, 431);
}

static void secrets_stay_out_of_the_log(void **state)
{
	(void)state;
	static const struct {
		const char *in, *raw;
	} ROW[] = {
	    {"CONNECT user:secret@a.test:443 HTTP/1.1" END, "@a.test:443"},
	    {"GET http://u:secret@a.test/?token=secret HTTP/1.1" END, "GET"},
	    {"GET /?secret HTTP/1.1" END, "GET"},
	    {"CONNECT a.test:0 HTTP/1.1" END, "a.test:0"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROW); i++) {
		struct request q;
		request_parse(ROW[i].in, strlen(ROW[i].in), &q);
		assert_int_equal(q.raw_len, strlen(ROW[i].raw));
		assert_memory_equal(q.raw, ROW[i].raw, q.raw_len);
	}
}

static void replies_say_what_to_do(void **state)
{
	(void)state;
	char text[REPLY_SIZE + 1];
	struct reply r = {.why = AUDIT_NO_RULE, .host = "x.example", .port = 443, .vm = "alpha", .rule = ""};
	text[reply_format(&r, text)] = '\0';
	assert_non_null(strstr(text, "HTTP/1.1 403 Forbidden by ccvm: no rule for x.example:443\r\n"));
	assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
	const char *body = strstr(text, "\r\n\r\n") + 4;
	char length[64];
	snprintf(length, sizeof(length), "\r\nContent-Length: %zu\r\n", strlen(body));
	assert_non_null(strstr(text, length));
	assert_string_equal(body, "ccvm refused x.example:443: no rule allows it. "
	                          "To allow it, the operator runs: ccvm allow alpha x.example\n");
	r.why = AUDIT_LIMIT;
	text[reply_format(&r, text)] = '\0';
	assert_non_null(strstr(text, "HTTP/1.1 429 "));
	assert_non_null(strstr(text, "\r\nRetry-After: 1\r\n"));
}

static void every_reason_has_a_reply_that_fits(void **state)
{
	(void)state;
	char host[HOST_SIZE], rule[352], text[REPLY_SIZE + 1];
	memset(host, 'h', sizeof(host) - 1);
	host[sizeof(host) - 1] = '\0';
	memset(rule, 'r', sizeof(rule) - 1);
	rule[sizeof(rule) - 1] = '\0';
	for (int why = 0; why <= AUDIT_WHY_COUNT; why++) {
		struct reply r = {.why = (enum audit_why)why,
		                  .host = host,
		                  .port = 65535,
		                  .vm = "a23456789-123456789-123456789-12",
		                  .rule = rule};
		size_t len = reply_format(&r, text);
		assert_true(len < REPLY_SIZE);
		text[len] = '\0';
		assert_int_equal(strlen(text), len);
		assert_memory_equal(text, "HTTP/1.1 ", 9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_table_holds),        cmocka_unit_test(chunking_does_not_matter),
	    cmocka_unit_test(heads_have_limits),      cmocka_unit_test(secrets_stay_out_of_the_log),
	    cmocka_unit_test(replies_say_what_to_do), cmocka_unit_test(every_reason_has_a_reply_that_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
