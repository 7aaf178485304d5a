/* The user's settings: ccvm.ini, read by the command that needs them, and by the dashboard again when it changes.
 *
 * inih cuts lines at 200 characters and reports it only afterwards, so any parse error discards the whole file
 * (facts.md). Unknown sections and keys are errors with file and line: a typo never silently widens a policy. */
#ifndef CCVM_CONFIG_CONFIG_H
#define CCVM_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/vm/vm.h"

#define CONFIG_LIST_MAX 256

#define CONFIG_TEXT_SIZE 200

/* A text whose meaning is not known here: who knows it checks it, and can say where it stands. */
struct config_text {
	char text[CONFIG_TEXT_SIZE];
	int line; /* of the file; 0: not given, the text is the built-in one */
};

/* [ui]: how the dashboard looks and behaves. */
struct config_ui {
	struct config_text theme;        /* its name */
	struct config_text sort;         /* of the list */
	struct config_text clipboard;    /* "auto", or a way */
	struct config_text copy_command; /* for /bin/sh; "": none */
	struct config_text on_attention; /* the same */
	bool mouse;                      /* clicks, wheel and drags are ours */
	bool ascii;                      /* lines and glyphs of ASCII even where UTF-8 would do */
};

/* [keys], all but detach. Owned. */
struct config_key {
	char *action, *keys;
	int line;
};

struct config {
	struct vm_spec defaults; /* [vm] image memory cpus disk backend ready_timeout; name empty */
	char detach_key;         /* [keys] detach = C-] : the control byte */
	struct config_key keys[CONFIG_LIST_MAX];
	size_t key_count;
	struct config_ui ui;
	/* [egress] allow = RULE, deny = RULE; [resolve] NAME = ADDRESS:PORT. Lines of a policy file in file order
	 * ("allow api.example:443", "resolve git.example 10.0.0.7:443"), which every new VM starts with. Owned. */
	char *policy[CONFIG_LIST_MAX];
	size_t policy_count;
};

void config_init(struct config *c); /* built-in defaults */
void config_finish(struct config *c);
/* A missing file is fine (defaults). Anything wrong in it is ERR_INVALID with "FILE:LINE: what", and `c` is as before. */
bool config_load(struct config *c, const char *path, struct err *e) MUST_USE;

#endif
