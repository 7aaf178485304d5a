/* Layout at the end of the file: the signature, twelve bytes that describe it (the last four are its length,
 * big-endian), the magic text. See struct module_signature in the kernel. */
#include "core/image/module.h"

#include <stdint.h>
#include <string.h>

#include "core/base/buf.h"

#define MAGIC     "~Module signature appended~\n"
#define INFO_SIZE 12

size_t module_unsigned_size(const void *bytes, size_t len)
{
	const size_t tail = INFO_SIZE + sizeof(MAGIC) - 1;
	const uint8_t *p = bytes;
	if (len < tail || memcmp(p + len - (sizeof(MAGIC) - 1), MAGIC, sizeof(MAGIC) - 1) != 0)
		return len;
	struct reader r;
	reader_init(&r, p + len - tail + INFO_SIZE - 4, 4);
	uint32_t signature = reader_u32(&r);
	return signature <= len - tail ? len - tail - signature : len;
}
