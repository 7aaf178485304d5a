#include "tui/console.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/config/paths.h"
#include "core/term/unicode.h"

void console_init(struct console *c)
{
	*c = (struct console){.size = -1, .text = STR_INIT((size_t)2 * CONSOLE_TAIL_BYTES)};
}

void console_finish(struct console *c)
{
	str_finish(&c->text);
}

/* Length of the escape sequence at `p` (which is an ESC), as far as it is there: CSI to its final byte, strings to BEL
 * or ST, anything else two bytes. */
static size_t sequence_length(const char *p, size_t left)
{
	if (left < 2)
		return left;
	size_t i = 2;
	if (p[1] == '[') {
		while (i < left && (p[i] < 0x40 || p[i] > 0x7e) && (unsigned char)p[i] >= 0x20)
			i++;
		return MIN(i + 1, left);
	}
	if (!strchr("]PX^_", p[1]))
		return 2;
	while (i < left && p[i] != '\a' && p[i] != '\n' && p[i] != '\033')
		i++;
	if (i < left && p[i] == '\a')
		return i + 1;
	return i + 1 < left && p[i] == '\033' && p[i + 1] == '\\' ? i + 2 : i;
}

static void begin_line_again(struct str *out)
{
	size_t at = out->len;
	while (at > 0 && out->s[at - 1] != '\n')
		at--;
	if (at < out->len) {
		out->len = at;
		out->s[at] = '\0';
	}
}

/* One character that is no ESC and no line end; returns the bytes used. */
static size_t clean_character(const char *bytes, size_t left, struct str *out)
{
	uint32_t cp;
	size_t n = utf8_decode((const uint8_t *)bytes, left, &cp);
	if (n == 0)
		return left;
	if (cp == '\t')
		str_append(out, "  ");
	else if (codepoint_is_base(cp) || codepoint_is_mark(cp))
		str_append_bytes(out, bytes, cp == UNICODE_REPLACEMENT && n == 1 ? 0 : n);
	return n;
}

void console_clean(const char *bytes, size_t len, struct str *out)
{
	bool returned = false; /* a CR was seen; it counts when something but LF follows */
	for (size_t i = 0; i < len;) {
		char c = bytes[i];
		if (c == '\r') {
			returned = true;
			i++;
			continue;
		}
		if (returned && c != '\n')
			begin_line_again(out);
		returned = false;
		if (c == '\n') {
			str_append_char(out, '\n');
			i++;
		} else if (c == '\033') {
			i += sequence_length(bytes + i, len - i);
		} else {
			i += clean_character(bytes + i, len - i, out);
		}
	}
	while (out->len > 0 && strchr(" \n", out->s[out->len - 1]))
		out->s[--out->len] = '\0';
}

/* The last bytes of the file from the start of a line. */
static void read_tail(struct console *c, int fd, int64_t size)
{
	char bytes[CONSOLE_TAIL_BYTES];
	off_t from = size > CONSOLE_TAIL_BYTES ? (off_t)(size - CONSOLE_TAIL_BYTES) : 0;
	ssize_t n = pread(fd, bytes, sizeof(bytes), from);
	size_t start = 0, len = n > 0 ? (size_t)n : 0;
	if (from > 0) {
		const char *end = memchr(bytes, '\n', len);
		start = end ? (size_t)(end - bytes) + 1 : 0;
	}
	console_clean(bytes + start, len - start, &c->text);
}

bool console_update(struct console *c, const char *vm)
{
	bool other = strcmp(c->vm, vm) != 0;
	struct stat st = {.st_size = -1};
	char *folder = vm[0] ? paths_vm_state(vm) : NULL;
	char *path = folder ? paths_join(folder, "console.log") : NULL;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	free(path);
	free(folder);
	bool usable = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	int64_t size = usable ? (int64_t)st.st_size : -1;
	bool changed = other || size != c->size;
	if (changed) {
		snprintf(c->vm, sizeof(c->vm), "%s", vm);
		c->size = size;
		str_clear(&c->text);
		if (usable)
			read_tail(c, fd, size);
	}
	fd_close(&fd);
	return changed;
}
