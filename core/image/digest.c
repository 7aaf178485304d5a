#include "core/image/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"

#define PIECE (256 * 1024)

/* libcrypto only fails here for want of memory. */
static EVP_MD_CTX *start(void)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	if (!ctx || EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1)
		BUG("no SHA-256");
	return ctx;
}

static void add(EVP_MD_CTX *ctx, const void *bytes, size_t len)
{
	if (EVP_DigestUpdate(ctx, bytes, len) != 1)
		BUG("SHA-256 failed");
}

static void finish(EVP_MD_CTX *ctx, char out[DIGEST_SIZE])
{
	static const char HEX[] = "0123456789abcdef";
	unsigned char raw[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	if (EVP_DigestFinal_ex(ctx, raw, &len) != 1 || len != 32)
		BUG("SHA-256 failed");
	EVP_MD_CTX_free(ctx);
	for (unsigned i = 0; i < len; i++) {
		out[2 * i] = HEX[raw[i] >> 4];
		out[2 * i + 1] = HEX[raw[i] & 15];
	}
	out[DIGEST_SIZE - 1] = '\0';
}

bool digest_file(const char *path, char out[DIGEST_SIZE], uint64_t *size_bytes, struct err *e)
{
	int fd CLOSE_ON_EXIT = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "open %s", path);
	void *piece FREE_ON_EXIT = mem_alloc(PIECE);
	EVP_MD_CTX *ctx = start();
	uint64_t total = 0;
	ssize_t n;
	while ((n = fd_read_full(fd, piece, PIECE)) > 0) {
		add(ctx, piece, (size_t)n);
		total += (uint64_t)n;
	}
	int failed = errno;
	char hex[DIGEST_SIZE];
	finish(ctx, hex);
	if (n < 0)
		return err_sys(e, failed, "read %s", path);
	memcpy(out, hex, sizeof(hex));
	if (size_bytes)
		*size_bytes = total;
	return true;
}

struct digest *digest_create(void)
{
	return (struct digest *)start();
}

void digest_add(struct digest *d, const char *text)
{
	add((EVP_MD_CTX *)d, text, strlen(text) + 1); /* the NUL sets them apart */
}

void digest_finish(struct digest *d, char out[DIGEST_SIZE])
{
	finish((EVP_MD_CTX *)d, out);
}

bool digest_is_valid(const char *text)
{
	return strlen(text) == DIGEST_SIZE - 1 && strspn(text, "0123456789abcdef") == DIGEST_SIZE - 1;
}
