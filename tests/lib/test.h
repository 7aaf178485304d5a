/* What every unit test includes first: cmocka and what it needs before it. */
#ifndef CCVM_TESTS_LIB_TEST_H
#define CCVM_TESTS_LIB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#endif
