/* Themes as files: NAME.ini, one style a line.
 *
 *     state.waiting = bright-yellow on #202020 bold
 *
 * A value is a foreground, `on` and a background, and attributes (bold dim italic underline reverse strike), each of them optional
 * and in this order. Colours: default, 0 to 255, black red green yellow blue magenta cyan white, each with bright- before
 * it, #rrggbb. Lines that begin with # are comments. A style that the file does not name looks as in theme_default; a
 * colour that a look does not name is that of "plain". */
#ifndef CCVM_TUI_THEME_FILE_H
#define CCVM_TUI_THEME_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "tui/theme.h"

#define THEME_FILE_MAX (64 * 1024)

/* The text of a file. What is wrong is ERR_INVALID with "PATH:LINE: what", and `out` is as before. */
bool theme_parse(struct theme *out, const char *text, size_t len, const char *path, struct err *e) MUST_USE;

/* The theme `name`, from the first of paths_theme_folders that has NAME.ini: the user's own, else the one that belongs to the program.
 * "default" needs no file. ERR_NOT_FOUND when there is none; `out` is as before after an error. */
bool theme_load(struct theme *out, const char *name, struct err *e) MUST_USE;

#endif
