/* proxy/resolve: with a resolver that does what the test wants. Its `get` runs in threads of the pool. */
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "proxy/resolve.h"
#include "tests/lib/loop_wait.h"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool hold; /* lookups hang while this is set */
	unsigned calls, inside, most_inside, released;
	char last[HOST_SIZE + 1];
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static struct addrinfo *prepend(struct addrinfo *list, const char *ip)
{
	struct addrinfo *a = mem_alloc(sizeof(*a) + sizeof(union endpoint));
	union endpoint *to = (void *)(a + 1);
	a->ai_addr = &to->any;
	if (strchr(ip, ':')) {
		to->v6.sin6_family = AF_INET6;
		inet_pton(AF_INET6, ip, &to->v6.sin6_addr);
	} else {
		to->v4.sin_family = AF_INET;
		inet_pton(AF_INET, ip, &to->v4.sin_addr);
	}
	a->ai_next = list;
	return a;
}

static int fake_get(const char *name, const char *service, const struct addrinfo *hints,
                    struct addrinfo **out)
{
	(void)service;
	(void)hints;
	pthread_mutex_lock(&fake.lock);
	fake.calls++;
	fake.inside++;
	fake.most_inside = MAX(fake.most_inside, fake.inside);
	snprintf(fake.last, sizeof(fake.last), "%s", name);
	while (fake.hold)
		pthread_cond_wait(&fake.changed, &fake.lock);
	fake.inside--;
	pthread_mutex_unlock(&fake.lock);
	if (strcmp(name, "public.test.") == 0)
		*out = prepend(prepend(NULL, "2606:4700::1"), "1.1.1.1");
	else if (strcmp(name, "mixed.test.") == 0)
		*out = prepend(prepend(prepend(NULL, "8.8.8.8"), "::ffff:127.0.0.1"), "10.0.0.1");
	else if (strcmp(name, "private.test.") == 0)
		*out = prepend(prepend(NULL, "127.0.0.1"), "64:ff9b::7f00:1");
	else if (strcmp(name, "own.test.") == 0)
		*out = prepend(prepend(NULL, "192.0.2.77"), "127.0.0.1");
	else if (strcmp(name, "many.test.") == 0)
		for (int i = 0; i < 30; i++)
			*out = prepend(*out, "1.1.1.1");
	else
		return EAI_NONAME;
	return 0;
}

static void fake_release(struct addrinfo *list)
{
	while (list) {
		struct addrinfo *next = list->ai_next;
		free(list);
		list = next;
	}
	fake.released++;
}

static const struct resolve_source SOURCE = {.get = fake_get, .release = fake_release};
static const struct resolve_source HASTY = {.get = fake_get, .release = fake_release, .limit_ms = 30};

static void hold(bool on)
{
	pthread_mutex_lock(&fake.lock);
	fake.hold = on;
	pthread_cond_broadcast(&fake.changed);
	pthread_mutex_unlock(&fake.lock);
}

static int set_up(void **state)
{
	hold(false);
	pthread_mutex_lock(&fake.lock);
	fake.calls = fake.most_inside = fake.released = 0;
	pthread_mutex_unlock(&fake.lock);
	*state = loop_create();
	return 0;
}

struct seen {
	unsigned count;
	bool done;
	struct resolve_answer answer;
	enum err_kind kind;
};

static void on_done(void *arg, const struct resolve_answer *a, const struct err *e)
{
	struct seen *s = arg;
	s->count++;
	s->done = true;
	if (a)
		s->answer = *a;
	else
		s->kind = e->kind;
}

static struct seen ask_source(struct loop *loop, const struct resolve_source *source, const char *host)
{
	struct seen s = {0};
	struct resolver *r = resolver_create(loop, source);
	resolver_look_up(r, host, 443, on_done, &s);
	assert_false(s.done); /* never from inside */
	assert_true(loop_wait_flag(loop, &s.done));
	loop_settle(loop);
	assert_int_equal(s.count, 1);
	assert_true(resolver_destroy(r));
	return s;
}

static struct seen ask(struct loop *loop, const char *host)
{
	return ask_source(loop, &SOURCE, host);
}

static bool any_address(const struct sockaddr *sa)
{
	(void)sa;
	return true;
}

/* A machine may have a public address, with services that listen on all of them. */
static void addresses_of_this_machine_are_left_out(void **state)
{
	static const struct resolve_source OPEN = {
	    .get = fake_get, .release = fake_release, .may_dial = any_address};
	struct loop *loop = *state;
	struct seen s = ask_source(loop, &OPEN, "own.test");
	assert_int_equal(s.answer.count, 1);
	assert_int_equal(s.answer.refused, 1);
	char text[64];
	endpoint_format(&s.answer.found[0], text, sizeof(text));
	assert_string_equal(text, "192.0.2.77:443");
	loop_destroy(loop);
}

static void names_are_asked_with_a_final_dot(void **state)
{
	struct loop *loop = *state;
	struct seen s = ask(loop, "public.test");
	assert_string_equal(fake.last, "public.test.");
	assert_int_equal(fake.calls, 1);
	assert_int_equal(fake.released, 1);
	assert_int_equal(s.answer.count, 2);
	char text[64];
	endpoint_format(&s.answer.found[0], text, sizeof(text));
	assert_string_equal(text, "1.1.1.1:443");
	endpoint_format(&s.answer.found[1], text, sizeof(text));
	assert_string_equal(text, "[2606:4700::1]:443");
	loop_destroy(loop);
}

static void private_addresses_are_left_out(void **state)
{
	struct loop *loop = *state;
	struct seen s = ask(loop, "mixed.test");
	assert_int_equal(s.answer.count, 1);
	assert_int_equal(s.answer.refused, 2);
	assert_int_equal(ntohl(s.answer.found[0].v4.sin_addr.s_addr), 0x08080808);
	s = ask(loop, "private.test");
	assert_int_equal(s.kind, ERR_DENIED);
	s = ask(loop, "nothing.test");
	assert_int_equal(s.kind, ERR_NOT_FOUND);
	s = ask(loop, "many.test");
	assert_int_equal(s.answer.count, RESOLVE_MOST);
	loop_destroy(loop);
}

static bool two_are_inside(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&fake.lock);
	bool yes = fake.inside == 2;
	pthread_mutex_unlock(&fake.lock);
	return yes;
}

static void only_two_are_in_flight(void **state)
{
	struct loop *loop = *state;
	struct seen s[6] = {0};
	struct resolver *r = resolver_create(loop, &SOURCE);
	hold(true);
	for (size_t i = 0; i < ARRAY_LEN(s); i++)
		resolver_look_up(r, "public.test", 443, on_done, &s[i]);
	assert_true(loop_wait(loop, two_are_inside, NULL));
	loop_settle(loop);
	assert_int_equal(fake.calls, 2);
	hold(false);
	for (size_t i = 0; i < ARRAY_LEN(s); i++)
		assert_true(loop_wait_flag(loop, &s[i].done));
	assert_int_equal(fake.calls, 6);
	assert_int_equal(fake.most_inside, RESOLVE_AT_ONCE);
	loop_settle(loop);
	assert_true(resolver_destroy(r));
	loop_destroy(loop);
}

static void late_answers_are_thrown_away(void **state)
{
	struct loop *loop = *state;
	struct seen s[4] = {0};
	struct resolver *r = resolver_create(loop, &HASTY);
	hold(true);
	for (size_t i = 0; i < ARRAY_LEN(s); i++) /* two hang, two wait for them */
		resolver_look_up(r, "public.test", 443, on_done, &s[i]);
	for (size_t i = 0; i < ARRAY_LEN(s); i++) {
		assert_true(loop_wait_flag(loop, &s[i].done));
		assert_int_equal(s[i].kind, ERR_TIMEOUT);
	}
	assert_true(loop_wait(loop, two_are_inside, NULL));
	struct seen late = {0};
	struct lookup *l = resolver_look_up(r, "public.test", 443, on_done, &late);
	lookup_cancel(l);
	assert_false(resolver_destroy(r)); /* the threads still hang */
	hold(false);
	loop_destroy(loop); /* waits for them */
	for (size_t i = 0; i < ARRAY_LEN(s); i++)
		assert_int_equal(s[i].count, 1);
	assert_int_equal(late.count, 0);
	assert_int_equal(fake.released, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(names_are_asked_with_a_final_dot, set_up),
	    cmocka_unit_test_setup(private_addresses_are_left_out, set_up),
	    cmocka_unit_test_setup(addresses_of_this_machine_are_left_out, set_up),
	    cmocka_unit_test_setup(only_two_are_in_flight, set_up),
	    cmocka_unit_test_setup(late_answers_are_thrown_away, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
