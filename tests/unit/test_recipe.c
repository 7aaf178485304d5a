/* core/image: recipes, and what is read from apt. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/image/apt.h"
#include "core/image/recipe.h"

#define KERNEL "[kernel]\npackage = linux-image-x\nmodule = virtio\n"
#define LAYER  "[layer]\npackage = bash\n"

static void the_base_recipe_is_good(void **state)
{
	(void)state;
	struct recipe r;
	struct err e = ERR_INIT;
	if (!recipe_load("guest/image/base.ini", &r, &e))
		fail_msg("%s", e.msg);
	assert_string_equal(r.kernel_package, "linux-image-cloud-amd64");
	assert_string_equal(r.modules.values[0], "virtio_ring"); /* virtio needs it */
	assert_string_equal(r.packages.values[0], "bash");
	assert_true(r.modules.count >= 12 && r.packages.count >= 10 && r.excludes.count >= 4);
	recipe_finish(&r);
	recipe_finish(&r); /* twice is harmless */
}

static void bad_recipes_name_the_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} BAD[] = {
	    {"", "x.ini: a kernel package"},
	    {KERNEL, "x.ini: a kernel package"},
	    {LAYER, "x.ini: a kernel package"},
	    {KERNEL LAYER "packages = vim\n", "x.ini:6: unknown key 'packages'"},
	    {KERNEL LAYER "[other]\nx = y\n", "x.ini:7: unknown key 'x'"},
	    {KERNEL LAYER "package = -oDpkg::x\n", "x.ini:6: bad value '-oDpkg::x' of package"},
	    {KERNEL LAYER "package = a,b\n", "x.ini:6: bad value 'a,b'"},
	    {KERNEL LAYER "package = Bash\n", "x.ini:6: bad value"},
	    {KERNEL LAYER "package =\n", "x.ini:6: bad value"},
	    {KERNEL LAYER "package = bash\n", "x.ini:6: bash is there twice"},
	    {KERNEL "package = other\n" LAYER, "x.ini:4: package is there twice"},
	    {KERNEL "module = ../x\n" LAYER, "x.ini:4: bad value '../x' of module"},
	    {KERNEL LAYER "exclude = usr\n", "x.ini:6: bad value 'usr' of exclude"},
	    {KERNEL LAYER "nonsense\n", "x.ini:6: neither a section"},
	    {KERNEL LAYER "package = vim\nnonsense\n[x]\ny = z\n", "x.ini:7: neither a section"},
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct recipe r = {0};
		struct err e = ERR_INIT;
		assert_false(recipe_parse("x.ini", BAD[i].text, strlen(BAD[i].text), &r, &e));
		if (strncmp(e.msg, BAD[i].want, strlen(BAD[i].want)) != 0)
			fail_msg("%zu: \"%s\" instead of \"%s\"", i, e.msg, BAD[i].want);
		assert_null(r.kernel_package);
	}
}

/* inih would hand the first 200 characters over as if they were all. */
static void long_lines_and_zero_bytes_refuse_the_file(void **state)
{
	(void)state;
	struct recipe r;
	struct err e = ERR_INIT;
	char long_name[260];
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	char *text FREE_ON_EXIT = mem_printf(KERNEL LAYER "package = %s\n", long_name);
	assert_false(recipe_parse("x.ini", text, strlen(text), &r, &e));
	assert_non_null(strstr(e.msg, "x.ini:6: the line is longer"));
	err_clear(&e);
	static const char ZERO[] = KERNEL LAYER "package = vim\0im\n";
	assert_false(recipe_parse("x.ini", ZERO, sizeof(ZERO) - 1, &r, &e));
	err_clear(&e);
	struct str many = STR_INIT(65536);
	str_append(&many, KERNEL LAYER);
	for (int i = 0; i <= RECIPE_MOST_EXCLUDES; i++)
		str_appendf(&many, "exclude = /x%d\n", i);
	assert_false(recipe_parse("x.ini", many.s, many.len, &r, &e));
	assert_int_equal(e.kind, ERR_LIMIT);
	str_finish(&many);
}

static void sources_are_the_distributions_own(void **state)
{
	(void)state;
	struct str out = STR_INIT(4096);
	struct err e = ERR_INIT;
	static const char TARGETS[] = "Debian|http://mirror.test/debian/|bookworm|main|amd64\n"
	                              "Debian|http://mirror.test/debian/|bookworm|main|i386\n"
	                              "Debian|http://mirror.test/debian/|bookworm|main|amd64\n"
	                              "Other Vendor|https://vendor.test/apt|stable|main|amd64\n"
	                              "|https://nobody.test/apt|stable|main|amd64\n"
	                              "Debian|http://mirror.test/x y|bookworm|main|amd64\n"
	                              "Debian|http://mirror.test/[trusted=yes]|bookworm|main|amd64\n"
	                              "Debian|http://mirror.test/security/|bookworm-security|main|amd64\n"
	                              "Debian|too|few\n"
	                              "\n";
	assert_true(apt_sources(TARGETS, "Debian", "amd64", NULL, &out, &e));
	assert_string_equal(out.s, "deb [arch=amd64] http://mirror.test/debian/ bookworm main\n"
	                           "deb [arch=amd64] http://mirror.test/security/ bookworm-security main\n");
	str_clear(&out);
	assert_true(apt_sources("Debian|http://m.test|a|b|amd64", "Debian", "amd64", "/k.gpg", &out, &e));
	assert_string_equal(out.s, "deb [arch=amd64 signed-by=/k.gpg] http://m.test a b\n");
	str_clear(&out);
	assert_false(apt_sources("Other|http://m.test|a|b|amd64\n", "Debian", "amd64", NULL, &out, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	str_finish(&out);
}

static void the_kernel_behind_its_meta_package(void **state)
{
	(void)state;
	static const struct {
		const char *show, *want;
	} TABLE[] = {
	    {"Package: m\nDepends: linux-image-6.1.0-57-cloud-amd64 (= 6.1.192-3)\nSize: 1\n",
	     "linux-image-6.1.0-57-cloud-amd64"},
	    {"Depends: kmod, linux-base (>= 4), linux-image-7 | x\n", "linux-image-7"},
	    {"Package: m\nPre-Depends: linux-image-9\nDepends: kmod,linux-imag\n", "m"},
	    {"Package: m\nDescription: x\n Depends: linux-image-9\n", "m"},
	    {"Package: m\nDepends: linux-image-, linux-image-8", "linux-image-8"},
	    {"Package: m\nDepends: kmod\nSuggests: x, linux-image-9\n", "m"},
	    {"", "m"},
	};
	for (size_t i = 0; i < ARRAY_LEN(TABLE); i++) {
		char *got FREE_ON_EXIT = apt_kernel_package(TABLE[i].show, "m", "linux-image-");
		assert_string_equal(got, TABLE[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_base_recipe_is_good),
	    cmocka_unit_test(bad_recipes_name_the_line),
	    cmocka_unit_test(long_lines_and_zero_bytes_refuse_the_file),
	    cmocka_unit_test(sources_are_the_distributions_own),
	    cmocka_unit_test(the_kernel_behind_its_meta_package),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
