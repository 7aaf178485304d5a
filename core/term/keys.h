/* Names for keys and what a program in a terminal gets for them (xterm's sequences, or kitty's when it asked for those that
 * are not ambiguous). Pure. The numbers are on the
 * wire (TERM_KEY): never change one. */
#ifndef CCVM_TERM_KEYS_H
#define CCVM_TERM_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Above Unicode; a smaller number is a code point. Enter, Tab, Backspace and Escape are keys, not controls: a
 * control character as code point is taken for Ctrl with its letter. */
enum term_key {
	TERM_KEY_FIRST = 0x110001,
	TERM_KEY_UP = TERM_KEY_FIRST,
	TERM_KEY_DOWN,
	TERM_KEY_RIGHT,
	TERM_KEY_LEFT,
	TERM_KEY_HOME,
	TERM_KEY_END,
	TERM_KEY_PAGE_UP,
	TERM_KEY_PAGE_DOWN,
	TERM_KEY_INSERT,
	TERM_KEY_DELETE,
	TERM_KEY_ENTER,
	TERM_KEY_TAB,
	TERM_KEY_BACKSPACE,
	TERM_KEY_ESCAPE,
	TERM_KEY_F1 = 0x110100, /* F1 + n - 1, up to F20 */
	TERM_KEY_F20 = TERM_KEY_F1 + 19
};

enum term_mod { TERM_SHIFT = 1, TERM_ALT = 2, TERM_CTRL = 4, TERM_MOD_ALL = 7 };

/* The mouse, in cells of the terminal, 0 is the first. The numbers are on the wire (TERM_MOUSE). */
enum term_mouse_kind { MOUSE_PRESS, MOUSE_RELEASE, MOUSE_MOVE /* a button may be down */, MOUSE_KIND_COUNT };
enum term_mouse_button {
	MOUSE_NONE,
	MOUSE_LEFT,
	MOUSE_MIDDLE,
	MOUSE_RIGHT,
	MOUSE_WHEEL_UP, /* a wheel is only pressed */
	MOUSE_WHEEL_DOWN,
	MOUSE_WHEEL_LEFT,
	MOUSE_WHEEL_RIGHT,
	MOUSE_BUTTON_COUNT
};
struct term_mouse {
	uint8_t kind, button, mods; /* enum term_mouse_kind, enum term_mouse_button, enum term_mod */
	uint16_t row, col;
};

#define KEY_BYTES_MAX 16

/* The bytes for a key under `modes` (enum term_mode); returns how many, 0 for what is no key. */
size_t key_encode(uint32_t key, unsigned mods, unsigned modes, uint8_t out[KEY_BYTES_MAX]);
bool key_is_valid(uint32_t key);
/* The bytes of a mouse event under `modes`: SGR (1006) or, without it, the old form, which reaches 223 cells; returns how
 * many, 0 when the program did not ask for such an event. */
#define MOUSE_BYTES_MAX 32
size_t mouse_encode(const struct term_mouse *m, unsigned modes, uint8_t out[MOUSE_BYTES_MAX]);

/* "C-]", "C-a", "M-x", "F5", "Up", "Enter", "C-S-Left", "x": for the config and for help texts. The name needs
 * KEY_NAME_SIZE bytes. */
#define KEY_NAME_SIZE 24
bool key_parse(const char *name, uint32_t *key, unsigned *mods);
void key_name(uint32_t key, unsigned mods, char out[KEY_NAME_SIZE]);

#endif
