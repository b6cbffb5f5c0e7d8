// The functions of options.hpp that are not templates.
#pragma once
#include "options.hpp"

namespace tern::inline TERN_BUILD::train {

[[gnu::noinline, gnu::cold]] TERN_INLINE double parse_number(const char* name, const char* value) {
  char* end = nullptr;
  const double number = std::strtod(value, &end);
  if (end == value || *end || !std::isfinite(number)) fail("options", {name, " needs a number, not '", value, "'"});
  if (number < 0) fail("options", {name, " must not be negative: ", number});
  return number;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Index parse_index(const char* name, const char* value, Index least, Index most) {
  char* end = nullptr;
  errno = 0;
  const Index number = std::strtoll(value, &end, 10);
  if (end == value || *end || errno) fail("options", {name, " needs an integer, not '", value, "'"});
  if (number < least) fail("options", {name, " must be at least ", least, ", not ", number});
  if (number > most) fail("options", {name, " must be at most ", most, ", not ", number});
  return number;
}

[[gnu::noinline]] TERN_INLINE void check_choice(const char* name, const std::string& value, std::initializer_list<const char*> offered) {
  std::string list;
  for (const char* const choice : offered) {
    if (value == choice) return;
    list += (list.empty() ? "" : " or ") + std::string(choice);
  }
  fail("options", {name, " must be ", list, ", not '", value, "'"});
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Options parse_options(int argc, char** argv, Options options) {
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    if (std::strcmp(name, "--help") == 0 || std::strcmp(name, "-h") == 0) {
      options.help = true;
      continue;
    }
    const detail::Option* option = nullptr;
    for (const detail::Option& each : detail::all_options)
      if (std::strcmp(name, each.name) == 0) option = &each;
    if (!option) fail("options", {"unknown option '", name, "'"});
    if (option->flag) {
      options.*option->flag = true;
      continue;
    }
    const char* const value = ++i < argc ? argv[i] : "--";
    if (std::strncmp(value, "--", 2) == 0) fail("options", {name, " needs a value"});
    if (option->text) options.*option->text = value;
    else if (option->number) options.*option->number = parse_number(name, value);
    else options.*option->index = parse_index(name, value, option->least, option->most);
  }
  return options;
}

}  // namespace tern::train
