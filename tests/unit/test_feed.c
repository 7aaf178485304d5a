/* core/client/feed over real files: what is read, what is kept, and how much of a flood is read at once. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/audit/record.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/client/feed.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"
#include "tests/lib/loop_wait.h"

struct scene {
	struct loop *loop;
	struct feed *feed;
	char root[64];
	size_t changes;
	size_t want;
	/* Of the flood. */
	struct timer *tick;
	size_t seen, most_at_once;
	uint64_t serial;
};

static void on_change(void *arg)
{
	((struct scene *)arg)->changes++;
}

static void make_vm(const struct scene *s, const char *name)
{
	struct err e = ERR_INIT;
	char *dir FREE_ON_EXIT = mem_printf("%s/ccvm/%s", s->root, name);
	assert_true(fd_make_dirs(dir, 0700, &e));
}

static void remove_vm(const struct scene *s, const char *name)
{
	struct err e = ERR_INIT;
	char *dir FREE_ON_EXIT = mem_printf("%s/ccvm/%s", s->root, name);
	assert_true(fd_remove_tree(dir, &e));
}

static void append(const struct scene *s, const char *name, const struct audit_record *r, int times)
{
	char line[AUDIT_LINE_MAX + 1];
	char *path FREE_ON_EXIT = mem_printf("%s/ccvm/%s/audit.jsonl", s->root, name);
	FILE *f = fopen(path, "ae");
	assert_non_null(f);
	for (int i = 0; i < times; i++) {
		struct audit_record one = *r;
		one.t_ms += i;
		size_t len = audit_format(&one, line);
		assert_int_equal(fwrite(line, 1, len, f), len);
	}
	fclose(f);
}

static void deny(const struct scene *s, const char *name, int64_t t_ms, const char *host, int times)
{
	struct audit_record r = {
	    .seq = 1, .t_ms = t_ms, .event = AUDIT_DENY, .port = 443, .why = AUDIT_NO_RULE, .conn = 1};
	snprintf(r.host, sizeof(r.host), "%s", host);
	snprintf(r.vm, sizeof(r.vm), "%s", name);
	append(s, name, &r, times);
}

static int setup(void **state)
{
	struct scene *s = mem_alloc(sizeof(*s));
	snprintf(s->root, sizeof(s->root), "/tmp/ccvm-feed-XXXXXX");
	assert_non_null(mkdtemp(s->root));
	setenv("XDG_STATE_HOME", s->root, 1);
	s->loop = loop_create();
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;
	struct err e = ERR_INIT;
	feed_close(s->feed);
	timer_close(s->tick);
	loop_destroy(s->loop);
	assert_true(fd_remove_tree(s->root, &e));
	free(s);
	return 0;
}

static bool has_wanted(void *arg)
{
	struct scene *s = arg;
	struct feed_list list;
	feed_look(s->feed, &list);
	return list.entry_count == s->want;
}

static void wait_for(struct scene *s, size_t entries)
{
	s->want = entries;
	assert_true(loop_wait(s->loop, has_wanted, s));
}

static void records_become_entries(void **state)
{
	struct scene *s = *state;
	struct feed_list list;
	make_vm(s, "alpha");
	struct audit_record r = {
	    .seq = 1, .t_ms = 1000, .event = AUDIT_CLOSE, .port = 443, .up = 12, .down = 34, .ms = 56};
	snprintf(r.host, sizeof(r.host), "open.example");
	append(s, "alpha", &r, 1);
	r = (struct audit_record){
	    .seq = 2, .t_ms = 2000, .event = AUDIT_DENY, .port = 22, .why = AUDIT_DENY_RULE};
	snprintf(r.host, sizeof(r.host), "bad.example");
	snprintf(r.rule, sizeof(r.rule), "deny *.example");
	append(s, "alpha", &r, 1);
	r = (struct audit_record){.seq = 3, .t_ms = 3000, .event = AUDIT_POLICY, .rules = 3};
	audit_set_detail(&r, "added allow a.example:443");
	append(s, "alpha", &r, 1);
	s->feed = feed_open(s->loop, 10, 10, on_change, s);
	feed_add(s->feed, "alpha");
	wait_for(s, 3);
	feed_look(s->feed, &list);
	assert_int_equal(list.entries[0]->event, FEED_CLOSE);
	assert_int_equal(list.entries[0]->up, 12);
	assert_int_equal(list.entries[0]->down, 34);
	assert_int_equal(list.entries[0]->ms, 56);
	assert_string_equal(list.entries[1]->target, "bad.example:22");
	assert_string_equal(list.entries[1]->rule, "deny *.example");
	assert_int_equal(list.entries[2]->event, FEED_OTHER);
	assert_string_equal(list.entries[2]->why, "policy: added allow a.example:443");
	assert_int_equal(list.denial_count, 1);
	assert_string_equal(list.denials[0]->newest.target, "bad.example:22");
	uint64_t generation = list.generation;
	feed_look(s->feed, &list);
	assert_int_equal(list.generation, generation); /* nothing new */
	deny(s, "alpha", 4000, "bad.example", 1);
	wait_for(s, 4);
	feed_look(s->feed, &list);
	assert_true(list.generation != generation);
}

static void old_records_count_as_far_as_they_are_read(void **state)
{
	struct scene *s = *state;
	struct feed_list list;
	make_vm(s, "alpha");
	deny(s, "alpha", 1000, "a.example", 30);
	s->feed = feed_open(s->loop, 10, 20, on_change, s);
	feed_add(s->feed, "alpha");
	wait_for(s, 10);
	feed_look(s->feed, &list);
	assert_int_equal(list.denial_count, 1);
	assert_int_equal(list.denials[0]->count, 20);
	assert_int_equal(list.denials[0]->first_ms, 1010);
	assert_int_equal(list.denials[0]->newest.time_ms, 1029);
	assert_int_equal(list.entries[0]->time_ms, 1020);
}

/* The order is that of the clock, over midnight and when the clock is put back. */
static void order_is_by_time(void **state)
{
	struct scene *s = *state;
	struct feed_list list;
	const int64_t midnight = INT64_C(1796083200000); /* 2026-12-01T00:00:00Z */
	make_vm(s, "alpha");
	make_vm(s, "beta");
	deny(s, "alpha", midnight - 2, "late.example", 1);
	deny(s, "alpha", midnight + 5, "early.example", 1);
	deny(s, "beta", midnight - 1, "between.example", 1);
	deny(s, "alpha", midnight - 3600000, "early.example", 1); /* put back */
	s->feed = feed_open(s->loop, 10, 10, on_change, s);
	feed_add(s->feed, "alpha");
	feed_add(s->feed, "beta");
	wait_for(s, 4);
	feed_look(s->feed, &list);
	assert_int_equal(list.denial_count, 3);
	assert_string_equal(list.denials[0]->newest.target, "late.example:443");
	assert_string_equal(list.denials[1]->newest.target, "between.example:443");
	assert_string_equal(list.denials[2]->newest.target, "early.example:443");
	assert_int_equal(list.denials[2]->count, 2);
	assert_int_equal(list.denials[2]->newest.time_ms, midnight + 5);
	assert_int_equal(list.denials[2]->first_ms, midnight - 3600000);
	for (size_t i = 1; i < list.entry_count; i++)
		assert_true(list.entries[i - 1]->time_ms <= list.entries[i]->time_ms);
}

/* The folder is another one, though its name and perhaps its inode are the same. */
static void a_vm_made_again_begins_anew(void **state)
{
	struct scene *s = *state;
	struct feed_list list;
	uint64_t last_id = 0;
	s->feed = feed_open(s->loop, 10, 10, on_change, s);
	for (int round = 1; round <= 5; round++) {
		make_vm(s, "alpha");
		feed_add(s->feed, "alpha");
		wait_for(s, 0);
		deny(s, "alpha", 1000 * round, "a.example", 2);
		wait_for(s, 2);
		feed_add(s->feed, "alpha"); /* the same: nothing happens */
		feed_look(s->feed, &list);
		assert_int_equal(list.denial_count, 1);
		assert_int_equal(list.denials[0]->count, 2);
		assert_int_equal(list.denials[0]->first_ms, 1000 * round);
		assert_true(list.denials[0]->id > last_id);
		last_id = list.denials[0]->id;
		remove_vm(s, "alpha");
	}
}

static void on_tick(void *arg)
{
	struct scene *s = arg;
	struct feed_list list;
	feed_look(s->feed, &list);
	uint64_t serial = list.entry_count ? list.entries[list.entry_count - 1]->serial : 0;
	s->most_at_once = MAX(s->most_at_once, (size_t)(serial - s->serial));
	s->serial = serial;
	s->seen++;
}

static bool has_all(void *arg)
{
	struct scene *s = arg;
	struct feed_list list;
	feed_look(s->feed, &list);
	return list.denial_count == 1 && list.denials[0]->count == 10000;
}

/* A timer of the same loop goes on while 10,000 refusals are read, and on_change comes once for many of them. */
static void a_flood_leaves_time_for_others(void **state)
{
	struct scene *s = *state;
	make_vm(s, "alpha");
	deny(s, "alpha", 999, "a.example", 1);
	s->feed = feed_open(s->loop, 2000, 200, on_change, s);
	feed_add(s->feed, "alpha");
	wait_for(s, 1);
	s->changes = 0;
	s->serial = 1;
	s->tick = timer_create_on(s->loop, on_tick, s);
	deny(s, "alpha", 1000, "a.example", 9999);
	while (!has_all(s)) {
		timer_once(s->tick, 0);
		loop_turn(s->loop, false);
	}
	assert_true(s->seen > 10);
	assert_true(s->most_at_once < 1000);
	assert_true(s->changes > 1 && s->changes < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(records_become_entries, setup, teardown),
	    cmocka_unit_test_setup_teardown(old_records_count_as_far_as_they_are_read, setup, teardown),
	    cmocka_unit_test_setup_teardown(order_is_by_time, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_vm_made_again_begins_anew, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_flood_leaves_time_for_others, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
