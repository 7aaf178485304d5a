/* Terminals in a session_rig: asking for them and seeing what they show. */
#ifndef CCVM_TESTS_LIB_TERM_RIG_H
#define CCVM_TESTS_LIB_TERM_RIG_H

#include "core/term/screen.h"
#include "tests/lib/session_rig.h"

void rig_open_term(struct peer *p, uint32_t id, uint32_t term, uint16_t rows, uint16_t cols);
uint32_t rig_take_opened(struct peer *p, uint32_t id);
/* The next message that is no screen. */
const struct got *rig_take_after_screens(struct peer *p, uint16_t type);
/* Applies screens until the first row reads `want`; the test fails when something else comes. */
void rig_wait_row(struct peer *p, struct screen *screen, const char *want);
void rig_type(struct peer *p, uint32_t term, const char *text);
void rig_resize(struct peer *p, uint32_t term, uint16_t rows, uint16_t cols);

#endif
