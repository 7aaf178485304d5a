#include "core/client/tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/check.h"
#include "core/base/fd.h"

#define PIECE 16384

/* Looks for the newline before the `lines`-th line from the end. *lines goes down; the result is the offset in the piece,
 * or -1. `at_end`: the newline that ends the file does not begin a line. */
static ssize_t scan_piece(const char *bytes, ssize_t len, bool at_end, size_t *lines)
{
	for (ssize_t i = len - 1; i >= 0; i--) {
		if (bytes[i] != '\n' || (at_end && i == len - 1))
			continue;
		if (--*lines == 0)
			return i + 1;
	}
	return -1;
}

uint64_t tail_offset(const char *path, size_t lines, uint64_t most)
{
	char piece[PIECE];
	struct stat st;
	int fd CLOSE_ON_EXIT = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	uint64_t end = (uint64_t)st.st_size, at = end;
	if (lines == 0)
		return end;
	while (at > 0 && end - at < most) {
		size_t n = (size_t)MIN(at, (uint64_t)PIECE);
		ssize_t got = pread(fd, piece, n, (off_t)(at - n));
		if (got != (ssize_t)n)
			break; /* it was cut meanwhile */
		ssize_t start = scan_piece(piece, got, at == end, &lines);
		at -= n;
		if (start >= 0)
			return at + (uint64_t)start;
	}
	return at;
}
