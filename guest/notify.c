#include "guest/notify.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/parse.h"
#include "core/wire/frame.h"
#include "guest/vsock.h"

/* Their numbers on the wire: enum vm_attention_state, which is the host's. */
static const char *const STATES[] = {NULL, "working", "waiting", "idle", "finished", "failed"};

static bool read_state(const char *word, uint8_t *out)
{
	for (uint8_t i = 1; i < ARRAY_LEN(STATES); i++) {
		if (strcmp(word, STATES[i]) == 0) {
			*out = i;
			return true;
		}
	}
	return false;
}

static void join(char *const *words, char *out, size_t size)
{
	size_t len = 0;
	bool cut = false;
	for (char *const *w = words; *w && !cut; w++) {
		if (w != words && len + 1 < size)
			out[len++] = ' ';
		for (const char *p = *w; *p && !cut; p++) {
			cut = len + 1 >= size;
			if (!cut)
				out[len++] = (unsigned char)*p < 0x20 || *p == 0x7f ? ' ' : *p;
			else if (((unsigned char)*p & 0xc0) == 0x80) /* its character does not fit */
				while (len && ((unsigned char)out[--len] & 0xc0) == 0x80)
					;
		}
	}
	out[len] = '\0';
}

bool notify_read(char *const *words, const char *terminal, struct wire_event_notify *out, struct err *e)
{
	uint64_t number = 0;
	*out = (struct wire_event_notify){0};
	if (!words[0])
		return err_set(e, ERR_INVALID, "notify: no state");
	if (!read_state(words[0], &out->attention))
		return err_set(e, ERR_INVALID,
		               "notify: '%s' is not working, waiting, idle, finished or failed", words[0]);
	if (terminal && parse_u64(terminal, 1, UINT32_MAX, &number))
		out->term = (uint32_t)number; /* anything else: it runs in none that is known */
	join(words + 1, out->text, sizeof(out->text));
	return true;
}

static bool is_connected(int fd, struct err *e)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int n = poll(&p, 1, NOTIFY_LIMIT_MS);
	if (n == 0)
		return err_set(e, ERR_TIMEOUT, "the host does not answer");
	int code = n < 0 ? errno : socket_outcome(fd);
	return code == 0 || err_sys(e, code, "connect to the host");
}

static bool read_answer(int fd, struct err *e)
{
	uint8_t bytes[1024];
	struct frame f;
	size_t have = 0, used;
	for (;;) {
		ssize_t n = read(fd, bytes + have, sizeof(bytes) - have);
		if (n < 0)
			return err_sys(e, errno, "the host did not answer");
		if (n == 0)
			return err_set(e, ERR_GONE, "the host closed the connection");
		have += (size_t)n;
		enum frame_result got = frame_parse((struct bytes){.p = bytes, .len = have}, &f, &used, e);
		if (got == FRAME_BAD)
			return false;
		if (got == FRAME_READY)
			return f.type == WIRE_OK ||
			       err_set(e, ERR_PROTOCOL, "the host answered %s", wire_type_name(f.type));
		if (have == sizeof(bytes))
			return err_set(e, ERR_PROTOCOL, "the host's answer is too long");
	}
}

static bool talk(int fd, const struct buf *out, struct err *e)
{
	const struct timeval limit = {.tv_sec = NOTIFY_LIMIT_MS / 1000};
	if (!fd_set_nonblock(fd, false) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0)
		return err_sys(e, errno, "set up the connection to the host");
	if (!fd_write_all(fd, out->data, out->len))
		return err_sys(e, errno, "tell the host");
	return read_answer(fd, e);
}

bool notify_send(int fd, const struct wire_event_notify *m, struct err *e)
{
	int mine CLOSE_ON_EXIT = fd;
	struct buf out = BUF_INIT(2048);
	bool ok = wire_put_my_hello(&out, "notify") && wire_put_event_notify(&out, 0, m);
	ok = ok ? is_connected(mine, e) && talk(mine, &out, e) : err_set(e, ERR_LIMIT, "too long");
	buf_finish(&out);
	return ok;
}
