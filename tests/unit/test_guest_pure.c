/* guest: what needs no process: kernel arguments, environment, the order of messages. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/wire/wire.h"
#include "guest/cmdline.h"
#include "guest/env.h"
#include "guest/health.h"
#include "guest/protocol.h"

static void cmdline_takes_our_words(void **state)
{
	(void)state;
	struct cmdline c;
	struct err e = ERR_INIT;
	assert_true(cmdline_parse("console=ttyS0 quiet ccvm.layers=vda,vdb ccvm.disk=vdc ccvm.name=alpha-1 "
	                          "ccvm.time=1700000000 panic=-1\n",
	                          &c, &e));
	assert_int_equal(c.layer_count, 2);
	assert_string_equal(c.layers[0], "vda");
	assert_string_equal(c.layers[1], "vdb");
	assert_string_equal(c.disk, "vdc");
	assert_string_equal(c.name, "alpha-1");
	assert_int_equal(c.time_s, 1700000000);
	assert_false(c.probe);
	assert_true(cmdline_parse("quiet ccvm.probe", &c, &e));
	assert_true(c.probe);
}

static void cmdline_refuses_doubt(void **state)
{
	(void)state;
	static const char *const BAD[] = {
	    "",
	    "quiet",
	    "ccvm.layers=vda ccvm.disk=vdb",
	    "ccvm.layers=vda ccvm.name=a",
	    "ccvm.disk=vdb ccvm.name=a",
	    "ccvm.layers= ccvm.disk=vdb ccvm.name=a",
	    "ccvm.layers=vda, ccvm.disk=vdb ccvm.name=a",
	    "ccvm.layers=../vda ccvm.disk=vdb ccvm.name=a",
	    "ccvm.layers=vda ccvm.disk=vd/b ccvm.name=a",
	    "ccvm.layers=vda ccvm.disk=vdb ccvm.name=A",
	    "ccvm.layers=vda ccvm.disk=vdb ccvm.name=a ccvm.clock=1",
	    "ccvm.layers=vda ccvm.disk=vdb ccvm.name=a ccvm.time=-1",
	    "ccvm.layers=vda ccvm.disk=vdb ccvm.name=a ccvm.probex",
	    "ccvm.layers=a,b,c,d,e,f,g,h,i ccvm.disk=vdb ccvm.name=a",
	    "ccvm.layers=abcdefghijklmnop ccvm.disk=vdb ccvm.name=a",
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct cmdline c = {.name = "untouched"};
		struct err e = ERR_INIT;
		assert_false(cmdline_parse(BAD[i], &c, &e));
		assert_true(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
		assert_string_equal(c.name, "untouched");
	}
}

static void env_always_has_the_proxy(void **state)
{
	(void)state;
	static const char *const NAMES[] = {
	    "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
	    "all_proxy",  "ALL_PROXY",  "grpc_proxy",  "npm_config_https_proxy"};
	char want[64];
	snprintf(want, sizeof(want), "http://127.0.0.1:%d", WIRE_RELAY_PORT);
	char **env = env_build(NULL);
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		assert_string_equal(env_get(env, NAMES[i]), want);
	assert_string_equal(env_get(env, "no_proxy"), "localhost,127.0.0.1,::1");
	assert_string_equal(env_get(env, "NODE_USE_ENV_PROXY"), "1");
	assert_string_equal(env_get(env, "CLAUDE_CODE_PROXY_RESOLVES_HOSTS"), "true");
	assert_string_equal(env_get(env, "TERM"), "xterm-256color");
	assert_string_equal(env_get(env, "HOME"), "/root");
	assert_null(env_get(env, "TMUX"));
	assert_null(env_get(env, "ANTHROPIC_API_KEY"));
	snprintf(want, sizeof(want), "127.0.0.1:%d", WIRE_RELAY_PORT);
	assert_string_equal(env_get(env, "RSYNC_PROXY"), want);
	assert_non_null(strstr(env_get(env, "GIT_SSH_COMMAND"), "proxyport=3128"));
	free(env);
}

static void env_of_the_caller_wins(void **state)
{
	(void)state;
	char term[] = "TERM=dumb", first[] = "A=1", second[] = "A=2", homer[] = "HOMER=x";
	char *extra[] = {term, first, second, homer, NULL};
	char **env = env_build(extra);
	assert_string_equal(env_get(env, "TERM"), "dumb");
	assert_string_equal(env_get(env, "A"), "2");
	assert_string_equal(env_get(env, "HOME"), "/root");
	assert_string_equal(env_get(env, "HOMER"), "x");
	size_t terms = 0;
	for (char **p = env; *p; p++)
		terms += strncmp(*p, "TERM=", 5) == 0;
	assert_int_equal(terms, 1);
	free(env);
}

static void health_reads_proc(void **state)
{
	(void)state;
	assert_int_equal(health_meminfo("MemTotal:  491520 kB\nMemAvailable: 12 kB\n", "MemAvailable"), 12);
	assert_int_equal(health_meminfo("MemTotal:  491520 kB", "MemTotal"), 491520);
	assert_int_equal(health_meminfo("MemTotal:  491520 kB\n", "Mem"), 0);
	assert_int_equal(health_meminfo("", "MemTotal"), 0);
	assert_int_equal(health_busy_ticks("cpu  1 2 3 400 500 6 7 8 9 10\ncpu0 ..."), 19);
	assert_int_equal(health_busy_ticks("garbage"), 0);
	struct wire_agent_pong pong = {0};
	health_measure(&pong);
	assert_true(pong.mem_total_kib > pong.mem_available_kib && pong.mem_available_kib > 0);
	assert_true(pong.uptime_ms > 0);
}

/* ---- protocol ---- */

static struct frame one_frame(struct buf *b)
{
	struct frame f;
	size_t used;
	struct err e = ERR_INIT;
	assert_int_equal(frame_parse((struct bytes){b->data, b->len}, &f, &used, &e), FRAME_READY);
	assert_int_equal(used, b->len);
	return f;
}

/* Feeds the frame that lies in `b` and empties it. */
static bool feed(struct protocol *p, struct buf *b, struct protocol_event *ev, struct err *e)
{
	struct frame f = one_frame(b);
	*e = (struct err)ERR_INIT;
	bool ok = protocol_read(p, &f, ev, e);
	if (!ok)
		buf_clear(b);
	else if (ev->what != PROTOCOL_STDIN)
		buf_clear(b);
	return ok;
}

static void put_spawn(struct buf *b, uint32_t id, const char *argv, size_t argv_len, const char *env,
                      size_t env_len, struct wire_agent_spawn m)
{
	m.argv = (struct bytes){(const uint8_t *)argv, argv_len};
	m.env = (struct bytes){(const uint8_t *)env, env_len};
	assert_true(wire_put_agent_spawn(b, id, &m));
}

static void protocol_goes_in_order(void **state)
{
	(void)state;
	struct protocol p = {0};
	struct protocol_event ev;
	struct err e;
	struct buf b = BUF_INIT(1 << 20);
	assert_true(wire_put_my_hello(&b, "supervisor"));
	assert_true(feed(&p, &b, &ev, &e));
	assert_int_equal(ev.what, PROTOCOL_HELLO);
	assert_true(wire_put_empty(&b, WIRE_AGENT_PING, 4));
	assert_true(feed(&p, &b, &ev, &e));
	assert_int_equal(ev.what, PROTOCOL_PING);
	put_spawn(&b, 7, "ls\0-l\0", 6, "A=b\0", 4,
	          (struct wire_agent_spawn){.tty = 1, .rows = 0, .cols = 9});
	assert_true(feed(&p, &b, &ev, &e));
	assert_int_equal(ev.what, PROTOCOL_SPAWN);
	assert_string_equal(ev.argv[1], "-l");
	assert_null(ev.argv[2]);
	assert_string_equal(ev.env[0], "A=b");
	assert_int_equal(ev.spawn.rows, 24); /* a size of 0 never reaches a program */
	assert_int_equal(ev.spawn.cols, 9);
	protocol_event_finish(&ev);
	assert_true(wire_put_stdin_data(&b, 7, &(struct wire_stdin_data){{(const uint8_t *)"hi", 2}}));
	assert_true(feed(&p, &b, &ev, &e));
	assert_int_equal(ev.what, PROTOCOL_STDIN);
	assert_int_equal(ev.data.len, 2);
	buf_clear(&b);
	protocol_done(&p);
	assert_true(wire_put_empty(&b, WIRE_STDIN_EOF, 7));
	assert_true(feed(&p, &b, &ev, &e));
	assert_int_equal(ev.what, PROTOCOL_NOTHING);
	buf_finish(&b);
}

static void protocol_refuses(void **state)
{
	(void)state;
	/* Each message in each phase: allowed or not. */
	static const struct {
		uint16_t type;
		bool allowed[4]; /* hello, request, running, done */
	} TABLE[] = {
	    {WIRE_HELLO, {true, false, false, false}},
	    {WIRE_AGENT_PING, {false, true, false, false}},
	    {WIRE_AGENT_SHUTDOWN, {false, true, false, false}},
	    {WIRE_STDIN, {false, false, true, true}},
	    {WIRE_STDIN_EOF, {false, false, true, true}},
	    {WIRE_RESIZE, {false, false, true, true}},
	    {WIRE_SIGNAL, {false, false, true, true}},
	    {WIRE_STDOUT, {false, false, false, false}},
	    {WIRE_EXIT, {false, false, false, false}},
	    {WIRE_OK, {false, false, false, false}},
	    {WIRE_EVENT_READY, {false, false, false, false}},
	    {WIRE_KILL, {false, false, false, false}},
	    {WIRE_EXEC, {false, false, false, false}},
	};
	for (size_t i = 0; i < ARRAY_LEN(TABLE); i++) {
		for (int phase = 0; phase < 4; phase++) {
			struct protocol p = {.phase = (enum protocol_phase)phase, .id = 1};
			struct protocol_event ev;
			struct err e = ERR_INIT;
			struct buf b = BUF_INIT(4096);
			size_t mark;
			switch (TABLE[i].type) {
			case WIRE_HELLO: assert_true(wire_put_my_hello(&b, "x")); break;
			case WIRE_RESIZE: wire_put_resize(&b, 1, &(struct wire_resize){5, 5}); break;
			case WIRE_SIGNAL: wire_put_signal(&b, 1, &(struct wire_signal){15}); break;
			case WIRE_STDIN: wire_put_stdin_data(&b, 1, &(struct wire_stdin_data){{0}}); break;
			case WIRE_AGENT_SHUTDOWN:
				wire_put_agent_shutdown(&b, 1, &(struct wire_agent_shutdown){0});
				break;
			default: mark = frame_begin(&b, TABLE[i].type, 1); assert_true(frame_end(&b, mark));
			}
			struct frame f = one_frame(&b);
			assert_int_equal(protocol_read(&p, &f, &ev, &e), TABLE[i].allowed[phase]);
			if (!TABLE[i].allowed[phase])
				assert_int_equal(e.kind, ERR_PROTOCOL);
			buf_finish(&b);
		}
	}
}

static void protocol_refuses_bad_bodies(void **state)
{
	(void)state;
	static const struct {
		const char *argv;
		size_t argv_len;
		const char *env;
		size_t env_len;
		uint8_t tty;
	} BAD[] = {
	    {"ls", 2, "", 0, 0},       /* no NUL */
	    {"\0", 1, "", 0, 0},       /* an empty name */
	    {"ls\0", 3, "A", 1, 0},    /* no NUL */
	    {"ls\0", 3, "A\0", 2, 0},  /* no "=" */
	    {"ls\0", 3, "=x\0", 3, 0}, /* no name */
	    {"ls\0", 3, "\0", 1, 0},   /* nothing at all */
	    {"ls\0", 3, "", 0, 2},     /* tty is 0 or 1 */
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct protocol p = {.phase = PHASE_REQUEST};
		struct protocol_event ev;
		struct err e;
		struct buf b = BUF_INIT(4096);
		put_spawn(&b, 1, BAD[i].argv, BAD[i].argv_len, BAD[i].env, BAD[i].env_len,
		          (struct wire_agent_spawn){.tty = BAD[i].tty});
		assert_false(feed(&p, &b, &ev, &e));
		assert_int_equal(p.phase, PHASE_REQUEST);
		buf_finish(&b);
	}
	struct protocol p = {.phase = PHASE_RUNNING, .id = 1};
	struct protocol_event ev;
	struct err e;
	struct buf b = BUF_INIT(4096);
	static const uint8_t SIGNALS[] = {0, 65, 255};
	for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++) {
		wire_put_signal(&b, 1, &(struct wire_signal){SIGNALS[i]});
		assert_false(feed(&p, &b, &ev, &e));
	}
	wire_put_resize(&b, 1, &(struct wire_resize){0, 80});
	assert_false(feed(&p, &b, &ev, &e));
	wire_put_signal(&b, 2, &(struct wire_signal){15}); /* of another request */
	assert_false(feed(&p, &b, &ev, &e));
	buf_finish(&b);
}

static void protocol_names_a_wrong_version(void **state)
{
	(void)state;
	struct protocol p = {0};
	struct protocol_event ev;
	struct err e;
	struct buf b = BUF_INIT(4096);
	wire_put_hello(&b, 0, &(struct wire_hello){.magic = WIRE_MAGIC, .major = 99, .version = "9.9"});
	assert_false(feed(&p, &b, &ev, &e));
	assert_non_null(strstr(e.msg, "99"));
	wire_put_hello(&b, 0, &(struct wire_hello){.magic = 1, .major = WIRE_MAJOR});
	assert_false(feed(&p, &b, &ev, &e));
	buf_finish(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cmdline_takes_our_words),
	    cmocka_unit_test(cmdline_refuses_doubt),
	    cmocka_unit_test(env_always_has_the_proxy),
	    cmocka_unit_test(env_of_the_caller_wins),
	    cmocka_unit_test(health_reads_proc),
	    cmocka_unit_test(protocol_goes_in_order),
	    cmocka_unit_test(protocol_refuses),
	    cmocka_unit_test(protocol_refuses_bad_bodies),
	    cmocka_unit_test(protocol_names_a_wrong_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
