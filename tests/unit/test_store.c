/* core/vm/store: what is written reads back; anything else is refused. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/vm/store.h"

static const struct vm_spec SPEC = {.name = "alpha",
                                    .image = "base",
                                    .backend = "auto",
                                    .memory_bytes = 512ull << 20,
                                    .disk_bytes = 4ull << 30,
                                    .cpus = 2,
                                    .ready_timeout_ms = 120000,
                                    .created_ms = 1796073811241};

static const char SPEC_TEXT[] =
    "{\"name\":\"alpha\",\"image\":\"base\",\"backend\":\"auto\",\"memory_bytes\":536870912,"
    "\"disk_bytes\":4294967296,\"cpus\":2,\"ready_timeout_ms\":120000,\"created_ms\":1}";

static char *make_folder(const char *name)
{
	char root[] = "/tmp/ccvm-store-XXXXXX";
	assert_non_null(mkdtemp(root));
	char *dir = mem_printf("%s/%s", root, name);
	assert_int_equal(mkdir(dir, 0700), 0);
	return dir;
}

static void remove_folder(char *dir)
{
	struct err e = ERR_INIT;
	*strrchr(dir, '/') = '\0';
	assert_true(fd_remove_tree(dir, &e));
	free(dir);
}

static void a_spec_survives(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct vm_spec got;
	char *dir = make_folder("alpha");
	assert_true(store_write_spec(dir, &SPEC, &e));
	assert_true(store_read_spec(dir, &got, &e));
	assert_memory_equal(&got, &SPEC, sizeof(got));
	remove_folder(dir);
}

static void a_status_survives(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct store_status got, s = {.status = {.name = "alpha",
	                                         .state = VM_FAILED,
	                                         .egress = VM_EGRESS_BROKEN,
	                                         .backend = "qemu-tcg",
	                                         .image = "base",
	                                         .started_ms = 5,
	                                         .ready_ms = 6,
	                                         .denied = 7,
	                                         .supervisor_pid = 8,
	                                         .vmm_pid = 9,
	                                         .cpus = 1,
	                                         .memory_bytes = 1 << 30,
	                                         .denied_seen = 3,
	                                         .attention = {.state = ATTENTION_WAITING,
	                                                       .source = ATTENTION_BY_HOOK,
	                                                       .seen = true,
	                                                       .at_ms = 4,
	                                                       .text = "may I?"}},
	                              .supervisor_start = 123456789};
	snprintf(s.status.reason, sizeof(s.status.reason), "the guest said \"no\" \\x1b[31m");
	char *dir = make_folder("alpha");
	assert_true(store_write_status(dir, &s, &e));
	assert_true(store_read_status(dir, &got, &e));
	assert_memory_equal(&got, &s, sizeof(got));
	memset(s.status.reason, '\x01', sizeof(s.status.reason) - 1); /* the longest when escaped */
	assert_true(store_write_status(dir, &s, &e));
	assert_true(store_read_status(dir, &got, &e));
	memset(s.status.reason, '?', sizeof(s.status.reason) - 1);
	assert_string_equal(got.status.reason, s.status.reason);
	memset(s.status.reason, '\xc3', sizeof(s.status.reason) - 1); /* and the longest when it comes back */
	assert_true(store_write_status(dir, &s, &e));
	assert_true(store_read_status(dir, &got, &e));
	memset(s.status.reason, '?', sizeof(s.status.reason) - 1);
	assert_string_equal(got.status.reason, s.status.reason);
	remove_folder(dir);
}

/* What such a file says is shown to the operator, and its writer may be in the hands of a guest. */
static void no_control_reaches_a_terminal(void **state)
{
	(void)state;
	static const char TEXT[] =
	    "{\"name\":\"alpha\",\"state\":\"failed\",\"egress\":\"unknown\","
	    "\"reason\":\"a\\u001b]0;b\\u0007\\u009b2J\\u202e\\u007f\",\"backend\":\"\\u001b[31m\",\"image\":"
	    "\"\\r\","
	    "\"started_ms\":1,\"ready_ms\":0,\"denied\":0,\"supervisor_pid\":0,\"supervisor_start\":0,"
	    "\"vmm_pid\":0,\"cpus\":1,\"memory_bytes\":1}";
	struct store_status got;
	struct err e = ERR_INIT;
	assert_true(store_parse_status("x", TEXT, sizeof(TEXT) - 1, &got, &e));
	assert_string_equal(got.status.reason, "a?]0;b??2J??");
	assert_string_equal(got.status.backend, "?[31m");
	assert_string_equal(got.status.image, "?");
}

#define OLD_STATUS                                                                                          \
	"\"name\":\"alpha\",\"state\":\"stopped\",\"egress\":\"unknown\",\"reason\":\"\",\"backend\":\"\"," \
	"\"image\":\"\",\"started_ms\":1,\"ready_ms\":0,\"denied\":9,\"supervisor_pid\":0,"                 \
	"\"supervisor_start\":0,\"vmm_pid\":0,\"cpus\":1,\"memory_bytes\":1"

/* What an older build left is no broken VM; what is there is checked all the same. */
static void an_older_status_is_read(void **state)
{
	(void)state;
	static const char OLD[] = "{" OLD_STATUS "}";
	struct store_status got;
	struct err e = ERR_INIT;
	assert_true(store_parse_status("x", OLD, sizeof(OLD) - 1, &got, &e));
	assert_int_equal(got.status.attention.state, ATTENTION_NONE);
	assert_int_equal(got.status.denied_seen, 0);
	static const struct {
		const char *more, *says;
	} BAD[] = {
	    {",\"attention\":\"sleeping\"", "key 'attention' has a bad value"},
	    {",\"attention\":1", "key 'attention' has a bad value"},
	    {",\"attention_source\":\"moon\"", "key 'attention_source' has a bad value"},
	    {",\"attention_seen\":1", "key 'attention_seen' has a bad value"},
	    {",\"denied_seen\":1,\"denied_seen\":1", "key 'denied_seen' is there twice"},
	    {",\"mood\":1", "unknown key"},
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		char *text = mem_printf("{" OLD_STATUS "%s}", BAD[i].more);
		assert_false(store_parse_status("x", text, strlen(text), &got, &e));
		assert_non_null(strstr(e.msg, BAD[i].says));
		err_clear(&e);
		free(text);
	}
}

static void attention_has_names(void **state)
{
	(void)state;
	enum vm_attention_state got;
	for (unsigned i = 0; i < ATTENTION_STATE_COUNT; i++) {
		assert_true(vm_attention_parse(vm_attention_name((enum vm_attention_state)i), &got));
		assert_int_equal(got, i);
	}
	assert_false(vm_attention_parse("", &got));
	assert_false(vm_attention_parse("Waiting", &got));
	assert_string_equal(vm_attention_name((enum vm_attention_state)99), "unknown");
	assert_string_equal(vm_attention_source_name(ATTENTION_BY_OUTPUT), "output");
	assert_string_equal(vm_attention_source_name((enum vm_attention_source) - 1), "unknown");
}

/* Each entry is more urgent than all below it. */
static void the_worse_attention_wins(void **state)
{
	(void)state;
	static const struct vm_attention BY_URGENCY[] = {
	    {.state = ATTENTION_WAITING},
	    {.state = ATTENTION_FAILED},
	    {.state = ATTENTION_FINISHED, .at_ms = 9},
	    {.state = ATTENTION_FINISHED, .at_ms = 3},
	    {.state = ATTENTION_WORKING, .at_ms = 9},
	    {.state = ATTENTION_WAITING, .seen = true},
	    {.state = ATTENTION_FAILED, .seen = true, .at_ms = 99},
	    {.state = ATTENTION_FINISHED, .seen = true},
	    {.state = ATTENTION_IDLE, .seen = true, .at_ms = 9},
	    {.state = ATTENTION_IDLE, .at_ms = 2},
	    {.state = ATTENTION_NONE, .at_ms = 99},
	};
	for (size_t i = 0; i < ARRAY_LEN(BY_URGENCY); i++) {
		for (size_t j = i + 1; j < ARRAY_LEN(BY_URGENCY); j++) {
			assert_ptr_equal(vm_attention_worse(&BY_URGENCY[i], &BY_URGENCY[j]), &BY_URGENCY[i]);
			assert_ptr_equal(vm_attention_worse(&BY_URGENCY[j], &BY_URGENCY[i]), &BY_URGENCY[i]);
		}
	}
}

static void a_missing_file_is_not_found(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct vm_spec got;
	assert_false(store_read_spec("/nonexistent-folder", &got, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static void a_folder_of_another_name_is_refused(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct vm_spec got;
	char *dir = make_folder("beta");
	assert_true(store_write_spec(dir, &SPEC, &e));
	assert_false(store_read_spec(dir, &got, &e));
	assert_non_null(strstr(e.msg, "is of VM 'alpha', not of 'beta'"));
	remove_folder(dir);
}

/* SPEC_TEXT with `from` replaced by `to`. */
static char *changed(const char *from, const char *to)
{
	const char *at = strstr(SPEC_TEXT, from);
	assert_non_null(at);
	return mem_printf("%.*s%s%s", (int)(at - SPEC_TEXT), SPEC_TEXT, to, at + strlen(from));
}

static void a_wrong_spec_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to, *says;
	} BAD[] = {
	    {"\"cpus\":2,", "", "key 'cpus' is missing"},
	    {"\"cpus\":2,", "\"cpus\":2,\"cpus\":2,", "key 'cpus' is there twice"},
	    {"\"cpus\":2,", "\"cpus\":2,\"extra\":2,", "unknown key"},
	    {"\"cpus\":2", "\"cpus\":\"2\"", "key 'cpus' has a bad value"},
	    {"\"cpus\":2", "\"cpus\":2.5", "key 'cpus' has a bad value"},
	    {"\"cpus\":2", "\"cpus\":-1", "key 'cpus' has a bad value"},
	    {"\"cpus\":2", "\"cpus\":4294967296", "key 'cpus' has a bad value"},
	    {"\"cpus\":2", "\"cpus\":1e999", "key 'cpus' has a bad value"},
	    {"\"cpus\":2", "\"cpus\":null", "key 'cpus' has a bad value"},
	    {"\"cpus\":2", "\"cpus\":0", "cpus must be"},
	    {"\"cpus\"", "\"Cpus\"", "key 'cpus' is missing"},
	    {"536870912", "9007199254740993", "key 'memory_bytes' has a bad value"},
	    {"536870912", "1", "memory must be"},
	    {"\"alpha\"", "\"../alpha\"", "VM name"},
	    {"\"alpha\"", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", "key 'name' has a bad value"},
	    {"\"auto\"", "\"magic\"", "backend 'magic'"},
	    {"\"created_ms\":1}", "\"created_ms\":1", "is not JSON"},
	    {"\"created_ms\":1}", "\"created_ms\":1} x", "is not JSON"},
	    {"{", "[{", "is not JSON"},
	};
	struct err none = ERR_INIT;
	struct vm_spec got;
	assert_true(store_parse_spec("vm.json", SPEC_TEXT, strlen(SPEC_TEXT), &got, &none));
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct err e = ERR_INIT;
		char *text FREE_ON_EXIT = changed(BAD[i].from, BAD[i].to);
		struct vm_spec before = got;
		assert_false(store_parse_spec("vm.json", text, strlen(text), &got, &e));
		assert_int_equal(e.kind, ERR_INVALID);
		if (!strstr(e.msg, BAD[i].says) || strncmp(e.msg, "vm.json", 7) != 0)
			fail_msg("'%s' does not say '%s'", e.msg, BAD[i].says);
		assert_memory_equal(&before, &got, sizeof(got));
	}
}

static void odd_texts_are_refused(void **state)
{
	(void)state;
	static const char WITH_NUL[] = "{}\0{}";
	struct vm_spec got;
	struct store_status status;
	struct err e = ERR_INIT;
	assert_false(store_parse_spec("x", "", 0, &got, &e));
	err_clear(&e);
	assert_false(store_parse_spec("x", WITH_NUL, sizeof(WITH_NUL) - 1, &got, &e));
	err_clear(&e);
	assert_false(store_parse_spec("x", "[]", 2, &got, &e));
	err_clear(&e);
	assert_false(store_parse_status("x", "{}", 2, &status, &e));
	assert_int_equal(e.kind, ERR_INVALID);
}

static void a_deep_text_is_refused(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct vm_spec got;
	char deep[20001];
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_false(store_parse_spec("x", deep, sizeof(deep) - 1, &got, &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_spec_survives),
	    cmocka_unit_test(a_status_survives),
	    cmocka_unit_test(no_control_reaches_a_terminal),
	    cmocka_unit_test(an_older_status_is_read),
	    cmocka_unit_test(attention_has_names),
	    cmocka_unit_test(the_worse_attention_wins),
	    cmocka_unit_test(a_missing_file_is_not_found),
	    cmocka_unit_test(a_folder_of_another_name_is_refused),
	    cmocka_unit_test(a_wrong_spec_is_refused),
	    cmocka_unit_test(odd_texts_are_refused),
	    cmocka_unit_test(a_deep_text_is_refused),
	};
	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
