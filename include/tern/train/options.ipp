// The functions of options.hpp that are not templates.
#pragma once
#include <algorithm>
#include <vector>

#include "options.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

TERN_COLD double parse_number(const char* name, const char* value) {
  char* end = nullptr;
  const double number = std::strtod(value, &end);
  if (end == value || *end || !std::isfinite(number)) fail("options", {name, " needs a number, not '", value, "'"});
  if (number < 0) fail("options", {name, " must not be negative: ", number});
  return number;
}

TERN_COLD Index parse_index(const char* name, const char* value, Index least, Index most) {
  char* end = nullptr;
  errno = 0;
  const Index number = std::strtoll(value, &end, 10);
  if (end == value || *end || errno) fail("options", {name, " needs an integer, not '", value, "'"});
  if (number < least) fail("options", {name, " must be at least ", least, ", not ", number});
  if (number > most) fail("options", {name, " must be at most ", most, ", not ", number});
  return number;
}

TERN_NOINLINE void check_choice(const char* name, const std::string& value,
                                std::initializer_list<const char*> offered) {
  std::string list;
  for (const char* const choice : offered) {
    if (value == choice) return;
    list += (list.empty() ? "" : " or ") + std::string(choice);
  }
  fail("options", {name, " must be ", list, ", not '", value, "'"});
}

namespace detail {

/// The option of that name; null if there is none.
TERN_COLD const Option* find_option(std::initializer_list<Option> options, const char* name) {
  for (const Option& option : options)
    if (std::strcmp(name, option.name) == 0) return &option;
  return nullptr;
}

/// The least number of letters to insert, delete, replace or exchange with the next that makes one text of the other
/// (Damerau, 1964).
TERN_COLD std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1,
                                          std::vector<std::size_t>(b.size() + 1));  // of the first i and j letters
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

[[noreturn, gnu::noinline, gnu::cold]] TERN_INLINE void refuse_option(
    const std::string& name, std::initializer_list<std::initializer_list<Option>> lists) {
  const std::string given = name.substr(0, name.find('='));
  const std::size_t letters = given.size() - std::min(given.find_first_not_of('-'), given.size());
  std::size_t least = 1 + letters / 3;  // one in three may differ
  const char* nearest = nullptr;
  for (const auto& options : lists)
    for (const Option& option : options) {
      const bool begins_it = letters > 1 && std::string(option.name).starts_with(given);
      const std::size_t distance = begins_it ? 0 : edit_distance(given, option.name);
      if (distance < least) least = distance, nearest = option.name;
    }
  if (!nearest) fail("options", {"unknown option '", name, "'; --help lists those that there are"});
  fail("options", {"unknown option '", name, "'; the nearest is ", nearest,
                   given == name ? "" : ", whose value is the next word", ", and --help lists all"});
}

/// What the option wants as its value.
TERN_COLD std::string wanted(const Option& option) {
  if (option.text) return option.wants;
  if (option.number) return "a number from 0 on";
  if (option.most < INT64_MAX) return tern::detail::text({"an integer from ", option.least, " to ", option.most});
  return tern::detail::text({"an integer from ", option.least, " on"});
}

/// The text as one word of a shell.
TERN_COLD std::string quoted(const std::string& word) {
  const char* const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

}  // namespace detail

TERN_COLD std::string resume_command(const Options& options, const std::string& checkpoint) {
  return tern::detail::text(
      {options.command, options.command.empty() ? "" : " ", "--resume ", detail::quoted(checkpoint)});
}

TERN_COLD Options parse_options(int argc, char** argv, Options options) {
  parse_options(argc, argv, options, {});
  return options;
}

TERN_COLD void parse_options(int argc, char** argv, Options& options, std::initializer_list<Option> own) {
  const std::initializer_list<Option> shared = {
      {.name = "--device", .text = &options.device, .wants = "cpu, cuda or auto"},
      {.name = "--model", .text = &options.model, .wants = "the name of a network"},
      {.name = "--precision", .text = &options.precision, .wants = "f32, bf16, f16 or bf16-weights"},
      {.name = "--epochs", .index = &options.epochs, .least = 1},
      {.name = "--batch-size", .index = &options.batch_size, .least = 1},
      {.name = "--accumulate", .index = &options.accumulate, .least = 1},
      {.name = "--target", .number = &options.target},
      {.name = "--lr", .number = &options.lr},
      {.name = "--seed", .index = &options.seed},
      {.name = "--threads", .index = &options.threads, .least = 1, .most = 1024},
      {.name = "--workers", .index = &options.workers, .most = 1024},
      {.name = "--data", .text = &options.data, .wants = "the folder with the data set"},
      {.name = "--save", .text = &options.save, .wants = "the file to write checkpoints to"},
      {.name = "--resume", .text = &options.resume, .wants = "the file of a checkpoint"},
      {.name = "--json", .text = &options.json, .wants = "a file to write"},
      {.name = "--svg", .text = &options.svg, .wants = "a file to write"},
      {.name = "--trace", .text = &options.trace, .wants = "a file to write"},
      {.name = "--no-capture", .flag = &options.no_capture},
      {.name = "--price", .number = &options.price},
      {.name = "--show", .index = &options.show},
      {.name = "--skip-bad", .flag = &options.skip_bad},
      {.name = "--help", .flag = &options.help},
      {.name = "-h", .flag = &options.help},
  };
  const char* const script = std::getenv("TERN_COMMAND");
  options.command = script ? script : detail::quoted(argv[0]);
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    const Option* option = detail::find_option(shared, name);
    if (!option) option = detail::find_option(own, name);
    if (!option) detail::refuse_option(name, {shared, own});
    if (option->flag) {
      *option->flag = true;
      options.command += tern::detail::text({" ", name});
      continue;
    }
    const char* const value = ++i < argc ? argv[i] : "--";
    if (std::strncmp(value, "--", 2) == 0) fail("options", {name, " needs ", detail::wanted(*option)});
    if (option->text != &options.resume) options.command += tern::detail::text({" ", name, " ", detail::quoted(value)});
    if (option->text) *option->text = value;
    else if (option->number) *option->number = parse_number(name, value);
    else *option->index = parse_index(name, value, option->least, option->most);
  }
}

}}}  // namespace tern::train
