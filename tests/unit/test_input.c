/* core/term/input: what an operator types, out of bytes in any pieces. */
#include "tests/lib/test.h"

#include "core/base/escape.h"
#include "core/base/str.h"
#include "core/term/input.h"

static const char *const MOUSE_WORDS[] = {
    [MOUSE_PRESS] = "press", [MOUSE_RELEASE] = "release", [MOUSE_MOVE] = "move"};

static void on_event(void *arg, const struct input_event *ev)
{
	struct str *out = arg;
	char text[128];
	str_append(out, out->len > 0 ? " " : "");
	switch (ev->kind) {
	case INPUT_KEY:
		key_name(ev->key, ev->mods, text);
		str_append(out, text);
		break;
	case INPUT_PASTE:
		escape_text(text, sizeof(text), (const char *)ev->text.p, ev->text.len);
		str_appendf(out, "%s%s%s", ev->first ? "<" : "", text, ev->last ? ">" : "");
		break;
	case INPUT_FOCUS: str_append(out, ev->focused ? "focus" : "blur"); break;
	case INPUT_REPLY:
		str_append(out, ev->reply == REPLY_KEYS     ? "keys"
		                : ev->reply == REPLY_DEVICE ? "device"
		                : ev->yes                   ? "sync"
		                                            : "nosync");
		break;
	case INPUT_MOUSE:
		str_appendf(out, "%s%u@%u,%u+%u", MOUSE_WORDS[ev->mouse.kind], ev->mouse.button,
		            ev->mouse.row, ev->mouse.col, ev->mouse.mods);
		break;
	}
}

static const struct {
	const char *in, *events;
} CASES[] = {
    {"ab", "a b"},
    {"\x01\x1d\x1f\r\t\x7f\n", "C-a C-] C-_ Enter Tab Backspace C-j"},
    {"\xc3\xa4\xe4\xb8\xad", "\u00e4 \u4e2d"},
    {"\x1bx\x1b\r\x1b\x7f\x1b\x01\x1b\xc3\xa4", "M-x M-Enter M-Backspace C-M-a M-\u00e4"},
    {"\x1b[A\x1bOB\x1b[C\x1bOD", "Up Down Right Left"},
    {"\x1b[1;5C\x1b[1;2A\x1b[1;9B", "C-Right S-Up M-Down"},
    {"\x1b\x1b[A", "M-Up"},
    {"\x1b[H\x1b[F\x1bOH\x1bOF\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "Home End Home End Home End Home End"},
    {"\x1b[2~\x1b[3~\x1b[5~\x1b[6~\x1b[3;5~", "Insert Delete PageUp PageDown C-Delete"},
    {"\x1bOP\x1b[15~\x1b[24~\x1b[1;2P\x1b[[A\x1b[[E", "F1 F5 F12 S-F1 F1 F5"},
    {"\x1b[Z\x1bOM\x1bOp\x1bOk", "S-Tab Enter 0 +"},
    {"\x1b[13;2u\x1b[97;5u\x1b[27;5;105~\x1b[27u", "S-Enter C-a C-i Escape"},
    {"\x1b[I\x1b[O", "focus blur"},
    {"a\x1b[200~x\x1b[Ay\x03\n\x1b[201~b", "a <x\\x1b[Ay\\x03\\n> b"},
    {"\x1b[200~\x1b[201~", "<>"},
    {"\x1b[200~\x1b[20\x1b[201~1~", "<\\x1b[20> 1 ~"},
    {"\x1b[200~\x1b\x1b[201~z", "<\\x1b> z"},
    {"\x1b[?2026;2$y\x1b[?2026;0$y\x1b[?2026;1$yx", "sync nosync sync x"},
    {"\x1b]11;rgb:1/2/3\x1b\\\x1b]10;rgb\a\x1bP>|term\x1b\\x", "x"},
    {"\x1b[?1;2c\x1b[>0;1;0c\x1b[5;7R\x1b[0n\x1b[8;24;80t\x1b[?997;1nx", "device x"},
    {"\x1b[?1u\x1b[?62;22cx", "keys device x"},
    /* the mouse: SGR, buttons, wheel, modifiers, motion with and without a button; nonsense */
    {"\x1b[<0;10;20M\x1b[<0;10;20mx", "press1@19,9+0 release1@19,9+0 x"},
    {"\x1b[<2;1;1M\x1b[<65;300;400M\x1b[<64;1;2m", "press3@0,0+0 press5@399,299+0"},
    {"\x1b[<32;3;4M\x1b[<35;3;4M\x1b[<28;3;4M", "move1@3,2+0 move0@3,2+0 press1@3,2+7"},
    {"\x1b[<0;0;1M\x1b[<999;1;1M\x1b[<0;99999;1M\x1b[<0;1Mx", "x"},
    /* ... and the old form, in bytes */
    {"\x1b[M !\"\x1b[M#!\"\x1b[M`\xff\x41x", "press1@1,0+0 release0@1,0+0 press4@32,222+0 x"},
    {"\x1b[M\x1b[A", "Up"},
    /* kitty's numbers: letters with Shift, the keypad, releases, modifier keys alone */
    {"\x1b[97;4u\x1b[97;6u\x1b[57414u\x1b[57400u\x1b[57376u", "M-A C-S-a Enter 1 F13"},
    {"\x1b[97;5:3u\x1b[1;1:3A\x1b[57441;2u\x1b[97:65;5ux", "C-a x"},
    /* Alt with what could begin a string */
    {"\x1b]x\x1bPx\x1b_x\x1b^\x1bXx", "M-] x M-P x M-_ x M-^ M-X x"},
    {"\x1b]\x1b[A\x1b\x1b]11;x\ay", "M-] Up y"},
    {"\xff\xfe\x80x", "x"},
    {"\xc3x", "x"},
    {"\xc3\x1b[A", "Up"},
    {"\x1b[1;5\x1b[A", "Up"},
    {"\x1b[99~\x1bOzx", "x"},
    {"\x1b\x1b\x1b[A", "Escape M-Up"},
    {"\x1b\x1b"
     "a",
     "Escape M-a"},
};

static void keys_come_out_of_any_pieces(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		size_t len = strlen(CASES[i].in);
		for (size_t cut = 0; cut <= len; cut++) {
			struct str out = STR_INIT(4096);
			struct input in;
			input_init(&in, on_event, &out);
			input_feed(&in, CASES[i].in, cut);
			input_feed(&in, CASES[i].in + cut, len - cut);
			if (strcmp(out.s, CASES[i].events) != 0)
				fail_msg("case %zu cut at %zu: %s", i, cut, out.s);
			assert_int_equal(input_wait_ms(&in), 0);
			input_finish(&in);
			str_finish(&out);
		}
	}
}

static const struct {
	const char *in, *events;
	unsigned wait_ms;
} TIMEOUTS[] = {
    {"\x1b", "Escape", INPUT_ESCAPE_MS}, {"\x1b\x1b", "Escape Escape", INPUT_ESCAPE_MS},
    {"\x1b[", "M-[", INPUT_ESCAPE_MS},   {"\x1bO", "M-O", INPUT_ESCAPE_MS},
    {"\x1b]", "M-]", INPUT_ESCAPE_MS},   {"\x1bP", "M-P", INPUT_ESCAPE_MS},
    {"\x1b[1;5", "", INPUT_TORN_MS},     {"\x1b]11;rgb", "", INPUT_TORN_MS},
    {"\x1b[<0;3", "", INPUT_TORN_MS},    {"\x1b[M ", "", INPUT_TORN_MS},
    {"\xc3", "", INPUT_TORN_MS},         {"\x1b[200~abc\x1b[20", "<abc\\x1b[20>", INPUT_PASTE_MS},
};

static void what_stays_unfinished_ends_in_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(TIMEOUTS); i++) {
		struct str out = STR_INIT(4096);
		struct input in;
		input_init(&in, on_event, &out);
		input_feed(&in, TIMEOUTS[i].in, strlen(TIMEOUTS[i].in));
		assert_int_equal(input_wait_ms(&in), TIMEOUTS[i].wait_ms);
		input_timeout(&in);
		assert_int_equal(input_wait_ms(&in), 0);
		if (strcmp(out.s, TIMEOUTS[i].events) != 0)
			fail_msg("timeout %zu: %s", i, out.s);
		str_clear(&out);
		input_feed(&in, "x", 1);
		assert_string_equal(out.s, "x");
		input_finish(&in);
		str_finish(&out);
	}
}

struct paste {
	size_t total, events, firsts, lasts;
};

static void on_paste(void *arg, const struct input_event *ev)
{
	struct paste *p = arg;
	assert_int_equal(ev->kind, INPUT_PASTE);
	assert_true(ev->text.len <= INPUT_PASTE_MAX);
	for (size_t i = 0; i < ev->text.len; i++)
		assert_int_equal(ev->text.p[i], 'a' + (p->total + i) % 26);
	p->total += ev->text.len;
	p->events++;
	p->firsts += ev->first;
	p->lasts += ev->last;
}

static void a_long_paste_comes_in_parts(void **state)
{
	(void)state;
	struct paste p = {0};
	struct input in;
	input_init(&in, on_paste, &p);
	input_feed(&in, "\x1b[200~", 6);
	for (size_t i = 0; i < 200000; i++) {
		char c = (char)('a' + i % 26);
		input_feed(&in, &c, 1);
	}
	input_feed(&in, "\x1b[201~", 6);
	assert_int_equal(p.total, 200000);
	assert_int_equal(p.events, 4);
	assert_int_equal(p.firsts, 1);
	assert_int_equal(p.lasts, 1);
	input_finish(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keys_come_out_of_any_pieces),
	    cmocka_unit_test(what_stays_unfinished_ends_in_time),
	    cmocka_unit_test(a_long_paste_comes_in_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
