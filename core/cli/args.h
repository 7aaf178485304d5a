/* Command lines: options from a table, words, and what follows "--".
 *
 * Long options "--name", "--name VALUE", "--name=VALUE", short ones "-n VALUE", "-nVALUE", flags bundled "-fn 3".
 * Options may stand anywhere before "--". An unknown one is an error that names the nearest known one. */
#ifndef CCVM_CLI_ARGS_H
#define CCVM_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define ARGS_MOST_OPTIONS 16

enum arg_kind {
	ARG_FLAG, /* no value; giving it twice is fine */
	ARG_TEXT, /* one value; twice is an error */
	ARG_LIST  /* one value each time */
};

struct arg_option {
	const char *name; /* without dashes */
	char letter;      /* 0: none */
	enum arg_kind kind;
	const char *value; /* what the value is called in the help: "HOST[:PORT]" */
	const char *help;
};

/* All texts are borrowed from argv. */
struct args {
	const struct arg_option *options; /* ends with a NULL name */
	struct arg_values {
		const char **values; /* owned arrays: */
		size_t *places;      /* how many words and values came before it on the command line */
		size_t count;
	} given[ARGS_MOST_OPTIONS];
	const char **words; /* owned array, NULL-terminated */
	size_t *word_places;
	size_t word_count;
	size_t place_count;
	const char *const *rest; /* after "--", NULL-terminated (in argv); NULL: there was no "--" */
};

/* `argv` begins after the command's name; argv[argc] is NULL. args_finish is right after a failure as well. */
bool args_parse(struct args *a, const struct arg_option *options, int argc, const char *const *argv,
                struct err *e) MUST_USE;
void args_finish(struct args *a);

/* By name; a name that is not in the table is a bug. */
bool args_has(const struct args *a, const char *name);
const char *args_text(const struct args *a, const char *name); /* NULL: not given */
const struct arg_values *args_list(const struct args *a, const char *name);
/* The value as a number of min..max; `otherwise` when it was not given. */
bool args_number(const struct args *a, const char *name, uint64_t min, uint64_t max, uint64_t otherwise,
                 uint64_t *out, struct err *e) MUST_USE;

#endif
