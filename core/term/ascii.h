/* What stands for a character where only ASCII can be shown (a C locale). Pure. */
#ifndef CCVM_TERM_ASCII_H
#define CCVM_TERM_ASCII_H

#include <stdint.h>

/* A printable ASCII character: the code point itself, a likeness of lines, arrows, bullets, marks and letters with accents, else '?'. */
char ascii_likeness(uint32_t cp);

#endif
