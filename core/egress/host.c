#include "core/egress/host.h"

#include <string.h>

#include "core/base/check.h"

#define LABEL_MAX 63

static const char *const FAULT_TEXTS[] = {
    [HOST_OK] = "is fine",
    [HOST_EMPTY] = "is empty",
    [HOST_TOO_LONG] = "is longer than 253 characters",
    [HOST_BAD_BYTE] = "holds a byte that host names do not have",
    [HOST_BAD_LABEL] = "has an empty part or one of more than 63 characters",
    [HOST_IS_ADDRESS] = "is an IP address, not a name",
    [HOST_SINGLE_LABEL] = "has no dot; only full names are used",
    [HOST_IS_LOCAL] = "names this machine",
};
static_assert(ARRAY_LEN(FAULT_TEXTS) == HOST_FAULT_COUNT, "a text for each fault");

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* "Ends in a number" as the URL standard has it: getaddrinfo reads 127.1, 0 and 0x7f.1 as addresses although
 * inet_pton does not, so the shape of the last label decides, not a parser. `label` is in lower case. */
static bool is_number(const char *label)
{
	bool hex = label[0] == '0' && label[1] == 'x';
	if (hex)
		label += 2;
	while (hex ? is_hex(*label) : is_digit(*label))
		label++;
	return *label == '\0';
}

static enum host_fault copy_lower(const char *bytes, size_t len, char *out)
{
	for (size_t i = 0; i < len; i++) {
		char c = bytes[i];
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (!((c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_' || c == '.'))
			return HOST_BAD_BYTE;
		out[i] = c;
	}
	out[len] = '\0';
	return HOST_OK;
}

static bool labels_fit(const char *name)
{
	size_t label = 0;
	for (const char *p = name;; p++) {
		if (*p != '.' && *p != '\0') {
			label++;
			continue;
		}
		if (label == 0 || label > LABEL_MAX)
			return false;
		if (*p == '\0')
			return true;
		label = 0;
	}
}

enum host_fault host_normalise(const char *bytes, size_t len, char out[HOST_SIZE])
{
	char name[HOST_SIZE];
	if (len > 0 && bytes[len - 1] == '.')
		len--;
	if (len == 0)
		return HOST_EMPTY;
	if (len > HOST_MAX)
		return HOST_TOO_LONG;
	enum host_fault fault = copy_lower(bytes, len, name);
	if (fault != HOST_OK)
		return fault;
	if (!labels_fit(name))
		return HOST_BAD_LABEL;
	const char *dot = strrchr(name, '.');
	const char *last = dot ? dot + 1 : name;
	if (is_number(last))
		return HOST_IS_ADDRESS;
	if (strcmp(last, "localhost") == 0)
		return HOST_IS_LOCAL;
	if (!dot)
		return HOST_SINGLE_LABEL;
	memcpy(out, name, len + 1);
	return HOST_OK;
}

const char *host_fault_text(enum host_fault fault)
{
	return (unsigned)fault < HOST_FAULT_COUNT ? FAULT_TEXTS[fault] : "is not usable";
}

bool host_is_below(const char *host, const char *domain)
{
	size_t h = strlen(host), d = strlen(domain);
	return h > d + 1 && host[h - d - 1] == '.' && memcmp(host + h - d, domain, d) == 0;
}

size_t host_labels(const char *host)
{
	size_t count = 1;
	for (; *host; host++)
		count += *host == '.';
	return count;
}
