#include "core/image/apt.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

enum { ORIGIN, URI, RELEASE, COMPONENT, ARCHITECTURE, FIELDS };

/* Cuts a line in place; false unless it has exactly the fields, none of them empty or with a blank or a
 * bracket. */
static bool split(char *line, char *fields[FIELDS])
{
	size_t n = 0;
	for (char *rest = line, *field; (field = strsep(&rest, APT_SEPARATOR));) {
		if (n == FIELDS || !*field || strpbrk(field, " \t[]"))
			return false;
		fields[n++] = field;
	}
	return n == FIELDS;
}

bool apt_sources(const char *targets, const char *origin, const char *architecture, const char *keyring,
                 struct str *out, struct err *e)
{
	char *copy FREE_ON_EXIT = mem_strdup(targets);
	char *rest = copy;
	for (char *line; (line = strsep(&rest, "\n"));) {
		char *f[FIELDS];
		if (!split(line, f) || strcmp(f[ORIGIN], origin) != 0 ||
		    strcmp(f[ARCHITECTURE], architecture) != 0)
			continue;
		char *entry FREE_ON_EXIT =
		    mem_printf("deb [arch=%s%s%s] %s %s %s\n", architecture, keyring ? " signed-by=" : "",
		               keyring ? keyring : "", f[URI], f[RELEASE], f[COMPONENT]);
		if (!strstr(out->s, entry))
			str_append(out, entry);
	}
	if (!out->len)
		return err_set(
		    e, ERR_NOT_FOUND,
		    "apt knows no sources of %s here: check /etc/apt/sources.list and run apt-get update",
		    origin);
	if (out->overflow)
		return err_set(e, ERR_LIMIT, "apt has too many sources");
	return true;
}

/* A name at the start of a dependency: "linux-image-6.1.0-57-cloud-amd64 (= 6.1.192-3)". */
static char *match(const char *dependency, const char *prefix)
{
	dependency += strspn(dependency, " \t");
	size_t len = strcspn(dependency, " \t(:,|\n");
	if (strncmp(dependency, prefix, strlen(prefix)) != 0 || len <= strlen(prefix))
		return NULL;
	return mem_printf("%.*s", (int)len, dependency);
}

char *apt_kernel_package(const char *show, const char *package, const char *prefix)
{
	static const char FIELD[] = "Depends:";
	const char *p = strncmp(show, FIELD, strlen(FIELD)) == 0 ? show : strstr(show, "\nDepends:");
	if (!p)
		return mem_strdup(package);
	p = strchr(p, ':') + 1;
	const char *end = p + strcspn(p, "\n");
	while (p < end) {
		char *name = match(p, prefix);
		if (name)
			return name;
		p += strcspn(p, ",\n");
		p += *p == ',';
	}
	return mem_strdup(package);
}
