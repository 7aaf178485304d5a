/* Pictures that a test compares with a file. With UPDATE=1 in the environment the file is written instead. */
#ifndef CCVM_TESTS_LIB_GOLDEN_H
#define CCVM_TESTS_LIB_GOLDEN_H

#include <stdbool.h>

/* `path` from the project's root, where tests run. False when they differ; both are printed then, line by line, with
 * the lines that differ marked. */
bool golden_check(const char *path, const char *text);

#endif
