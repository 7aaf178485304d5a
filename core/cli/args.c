#include "core/cli/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/parse.h"
#include "core/base/nearest.h"

static size_t find_letter(const struct arg_option *options, char letter)
{
	size_t i = 0;
	while (options[i].name && options[i].letter != letter)
		i++;
	return i;
}

static size_t find_name(const struct arg_option *options, const char *name, size_t len)
{
	size_t i = 0;
	while (options[i].name &&
	       (strlen(options[i].name) != len || strncmp(options[i].name, name, len) != 0))
		i++;
	return i;
}

static bool store(struct args *a, size_t i, const char *value, struct err *e)
{
	struct arg_values *v = &a->given[i];
	if (a->options[i].kind == ARG_TEXT && v->count)
		return err_set(e, ERR_INVALID, "option --%s is given twice", a->options[i].name);
	v->values = mem_resize(v->values, v->count + 1, sizeof(*v->values));
	v->places = mem_resize(v->places, v->count + 1, sizeof(*v->places));
	v->places[v->count] = a->place_count++;
	v->values[v->count++] = value;
	return true;
}

static bool fail_unknown_name(const struct arg_option *options, const char *name, size_t len, struct err *e)
{
	char given[64];
	struct nearest n;
	snprintf(given, sizeof(given), "%.*s", (int)MIN(len, sizeof(given) - 1), name);
	nearest_begin(&n, given);
	for (size_t i = 0; options[i].name; i++)
		nearest_offer(&n, options[i].name);
	if (nearest_best(&n))
		return err_set(e, ERR_INVALID, "unknown option --%s (did you mean --%s?)", given,
		               nearest_best(&n));
	return err_set(e, ERR_INVALID, "unknown option --%s", given);
}

/* "--name", "--name=VALUE" or "--name" VALUE; *next is argv's next element. */
static bool parse_long(struct args *a, const char *text, const char *const **next, struct err *e)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : strlen(text);
	size_t i = find_name(a->options, text, len);
	const struct arg_option *o = &a->options[i];
	if (!o->name)
		return fail_unknown_name(a->options, text, len, e);
	if (o->kind == ARG_FLAG) {
		if (equals)
			return err_set(e, ERR_INVALID, "option --%s takes no value", o->name);
		return store(a, i, "", e);
	}
	if (equals)
		return store(a, i, equals + 1, e);
	if (!**next)
		return err_set(e, ERR_INVALID, "option --%s needs a value: %s", o->name, o->value);
	return store(a, i, *(*next)++, e);
}

/* "-f", "-fn 3", "-n3": flags until one takes a value, which is the rest or the next element. */
static bool parse_short(struct args *a, const char *letters, const char *const **next, struct err *e)
{
	for (; *letters; letters++) {
		size_t i = find_letter(a->options, *letters);
		const struct arg_option *o = &a->options[i];
		if (!o->name)
			return err_set(e, ERR_INVALID, "unknown option -%c", *letters);
		if (o->kind == ARG_FLAG) {
			if (!store(a, i, "", e))
				return false;
			continue;
		}
		if (letters[1])
			return store(a, i, letters + 1, e);
		if (!**next)
			return err_set(e, ERR_INVALID, "option -%c needs a value: %s", *letters, o->value);
		return store(a, i, *(*next)++, e);
	}
	return true;
}

static void add_word(struct args *a, const char *text)
{
	a->word_places[a->word_count] = a->place_count++;
	a->words[a->word_count++] = text;
}

bool args_parse(struct args *a, const struct arg_option *options, int argc, const char *const *argv,
                struct err *e)
{
	*a = (struct args){.options = options};
	CHECK(find_name(options, "", 0) <= ARGS_MOST_OPTIONS);
	a->words = mem_array((size_t)argc + 1, sizeof(*a->words));
	a->word_places = mem_array((size_t)argc + 1, sizeof(*a->word_places));
	const char *const *next = argv;
	while (*next) {
		const char *text = *next++;
		bool fine = true;
		if (strcmp(text, "--") == 0) {
			a->rest = next;
			return true;
		}
		if (text[0] == '-' && text[1] == '-')
			fine = parse_long(a, text + 2, &next, e);
		else if (text[0] == '-' && text[1])
			fine = parse_short(a, text + 1, &next, e);
		else
			add_word(a, text);
		if (!fine)
			return false;
	}
	return true;
}

void args_finish(struct args *a)
{
	for (size_t i = 0; i < ARGS_MOST_OPTIONS; i++) {
		free(a->given[i].values);
		free(a->given[i].places);
	}
	free(a->words);
	free(a->word_places);
	*a = (struct args){0};
}

const struct arg_values *args_list(const struct args *a, const char *name)
{
	size_t i = find_name(a->options, name, strlen(name));
	if (!a->options[i].name)
		BUG("option --%s is not in the table", name);
	return &a->given[i];
}

bool args_has(const struct args *a, const char *name)
{
	return args_list(a, name)->count > 0;
}

const char *args_text(const struct args *a, const char *name)
{
	const struct arg_values *v = args_list(a, name);
	return v->count ? v->values[0] : NULL;
}

bool args_number(const struct args *a, const char *name, uint64_t min, uint64_t max, uint64_t otherwise,
                 uint64_t *out, struct err *e)
{
	const char *text = args_text(a, name);
	uint64_t v = otherwise;
	if (text && !parse_u64(text, min, max, &v))
		return err_set(e, ERR_INVALID, "--%s '%.40s' is not a number from %llu to %llu", name, text,
		               (unsigned long long)min, (unsigned long long)max);
	*out = v;
	return true;
}
