/* UTF-8, and which code points a terminal may show. Pure tables; independent of the C library's locale, so that guest
 * text means the same everywhere. */
#ifndef CCVM_TERM_UNICODE_H
#define CCVM_TERM_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNICODE_REPLACEMENT 0xfffdu

/* May stand in a cell as a base: a printable character. False for controls, surrogates, noncharacters, bidi
 * controls, zero-width formatting characters and everything over U+10FFFF. */
bool codepoint_is_base(uint32_t cp);
/* May follow a base in a cluster: a combining mark or variation selector; no joiner, no bidi control. */
bool codepoint_is_mark(uint32_t cp);
/* Terminals and libraries do not agree how wide this one is (emoji, ambiguous width, clusters). ASCII, Latin and box
 * drawing never are. A renderer repositions the cursor after it. */
bool codepoint_is_width_unsure(uint32_t cp);
/* UTF-8 of one code point: 1 to 4 bytes, returns how many. Invalid ones become U+FFFD. */
size_t utf8_encode(uint32_t cp, char out[4]);
/* One code point from `len` > 0 bytes: returns its length and sets *cp; 0 when the bytes are a valid but unfinished
 * start (at most 3 bytes); a broken byte gives length 1 and U+FFFD. */
size_t utf8_decode(const uint8_t *bytes, size_t len, uint32_t *cp);
/* The printable characters of these bytes (bases and marks), a blank for a run of controls between them, as a text with its NUL
 * that ends with a whole one and fits into `size`. Returns its length. */
size_t utf8_printable(char *out, size_t size, const char *bytes, size_t len);

#endif
