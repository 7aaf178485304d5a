/* The line after ":" in the dashboard: an action by its name, with what it takes. Pure. */
#ifndef CCVM_TUI_PALETTE_H
#define CCVM_TUI_PALETTE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/base/str.h"
#include "tui/keymap.h"

#define PALETTE_MOST      64 /* candidates that are kept; the rest is counted */
#define PALETTE_WORD_SIZE 64

struct palette_word {
	char text[PALETTE_WORD_SIZE];
	const char *help; /* const text, or NULL */
};

/* What may stand for the word that is being typed. */
struct palette_words {
	struct palette_word words[PALETTE_MOST];
	size_t count; /* of those that are kept */
	size_t total;
	size_t start; /* where that word begins, in bytes of the line */
};

/* Offers words for an argument: calls `offer` for each. */
typedef void palette_offer_fn(void *to, const char *word);
typedef void palette_source_fn(void *arg, enum action_takes takes, palette_offer_fn *offer, void *to);

/* Candidates for a line whose cursor is at the end: names of actions, then what `source` has for the argument. Those that
 * begin with what was typed come first, then those that have it inside. */
void palette_complete(const char *line, palette_source_fn *source, void *arg, struct palette_words *out);
/* The longest text that all kept candidates begin with and that begins as the word does; "" when there is none longer. */
void palette_common(const char *line, const struct palette_words *words, char out[PALETTE_WORD_SIZE]);

/* Which action the line means, and what follows its name (points into the line). ERR_NOT_FOUND names the nearest one; ERR_INVALID:
 * it takes nothing. */
bool palette_parse(const char *line, enum action *action, const char **rest, struct err *e) MUST_USE;

/* Actions that can be called by name from anywhere in command mode. */
bool palette_has(enum action action);

#endif
