/* The first thing that a guest's bytes meet: a tokenizer that lets nothing through but whole, well-formed pieces.
 *
 * It knows no terminal state. What it guarantees to its callbacks, for any input in any pieces (and the pieces make no
 * difference):
 *   text     valid UTF-8, only base characters (unicode.h), and the controls BS HT LF VT FF CR
 *   mark     a combining mark right after a base character
 *   csi      at most FILTER_PARAMS_MAX numbers of at most FILTER_PARAM_LIMIT, one leader, one intermediate
 *   string   an OSC or DCS of at most FILTER_STRING_MAX bytes that was properly ended; longer ones, APC, PM and SOS
 *            are swallowed
 * Broken UTF-8 becomes U+FFFD, C1 controls and invisible characters vanish, an unfinished sequence waits. */
#ifndef CCVM_TERM_FILTER_H
#define CCVM_TERM_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"

#define FILTER_PARAMS_MAX  128
#define FILTER_PARAM_LIMIT 65535
#define FILTER_STRING_MAX  4096

struct csi {
	char leader;       /* one of < = > ?, or 0 */
	char intermediate; /* 0x20-0x2f, or 0 */
	char final;
	unsigned count;                    /* 1 or more; the only one may be missing */
	int32_t params[FILTER_PARAMS_MAX]; /* -1: missing */
	bool sub[FILTER_PARAMS_MAX];       /* came after a colon: belongs to the one before */
	bool after_base;                   /* came right after a character */
};

/* The number at `i`, or `missing` when it is absent or not given. */
int csi_param(const struct csi *seq, unsigned i, int missing);

enum filter_string { FILTER_OSC, FILTER_DCS };

struct filter_ops {
	void (*text)(void *arg, const uint8_t *bytes, size_t len);
	void (*mark)(void *arg, uint32_t cp);
	void (*control)(void *arg, uint8_t c); /* BEL, SO, SI */
	void (*escape)(void *arg, char intermediate, char final);
	void (*csi)(void *arg, const struct csi *seq);
	/* `bel`: ended by BEL, not by ST; an answer ends the same way. */
	void (*string)(void *arg, enum filter_string kind, const uint8_t *bytes, size_t len, bool bel);
};

struct filter {
	const struct filter_ops *ops; /* borrowed for ever */
	void *arg;
	uint8_t state;
	uint8_t string_kind;
	bool after_base; /* a mark has something to join */
	bool was_base;   /* the same when the escape sequence began */
	uint8_t tail[4]; /* unfinished UTF-8 */
	uint8_t tail_len;
	struct csi csi;
	char intermediate; /* of an escape sequence */
	struct buf string;
};

void filter_init(struct filter *f, const struct filter_ops *ops, void *arg);
void filter_finish(struct filter *f);
void filter_write(struct filter *f, const uint8_t *bytes, size_t len);

#endif
