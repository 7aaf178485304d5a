/* The part of ccvm.ini that is the dashboard's, checked and ready for use. */
#ifndef CCVM_TUI_SETTINGS_H
#define CCVM_TUI_SETTINGS_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/config/config.h"
#include "tui/keymap.h"
#include "tui/vm_order.h"

struct settings {
	struct keymap keymap;
	enum vm_sort sort;
	struct config config; /* owned */
};

void settings_init(struct settings *s); /* built in */
void settings_finish(struct settings *s);
/* Reads the file; one that is missing is fine. ERR_INVALID with "FILE:LINE: what": `s` is as before. */
bool settings_load(struct settings *s, const char *path, struct err *e) MUST_USE;

#endif
