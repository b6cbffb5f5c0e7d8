// Options that are one of a few: an enumerator, or PyTorch's text for it.
#pragma once
#include <cstddef>
#include <string_view>

#include "config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A text as a template's argument.
template <std::size_t n>
struct Literal {
  char text[n];
  consteval Literal(const char (&from)[n]) : text() {
    for (std::size_t i = 0; i < n; ++i) text[i] = from[i];
  }
};

/// Not constexpr, so that calling it does not compile; the compiler's message shows its name.
void text_is_none_of_the_choices();

/// An enumerator, which may also be written as its text, a literal. The texts are in the enumerators' order; the last
/// enumerators may have none.
template <class E, Literal... texts>
struct Choice {
  E value;
  constexpr Choice(E chosen) : value(chosen) {}
  consteval Choice(const char* text) : value() {
    int i = 0;
    const bool is_known = ((std::string_view(texts.text) == text || (++i, false)) || ...);
    if (!is_known) text_is_none_of_the_choices();
    value = E(i);
  }
  constexpr operator E() const { return value; }
};

}}}  // namespace tern::detail
