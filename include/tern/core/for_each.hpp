// TERN_FOR_EACH(macro, a, b, …) expands to macro(a) macro(b) …, for up to 256 arguments. The first eight arguments need
// no repeated scans by the preprocessor: g++ records every token of every scan, which is 2 MB for a class of eight
// members.
#pragma once

#define TERN_FOR_EACH(macro, ...) __VA_OPT__(TERN_FOR_EACH_1(macro, __VA_ARGS__))
#define TERN_FOR_EACH_1(macro, first, ...) macro(first) __VA_OPT__(TERN_FOR_EACH_2(macro, __VA_ARGS__))
#define TERN_FOR_EACH_2(macro, first, ...) macro(first) __VA_OPT__(TERN_FOR_EACH_3(macro, __VA_ARGS__))
#define TERN_FOR_EACH_3(macro, first, ...) macro(first) __VA_OPT__(TERN_FOR_EACH_4(macro, __VA_ARGS__))
#define TERN_FOR_EACH_4(macro, first, ...) macro(first) __VA_OPT__(TERN_FOR_EACH_5(macro, __VA_ARGS__))
#define TERN_FOR_EACH_5(macro, first, ...) macro(first) __VA_OPT__(TERN_FOR_EACH_6(macro, __VA_ARGS__))
#define TERN_FOR_EACH_6(macro, first, ...) macro(first) __VA_OPT__(TERN_FOR_EACH_7(macro, __VA_ARGS__))
#define TERN_FOR_EACH_7(macro, first, ...) macro(first) __VA_OPT__(TERN_FOR_EACH_8(macro, __VA_ARGS__))
#define TERN_FOR_EACH_8(macro, first, ...) macro(first) __VA_OPT__(TERN_EXPAND(TERN_FOR_EACH_STEP(macro, __VA_ARGS__)))

// The other arguments: __VA_OPT__ ends the recursion; repeated scans drive it.
#define TERN_PARENTHESES ()
#define TERN_EXPAND_1(...) __VA_ARGS__
#define TERN_EXPAND_4(...) TERN_EXPAND_1(TERN_EXPAND_1(TERN_EXPAND_1(TERN_EXPAND_1(__VA_ARGS__))))
#define TERN_EXPAND_16(...) TERN_EXPAND_4(TERN_EXPAND_4(TERN_EXPAND_4(TERN_EXPAND_4(__VA_ARGS__))))
#define TERN_EXPAND_64(...) TERN_EXPAND_16(TERN_EXPAND_16(TERN_EXPAND_16(TERN_EXPAND_16(__VA_ARGS__))))
#define TERN_EXPAND(...) TERN_EXPAND_64(TERN_EXPAND_64(TERN_EXPAND_64(TERN_EXPAND_64(__VA_ARGS__))))
#define TERN_FOR_EACH_STEP(macro, first, ...) \
  macro(first) __VA_OPT__(TERN_FOR_EACH_AGAIN TERN_PARENTHESES(macro, __VA_ARGS__))
#define TERN_FOR_EACH_AGAIN() TERN_FOR_EACH_STEP
