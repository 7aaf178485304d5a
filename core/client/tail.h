/* Where the last lines of a file begin. */
#ifndef CCVM_CLIENT_TAIL_H
#define CCVM_CLIENT_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* Byte offset of the last `lines` lines (an unfinished one at the end counts); 0 when there are fewer, or no file.
 * Reads backwards, at most `most` bytes: the rest is left out then. */
uint64_t tail_offset(const char *path, size_t lines, uint64_t most);

#endif
