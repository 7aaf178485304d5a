/* A canvas as the text of a golden file: what it says, and below it which style each cell has. */
#ifndef CCVM_TESTS_LIB_PICTURE_H
#define CCVM_TESTS_LIB_PICTURE_H

#include "core/base/check.h"
#include "tui/canvas.h"

/* The caller frees it. */
char *picture_of(const char *title, const struct canvas *c) MUST_USE;

#endif
