#include "core/image/recipe.h"

#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/fd.h"
#include "core/base/mem.h"

#define LINE_MOST 190 /* inih hands a longer value over cut, and complains only later */

/* Values end up as arguments of other programs: each is of a kind that cannot be taken for an option or a
 * path. */
#define PACKAGE_CHARS "abcdefghijklmnopqrstuvwxyz0123456789+-."
#define MODULE_CHARS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

struct parse {
	struct recipe *r;
	struct err *e;
	bool failed;
};

static bool is_word(const char *value, const char *chars, size_t most)
{
	return value[0] != '-' && value[0] != '.' && value[0] && strlen(value) <= most &&
	       value[strspn(value, chars)] == '\0';
}

static bool is_text(const char *value)
{
	for (const char *p = value; *p; p++) {
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			return false;
	}
	return value[0];
}

static bool is_package(const char *value)
{
	return is_word(value, PACKAGE_CHARS, 100);
}

static bool is_module(const char *value)
{
	return is_word(value, MODULE_CHARS, 60);
}

static bool is_exclude(const char *value)
{
	return is_text(value) && value[0] == '/';
}

struct key {
	const char *section, *name;
	bool (*check)(const char *value);
	size_t one;  /* place of a text, or SIZE_MAX */
	size_t list; /* place of a list, or SIZE_MAX */
};

static const struct key KEYS[] = {
    {"image", "description", is_text, offsetof(struct recipe, description), SIZE_MAX},
    {"kernel", "package", is_package, offsetof(struct recipe, kernel_package), SIZE_MAX},
    {"kernel", "module", is_module, SIZE_MAX, offsetof(struct recipe, modules)},
    {"layer", "package", is_package, SIZE_MAX, offsetof(struct recipe, packages)},
    {"layer", "exclude", is_exclude, SIZE_MAX, offsetof(struct recipe, excludes)},
};

static const struct key *find_key(const char *section, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
		if (strcmp(KEYS[i].section, section) == 0 && strcmp(KEYS[i].name, name) == 0)
			return &KEYS[i];
	}
	return NULL;
}

static bool put_list(struct recipe_list *list, const char *value, struct err *e)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->values[i], value) == 0)
			return err_set(e, ERR_INVALID, "%s is there twice", value);
	}
	if (list->count == RECIPE_MOST_VALUES)
		return err_set(e, ERR_LIMIT, "more than %d values", RECIPE_MOST_VALUES);
	list->values[list->count++] = mem_strdup(value);
	return true;
}

static bool put_value(struct parse *p, const char *section, const char *name, const char *value)
{
	char safe[80];
	const struct key *key = find_key(section, name);
	if (!key) {
		escape_text(safe, sizeof(safe), name, strlen(name));
		return err_set(p->e, ERR_INVALID, "unknown key '%s' here", safe);
	}
	if (!key->check(value)) {
		escape_text(safe, sizeof(safe), value, strlen(value));
		return err_set(p->e, ERR_INVALID, "bad value '%s' of %s", safe, key->name);
	}
	if (key->list != SIZE_MAX)
		return put_list((struct recipe_list *)(void *)((char *)p->r + key->list), value, p->e);
	char **one = (char **)(void *)((char *)p->r + key->one);
	if (*one)
		return err_set(p->e, ERR_INVALID, "%s is there twice", key->name);
	*one = mem_strdup(value);
	return true;
}

/* inih remembers the line of the first 0 and goes on, so later ones are ignored here. */
static int on_value(void *arg, const char *section, const char *name, const char *value)
{
	struct parse *p = arg;
	if (p->failed)
		return 0;
	p->failed = !put_value(p, section, name, value ? value : "");
	return p->failed ? 0 : 1;
}

/* To tell a line that is no ini from one that says something wrong: both end as a line number. */
static int on_any(void *arg, const char *section, const char *name, const char *value)
{
	(void)arg;
	(void)section;
	(void)name;
	(void)value;
	return 1;
}

/* 0, or the number of the first line that is too long. */
static int long_line(const char *text)
{
	int line = 1;
	for (const char *p = text; *p; line++) {
		size_t len = strcspn(p, "\n");
		if (len > LINE_MOST)
			return line;
		p += len;
		p += *p == '\n';
	}
	return 0;
}

static bool parse_into(const char *name, const char *text, size_t len, struct recipe *r, struct err *e)
{
	int line = long_line(text);
	if (strlen(text) != len)
		return err_set(e, ERR_INVALID, "%s: a zero byte in it", name);
	if (line)
		return err_set(e, ERR_INVALID, "%s:%d: the line is longer than %d characters", name, line,
		               LINE_MOST);
	struct parse p = {.r = r, .e = e};
	int no_ini = ini_parse_string(text, on_any, NULL);
	line = ini_parse_string(text, on_value, &p);
	if (no_ini && no_ini <= line) {
		err_clear(e);
		return err_set(e, ERR_INVALID, "%s:%d: neither a section nor \"key = value\"", name, no_ini);
	}
	if (line)
		return err_wrap(e, "%s:%d", name, line);
	if (r->excludes.count > RECIPE_MOST_EXCLUDES)
		return err_set(e, ERR_LIMIT, "%s: more than %d excludes", name, RECIPE_MOST_EXCLUDES);
	if (!r->kernel_package || !r->modules.count || !r->packages.count)
		return err_set(e, ERR_INVALID,
		               "%s: a kernel package, its modules and the packages of the layer are needed",
		               name);
	return true;
}

bool recipe_parse(const char *name, const char *text, size_t len, struct recipe *out, struct err *e)
{
	struct recipe r = {0};
	char *copy FREE_ON_EXIT = mem_alloc(len + 1);
	if (len)
		memcpy(copy, text, len);
	if (!parse_into(name, copy, len, &r, e)) {
		recipe_finish(&r);
		return false;
	}
	*out = r;
	return true;
}

bool recipe_load(const char *path, struct recipe *out, struct err *e)
{
	size_t len;
	char *text FREE_ON_EXIT = fd_read_file(path, RECIPE_FILE_MAX, &len, e);
	return text && recipe_parse(path, text, len, out, e);
}

static void finish_list(struct recipe_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->values[i]);
	list->count = 0;
}

void recipe_finish(struct recipe *r)
{
	free(r->description);
	free(r->kernel_package);
	r->description = r->kernel_package = NULL;
	finish_list(&r->modules);
	finish_list(&r->packages);
	finish_list(&r->excludes);
}
