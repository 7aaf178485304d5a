#include "guest/env.h"

#include <string.h>

#include "core/base/check.h"
#include "core/base/mem.h"

#define PROXY_HOST "127.0.0.1"
#define PROXY_PORT "3128" /* WIRE_RELAY_PORT as text; env.c checks nothing, the unit test does */
#define PROXY      "http://" PROXY_HOST ":" PROXY_PORT
#define NO_PROXY   "localhost,127.0.0.1,::1"

static const char *const BASE[] = {
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root",
    "USER=root",
    "LOGNAME=root",
    "LANG=C.UTF-8",
    "TERM=xterm-256color",
    "COLORTERM=truecolor",
    "TERM_PROGRAM=ccvm",
    "TERM_PROGRAM_VERSION=" CCVM_VERSION,
    /* curl and wget read only the lower case of http_proxy; others only upper case. The scheme is that of the proxy. */
    "http_proxy=" PROXY,
    "HTTP_PROXY=" PROXY,
    "https_proxy=" PROXY,
    "HTTPS_PROXY=" PROXY,
    "all_proxy=" PROXY,
    "ALL_PROXY=" PROXY,
    "grpc_proxy=" PROXY,
    /* Loopback only: tools do not agree on more than that. */
    "no_proxy=" NO_PROXY,
    "NO_PROXY=" NO_PROXY,
    /* Tools that want to be told in their own way. */
    "NODE_USE_ENV_PROXY=1",
    "CLAUDE_CODE_PROXY_RESOLVES_HOSTS=true",
    "npm_config_proxy=" PROXY,
    "npm_config_https_proxy=" PROXY,
    "JAVA_TOOL_OPTIONS=-Dhttp.proxyHost=" PROXY_HOST " -Dhttp.proxyPort=" PROXY_PORT
    " -Dhttps.proxyHost=" PROXY_HOST " -Dhttps.proxyPort=" PROXY_PORT " -Dhttp.nonProxyHosts=localhost|127.*",
    "GIT_SSH_COMMAND=ssh -o ProxyCommand='socat - PROXY:" PROXY_HOST ":%h:%p,proxyport=" PROXY_PORT
    "' -o ControlMaster=no -o ControlPath=none",
    "RSYNC_PROXY=" PROXY_HOST ":" PROXY_PORT,
    "CLOUDSDK_PROXY_TYPE=http",
    "CLOUDSDK_PROXY_ADDRESS=" PROXY_HOST,
    "CLOUDSDK_PROXY_PORT=" PROXY_PORT,
};

static char **find(char **env, size_t count, const char *entry)
{
	size_t name = strcspn(entry, "=");
	for (size_t i = 0; i < count; i++) {
		if (strncmp(env[i], entry, name) == 0 && env[i][name] == '=')
			return &env[i];
	}
	return NULL;
}

char **env_build(char *const *extra)
{
	size_t more = 0;
	while (extra && extra[more])
		more++;
	char **env = mem_array(ARRAY_LEN(BASE) + more + 1, sizeof(*env));
	size_t count = 0;
	for (; count < ARRAY_LEN(BASE); count++)
		env[count] = (char *)(uintptr_t)BASE[count];
	for (size_t i = 0; i < more; i++) {
		char **old = find(env, count, extra[i]);
		*(old ? old : &env[count++]) = extra[i];
	}
	return env;
}

const char *env_get(char *const *env, const char *name)
{
	size_t len = strlen(name);
	for (; env && *env; env++) {
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return *env + len + 1;
	}
	return NULL;
}
