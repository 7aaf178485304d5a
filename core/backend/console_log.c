#include "core/backend/console_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"

#define KEEP_BYTES (CONSOLE_LOG_MOST / 2)
#define LINE_NEAR  4096 /* how far the cut may move to reach a line break */
#define CHUNK      1024 /* raw bytes turned into text at a time */
#define TAIL_MOST  (64 * 1024)

struct console_log {
	int fd;
	size_t size;
	bool complained;
};

static void complain(struct console_log *log, const char *what)
{
	if (!log->complained)
		log_warn("console log: %s: %s", what, strerror(errno));
	log->complained = true;
}

/* Moves the newer half to the front and cuts the file behind it. */
static void drop_old_half(struct console_log *log)
{
	char *kept FREE_ON_EXIT = mem_alloc(KEEP_BYTES);
	ssize_t n = pread(log->fd, kept, KEEP_BYTES, (off_t)(log->size - KEEP_BYTES));
	if (n < 0) {
		complain(log, "read");
		n = 0;
	}
	const char *start = kept, *line = memchr(kept, '\n', MIN((size_t)n, LINE_NEAR));
	if (line)
		start = line + 1;
	size_t len = (size_t)n - (size_t)(start - kept);
	if (pwrite(log->fd, start, len, 0) != (ssize_t)len || ftruncate(log->fd, (off_t)len) != 0) {
		complain(log, "shorten");
		len = 0; /* the bound matters more than the text */
		if (ftruncate(log->fd, 0) != 0)
			complain(log, "empty");
	}
	log->size = len;
}

struct console_log *console_log_open(const char *path, struct err *e)
{
	int fd CLOSE_ON_EXIT = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0) {
		err_sys(e, errno, "open console log %s", path);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(e, ERR_INVALID, "console log %s is not a regular file", path);
		return NULL;
	}
	struct console_log *log = mem_alloc(sizeof(*log));
	log->fd = fd;
	log->size = (size_t)st.st_size;
	fd = -1;
	if (log->size > CONSOLE_LOG_MOST)
		drop_old_half(log);
	return log;
}

static size_t to_text(const uint8_t *bytes, size_t len, char *out)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		uint8_t b = bytes[i];
		if (b == '\r')
			continue;
		if ((b >= 0x20 && b < 0x7f) || b == '\n' || b == '\t') {
			out[n++] = (char)b;
			continue;
		}
		out[n++] = '\\';
		out[n++] = 'x';
		out[n++] = hex[b >> 4];
		out[n++] = hex[b & 15];
	}
	return n;
}

void console_log_write(struct console_log *log, const uint8_t *bytes, size_t len)
{
	char text[4 * CHUNK];
	while (len > 0) {
		size_t take = MIN(len, CHUNK), n = to_text(bytes, take, text);
		if (log->size + n > CONSOLE_LOG_MOST)
			drop_old_half(log);
		ssize_t w = pwrite(log->fd, text, n, (off_t)log->size);
		if (w < (ssize_t)n)
			complain(log, "write");
		log->size += w > 0 ? (size_t)w : 0;
		bytes += take;
		len -= take;
	}
}

void console_log_close(struct console_log *log)
{
	if (!log)
		return;
	fd_close(&log->fd);
	free(log);
}

/* Reads the last TAIL_MOST bytes; NULL when there is nothing. */
static char *read_end(const char *path, size_t *out_len)
{
	int fd CLOSE_ON_EXIT = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return NULL;
	size_t size = (size_t)st.st_size, len = MIN(size, TAIL_MOST);
	char *text FREE_ON_EXIT = mem_alloc(len + 1);
	ssize_t n = pread(fd, text, len, (off_t)(size - len));
	if (n <= 0)
		return NULL;
	*out_len = (size_t)n;
	return mem_steal(&text);
}

void console_log_tail(const char *path, size_t lines, char *out, size_t size)
{
	size_t end = 0;
	out[0] = '\0';
	char *text FREE_ON_EXIT = read_end(path, &end);
	if (!text)
		return;
	while (end > 0 && text[end - 1] == '\n')
		end--;
	size_t start = end;
	for (; start > 0; start--)
		if (text[start - 1] == '\n' && text[start] != '\n' && --lines == 0)
			break;
	if (end - start > size - 1)
		start = end - (size - 1);
	memcpy(out, text + start, end - start);
	out[end - start] = '\0';
}
