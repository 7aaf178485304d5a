/* The one key that a program on the whole screen does not get, and what follows it. Pure. */
#ifndef CCVM_CLI_PREFIX_H
#define CCVM_CLI_PREFIX_H

#include <stdbool.h>
#include <stdint.h>

struct prefix {
	char control; /* the control byte: 0x1d is C-] */
	bool pressed; /* the next key is for us */
};

enum prefix_action {
	PREFIX_PASS,    /* the key is the program's */
	PREFIX_SWALLOW, /* it was the prefix */
	PREFIX_LITERAL, /* prefix twice: the program gets it once */
	PREFIX_DETACH,  /* d */
	PREFIX_SUSPEND, /* z or C-z */
	PREFIX_HELP     /* ? and everything else */
};

/* key and mods as of core/term/keys.h. */
enum prefix_action prefix_key(struct prefix *p, uint32_t key, unsigned mods);
/* "C-]": 4 bytes. */
void prefix_name(const struct prefix *p, char out[4]);

#endif
