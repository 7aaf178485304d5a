/* What stands in the columns of the list of VMs, and where. Pure. */
#ifndef CCVM_TUI_LIST_COLUMNS_H
#define CCVM_TUI_LIST_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/model.h"

enum list_column {
	LIST_NAME,
	LIST_STATE,
	LIST_FOR, /* how long it is in that state */
	LIST_CPU,
	LIST_MEM,
	LIST_DENIED, /* since the operator last looked */
	LIST_UP,
	LIST_TUNNELS,
	LIST_BACKEND,
	LIST_IMAGE,
	LIST_COLUMN_COUNT,
	LIST_NO_COLUMN = LIST_COLUMN_COUNT
};

#define LIST_TEXT_SIZE 64
#define LIST_MARK_COLS 3 /* before the name: " ▸ ", of a marked one "*▸ " */

/* "" where there is nothing to say. */
void list_column_text(char out[LIST_TEXT_SIZE], enum list_column column, const struct fleet_vm *vm,
                      int64_t now_ms);
/* "STATE", and of the sorted one "STATE▼". */
void list_column_heading(char out[LIST_TEXT_SIZE], enum list_column column, enum list_column sorted);
bool list_column_is_right(enum list_column column); /* its texts stand at the right edge */

struct list_plan {
	int at[LIST_COLUMN_COUNT], cols[LIST_COLUMN_COUNT]; /* cols 0: not shown */
	int gap, total;
};
/* Name and state are always there, the other ones as far as `room` columns go. */
struct list_plan list_plan_make(const struct model *m, enum list_column sorted, int room);

#endif
