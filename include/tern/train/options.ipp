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

namespace detail {

/// The option of that name; null if there is none.
[[gnu::noinline, gnu::cold]] TERN_INLINE const Option* find_option(std::initializer_list<Option> options, const char* name) {
  for (const Option& option : options)
    if (std::strcmp(name, option.name) == 0) return &option;
  return nullptr;
}

}  // namespace detail

[[gnu::noinline, gnu::cold]] TERN_INLINE Options parse_options(int argc, char** argv, Options options) {
  parse_options(argc, argv, options, {});
  return options;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void parse_options(int argc, char** argv, Options& options, std::initializer_list<Option> own) {
  const std::initializer_list<Option> shared = {
      {.name = "--device", .text = &options.device},
      {.name = "--model", .text = &options.model},
      {.name = "--precision", .text = &options.precision},
      {.name = "--epochs", .index = &options.epochs, .least = 1},
      {.name = "--batch-size", .index = &options.batch_size, .least = 1},
      {.name = "--accumulate", .index = &options.accumulate, .least = 1},
      {.name = "--target", .number = &options.target},
      {.name = "--lr", .number = &options.lr},
      {.name = "--seed", .index = &options.seed},
      {.name = "--threads", .index = &options.threads, .least = 1, .most = 1024},
      {.name = "--workers", .index = &options.workers, .most = 1024},
      {.name = "--data", .text = &options.data},
      {.name = "--save", .text = &options.save},
      {.name = "--resume", .text = &options.resume},
      {.name = "--json", .text = &options.json},
      {.name = "--svg", .text = &options.svg},
      {.name = "--trace", .text = &options.trace},
      {.name = "--price", .number = &options.price},
      {.name = "--show", .index = &options.show},
      {.name = "--skip-bad", .flag = &options.skip_bad},
      {.name = "--help", .flag = &options.help},
      {.name = "-h", .flag = &options.help},
  };
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    const Option* option = detail::find_option(shared, name);
    if (!option) option = detail::find_option(own, name);
    if (!option) fail("options", {"unknown option '", name, "'"});
    if (option->flag) {
      *option->flag = true;
      continue;
    }
    const char* const value = ++i < argc ? argv[i] : "--";
    if (std::strncmp(value, "--", 2) == 0) fail("options", {name, " needs a value"});
    if (option->text) *option->text = value;
    else if (option->number) *option->number = parse_number(name, value);
    else *option->index = parse_index(name, value, option->least, option->most);
  }
}

}  // namespace tern::train
