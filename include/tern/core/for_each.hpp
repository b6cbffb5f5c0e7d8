// TERN_FOR_EACH(macro, a, b, …) expands to macro(a) macro(b) …, for up to 256 arguments. __VA_OPT__ ends the recursion;
// repeated scans by the preprocessor drive it.
#pragma once

#define TERN_PARENTHESES ()
#define TERN_EXPAND_1(...) __VA_ARGS__
#define TERN_EXPAND_4(...) TERN_EXPAND_1(TERN_EXPAND_1(TERN_EXPAND_1(TERN_EXPAND_1(__VA_ARGS__))))
#define TERN_EXPAND_16(...) TERN_EXPAND_4(TERN_EXPAND_4(TERN_EXPAND_4(TERN_EXPAND_4(__VA_ARGS__))))
#define TERN_EXPAND_64(...) TERN_EXPAND_16(TERN_EXPAND_16(TERN_EXPAND_16(TERN_EXPAND_16(__VA_ARGS__))))
#define TERN_EXPAND(...) TERN_EXPAND_64(TERN_EXPAND_64(TERN_EXPAND_64(TERN_EXPAND_64(__VA_ARGS__))))
#define TERN_FOR_EACH(macro, ...) __VA_OPT__(TERN_EXPAND(TERN_FOR_EACH_STEP(macro, __VA_ARGS__)))
#define TERN_FOR_EACH_STEP(macro, first, ...) \
  macro(first) __VA_OPT__(TERN_FOR_EACH_AGAIN TERN_PARENTHESES(macro, __VA_ARGS__))
#define TERN_FOR_EACH_AGAIN() TERN_FOR_EACH_STEP
