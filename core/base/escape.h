/* Making foreign bytes safe to show or to log. Whatever comes from a guest passes through here (or through the
 * terminal core) before a person or a file sees it. Both functions always end `out` with NUL, never write past
 * `size` (which is at least 8), never cut an escape in half, and mark a cut text with "..." at its end. */
#ifndef CCVM_BASE_ESCAPE_H
#define CCVM_BASE_ESCAPE_H

#include <stddef.h>

/* For people: printable ASCII stays, backslash doubles, every other byte becomes \xNN (LF \n, TAB \t).
 * Returns the length written. */
size_t escape_text(char *out, size_t size, const char *bytes, size_t len);

/* The inside of a JSON string, ASCII only: quote and backslash escaped, every byte below 0x20, 0x7f and from
 * 0x80 up as \u00NN, byte by byte, so that broken UTF-8 cannot upset a reader (egress.md E2: U+0085, U+2028 and
 * bidi controls cannot pass either). Returns the length written. */
size_t escape_json(char *out, size_t size, const char *bytes, size_t len);

#endif
