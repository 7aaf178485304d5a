/* What a program in a guest prints, made fit for the operator's terminal where no emulator stands in between: text stays,
 * with BS, HT, LF, VT, FF, CR and BEL; escape sequences, other controls and invisible characters go. For any bytes in any
 * pieces, and the pieces make no difference. Pure. */
#ifndef CCVM_TERM_PLAIN_H
#define CCVM_TERM_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/term/filter.h"

struct plain {
	struct filter filter;
	struct buf out;
	bool ascii; /* the terminal does not take UTF-8: '?' for everything else */
};

void plain_init(struct plain *p, bool ascii); /* must not be moved afterwards */
void plain_finish(struct plain *p);
/* The text of the next piece, of at most PLAIN_PIECE_MAX bytes; valid until the next call. */
struct bytes plain_feed(struct plain *p, const void *bytes, size_t len);
#define PLAIN_PIECE_MAX (64 * 1024)

#endif
