#include "core/term/plain.h"

#include "core/base/check.h"
#include "core/term/unicode.h"

#define BEL 0x07

/* One byte may become the three of U+FFFD, and a piece may complete what an earlier one began. */
#define OUT_MAX (3 * PLAIN_PIECE_MAX + 64)

static void on_text(void *arg, const uint8_t *bytes, size_t len)
{
	struct plain *p = arg;
	if (!p->ascii) {
		buf_put(&p->out, bytes, len);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] < 0x80)
			buf_put_u8(&p->out, bytes[i]);
		else if ((bytes[i] & 0xc0) != 0x80) /* the inside of a character is not another one */
			buf_put_u8(&p->out, '?');
	}
}

static void on_mark(void *arg, uint32_t cp)
{
	struct plain *p = arg;
	char text[4];
	if (!p->ascii)
		buf_put(&p->out, text, utf8_encode(cp, text));
}

static void on_control(void *arg, uint8_t c)
{
	struct plain *p = arg;
	if (c == BEL) /* the others change the character set */
		buf_put_u8(&p->out, c);
}

static void on_escape(void *arg, char intermediate, char final)
{
	(void)arg, (void)intermediate, (void) final;
}

static void on_csi(void *arg, const struct csi *seq)
{
	(void)arg, (void)seq;
}

static void on_string(void *arg, enum filter_string kind, const uint8_t *bytes, size_t len, bool bel)
{
	(void)arg, (void)kind, (void)bytes, (void)len, (void)bel;
}

static const struct filter_ops OPS = {
    .text = on_text,
    .mark = on_mark,
    .control = on_control,
    .escape = on_escape,
    .csi = on_csi,
    .string = on_string,
};

void plain_init(struct plain *p, bool ascii)
{
	*p = (struct plain){.ascii = ascii};
	filter_init(&p->filter, &OPS, p);
	buf_init(&p->out, OUT_MAX);
}

void plain_finish(struct plain *p)
{
	filter_finish(&p->filter);
	buf_finish(&p->out);
}

struct bytes plain_feed(struct plain *p, const void *bytes, size_t len)
{
	CHECK(len <= PLAIN_PIECE_MAX);
	buf_clear(&p->out);
	filter_write(&p->filter, bytes, len);
	CHECK(buf_ok(&p->out));
	return (struct bytes){.p = p->out.data, .len = p->out.len};
}
