// The options that all trainers share.
#pragma once
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include "../core/error.hpp"

namespace tern::train {

struct Options {
  std::string device = "auto";
  std::string model = "";
  std::string precision = "f32";
  Index epochs = 10;
  Index batch_size = 128;
  double lr = 0;            // 0: the model's own
  Index seed = 1;
  int threads = 0;          // 0: as many as there are
  std::string data = "";    // the folder with the data set's files
  std::string save = "";    // checkpoint to write
  std::string resume = "";  // checkpoint to go on from
  std::string json = "";    // report to write
  double price = 0;         // of the machine, dollars an hour
  Index show = 0;           // mistakes to draw at the end
  bool help = false;
};

namespace detail {

[[gnu::noinline, gnu::cold]] inline double parse_number(const char* name, const char* value) {
  char* end = nullptr;
  const double number = std::strtod(value, &end);
  if (end == value || *end || !std::isfinite(number)) fail("options", {name, " wants a number, not '", value, "'"});
  if (number < 0) fail("options", {name, " must not be negative: ", number});
  return number;
}

[[gnu::noinline, gnu::cold]] inline Index parse_index(const char* name, const char* value, Index least, Index most = INT64_MAX) {
  char* end = nullptr;
  errno = 0;
  const Index number = std::strtoll(value, &end, 10);
  if (end == value || *end || errno) fail("options", {name, " wants a whole number, not '", value, "'"});
  if (number < least) fail("options", {name, " must be at least ", least, ", not ", number});
  if (number > most) fail("options", {name, " must be at most ", most, ", not ", number});
  return number;
}

}  // namespace detail

/// The shared options as text.
inline constexpr const char* options_help =
    "  --device cpu|cuda|auto   where to train (auto)\n"
    "  --model NAME             which network\n"
    "  --precision TYPE         element type of the network's layers (f32)\n"
    "  --epochs N  --batch-size N  --lr RATE  --seed N  --threads N\n"
    "  --data DIR               the folder with the data set's files\n"
    "  --save FILE              write a checkpoint after each epoch\n"
    "  --resume FILE            go on from a checkpoint\n"
    "  --json FILE              write the results\n"
    "  --price DOLLARS          of the machine for an hour: adds the cost\n"
    "  --show N                 draw N mistakes at the end\n";

/// Error unless an option's value is one of those that a trainer offers.
[[gnu::noinline]] inline void check_choice(const char* name, const std::string& value,
                                           std::initializer_list<const char*> offered) {
  std::string list;
  for (const char* const choice : offered) {
    if (value == choice) return;
    list += (list.empty() ? "" : " or ") + std::string(choice);
  }
  fail("options", {name, " must be ", list, ", not '", value, "'"});
}

/// The command line over the given defaults. Error naming what is unknown, missing or out of range.
[[gnu::noinline]] inline Options parse_options(int argc, char** argv, Options options = {}) {
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    const auto is = [&](const char* option) { return std::strcmp(name, option) == 0; };
    if (is("--help") || is("-h")) {
      options.help = true;
      continue;
    }
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    const auto need = [&] {
      if (!value || std::strncmp(value, "--", 2) == 0) fail("options", {name, " wants a value"});
      ++i;
      return value;
    };
    if (is("--device")) options.device = need();
    else if (is("--model")) options.model = need();
    else if (is("--precision")) options.precision = need();
    else if (is("--epochs")) options.epochs = detail::parse_index(name, need(), 1);
    else if (is("--batch-size")) options.batch_size = detail::parse_index(name, need(), 1);
    else if (is("--lr")) options.lr = detail::parse_number(name, need());
    else if (is("--seed")) options.seed = detail::parse_index(name, need(), 0);
    else if (is("--threads")) options.threads = int(detail::parse_index(name, need(), 1, 1024));
    else if (is("--data")) options.data = need();
    else if (is("--save")) options.save = need();
    else if (is("--resume")) options.resume = need();
    else if (is("--json")) options.json = need();
    else if (is("--price")) options.price = detail::parse_number(name, need());
    else if (is("--show")) options.show = detail::parse_index(name, need(), 0);
    else fail("options", {"unknown option '", name, "'"});
  }
  return options;
}

}  // namespace tern::train
