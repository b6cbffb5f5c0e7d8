// The options that all trainers share.
#pragma once
#include <tern/train/options.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "parse.hpp"

namespace support {

/// What train::fit() takes, and what the other lines of a trainer do.
struct Options : tern::train::Options {
  std::string device = "cpu";
  std::string model = "";
  std::string precision = "f32";
  Index batch_size = 128;
  double lr = 0;  // 0: the model's own default
  Index seed = 1;
  Index threads = 0;       // 0: OpenMP's number
  Index workers = 2;       // threads that make batches; 0: the training thread makes them
  std::string data = "";   // the folder with the data set's files
  std::string json = "";   // report to write
  std::string svg = "";    // drawing of the learning curve to write
  std::string trace = "";  // trace of a GPU's work to write
  double price = 0;        // of the machine, dollars an hour
  Index show = 0;          // mistakes to draw at the end
  bool skip_bad = false;   // leave out damaged records of the data set, where a trainer offers that
  bool help = false;
  std::string command = "";  // the command line without --resume, for a shell

  /// The learning rate, or what is usual where the options leave it open.
  double lr_or(double usual) const { return lr > 0 ? lr : usual; }
};

/// An option: its name, and the one variable that it sets. A flag has no value.
struct Option {
  const char* name;
  std::string* text = nullptr;
  double* number = nullptr;
  Index* index = nullptr;
  bool* flag = nullptr;
  Index least = 0, most = INT64_MAX;  // of an index
  const char* wants = "a value";      // a text, in an Error
};

/// The shared options as text.
inline constexpr const char* options_help =
    "  --device cpu|cuda|auto   where to train (cpu); auto takes a GPU if there is one\n"
    "  --model NAME             which network\n"
    "  --precision TYPE         f32; bf16 or f16: layers compute in 16 bits, parameters are floats; bf16-weights: all "
    "in bf16 (f32)\n"
    "  --epochs N  --batch-size N  --lr RATE  --seed N  --threads N\n"
    "  --workers N              threads that make batches; 0: none, the training waits for each (2)\n"
    "  --accumulate N           add the gradients of N batches for a step (1)\n"
    "  --target FIGURE          stop when the figure on test data reaches it, as 0.98 for an accuracy\n"
    "  --data DIR               the folder with the data set's files\n"
    "  --save FILE              write a checkpoint after each epoch\n"
    "  --resume FILE            go on from a checkpoint, with its learning rates\n"
    "  --json FILE              write the results\n"
    "  --svg FILE               draw loss and accuracy over the epochs\n"
    "  --trace FILE             write the time line of the GPU's work in the last epoch, for ui.perfetto.dev\n"
    "  --no-capture             start each of a GPU's kernels anew instead of replaying a captured step\n"
    "  --price DOLLARS          of the machine for an hour: adds the cost\n"
    "  --show N                 draw N mistakes at the end\n";

/// Prints a trainer's own help and the shared options. Returns the exit status.
inline int print_help(const char* own) {
  std::printf("%s%s", own, options_help);
  return 0;
}

namespace detail {

/// The option of that name; null if there is none.
inline const Option* find_option(std::initializer_list<Option> options, const char* name) {
  for (const Option& option : options)
    if (std::strcmp(name, option.name) == 0) return &option;
  return nullptr;
}

/// The least number of letters to insert, delete, replace or exchange with the next that makes one text of the other
/// (Damerau, 1964).
inline std::size_t edit_distance(const std::string& a, const std::string& b) {
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

[[noreturn]] inline void refuse_option(const std::string& name,
                                       std::initializer_list<std::initializer_list<Option>> lists) {
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
  if (!nearest) Error::fail("options", {"unknown option '", name, "'; --help lists those that there are"});
  Error::fail("options", {"unknown option '", name, "'; the nearest is ", nearest,
                          given == name ? "" : ", whose value is the next word", ", and --help lists all"});
}

/// What the option wants as its value.
inline std::string wanted(const Option& option) {
  if (option.text) return option.wants;
  if (option.number) return "a number from 0 on";
  if (option.most < INT64_MAX)
    return "an integer from " + std::to_string(option.least) + " to " + std::to_string(option.most);
  return "an integer from " + std::to_string(option.least) + " on";
}

/// The text as one word of a shell.
inline std::string quoted(const std::string& word) {
  const char* const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

}  // namespace detail

/// The command that goes on from a checkpoint: options.command with --resume.
inline std::string resume_command(const Options& options, const std::string& checkpoint) {
  return options.command + (options.command.empty() ? "" : " ") + "--resume " + detail::quoted(checkpoint);
}

/// Reads the options of the command line into variables that hold their defaults; `own` are those that a trainer has
/// besides the shared ones:
///
///   double label_smoothing = 0;
///   support::parse_options(argc, argv, options, {{.name = "--label-smoothing", .number = &label_smoothing}});
///
/// Error that names an unknown option and the nearest one, or a value that is missing or out of range and what the
/// option wants. The command begins with the variable TERN_COMMAND, if a script that started the program has set it,
/// else with the program's name.
inline void parse_options(int argc, char** argv, Options& options, std::initializer_list<Option> own = {}) {
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
      options.command += std::string(" ") + name;
      continue;
    }
    const char* const value = ++i < argc ? argv[i] : "--";
    if (std::strncmp(value, "--", 2) == 0) Error::fail("options", {name, " needs ", detail::wanted(*option)});
    if (option->text != &options.resume) options.command += std::string(" ") + name + " " + detail::quoted(value);
    if (option->text) *option->text = value;
    else if (option->number) *option->number = parse_number(name, value);
    else *option->index = parse_index(name, value, option->least, option->most);
  }
}

}  // namespace support
