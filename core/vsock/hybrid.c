#include "core/vsock/hybrid.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "core/base/parse.h"

#define WORD        "CONNECT "
#define LONGEST_END "_4294967295"

bool hybrid_parse_connect(const char *line, size_t len, uint32_t *port)
{
	char digits[HYBRID_LINE_MAX];
	size_t word = strlen(WORD);
	if (len > HYBRID_LINE_MAX || len < word + 2 || strncasecmp(line, WORD, word) != 0 ||
	    line[len - 1] != '\n')
		return false;
	size_t count = len - word - 1;
	memcpy(digits, line + word, count);
	digits[count] = '\0';
	uint64_t value;
	/* 0xffffffff means "any port" in this address family and is no port; a NUL inside cuts the text short. */
	if (strlen(digits) != count || !parse_u64(digits, 0, UINT32_MAX - 1, &value))
		return false;
	*port = (uint32_t)value;
	return true;
}

size_t hybrid_format_ok(char out[HYBRID_OK_SIZE], uint32_t host_port)
{
	return (size_t)snprintf(out, HYBRID_OK_SIZE, "OK %u\n", host_port);
}

bool hybrid_check_path(const char *path, struct err *e)
{
	struct sockaddr_un addr;
	size_t most = sizeof(addr.sun_path) - sizeof(LONGEST_END);
	if (strlen(path) <= most)
		return true;
	return err_set(e, ERR_LIMIT, "socket path %s is longer than %zu bytes", path, most);
}
