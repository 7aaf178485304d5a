/* The serial console of a VM, as it was kept on disk: what there is to see of one that does not boot. */
#ifndef CCVM_TUI_CONSOLE_H
#define CCVM_TUI_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/parse.h" /* VM_NAME_MAX */
#include "core/base/str.h"

#define CONSOLE_TAIL_BYTES 16384

/* The end of the console log of one VM, read again only when the file has grown. */
struct console {
	char vm[VM_NAME_MAX + 1];
	int64_t size; /* of the file when it was read */
	struct str text;
};

void console_init(struct console *c);
void console_finish(struct console *c);
/* Reads what is new. True when the text is another one than before. A file that is not there gives "". */
bool console_update(struct console *c, const char *vm);

/* Pure: lines of printable characters out of what a guest wrote to a serial line. Escape sequences and controls go,
 * tabs become blanks, empty lines at the end go; a carriage return begins the line again. */
void console_clean(const char *bytes, size_t len, struct str *out);

#endif
