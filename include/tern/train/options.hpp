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

namespace tern { inline namespace TERN_BUILD { namespace train {

struct Options {
  std::string device = "cpu";
  std::string model = "";
  std::string precision = "f32";
  Index epochs = 10;
  Index batch_size = 128;
  Index accumulate = 1;  // batches for a step of the optimiser
  double target = 0;     // the figure on test data at which training stops; 0: none
  double lr = 0;         // 0: the model's own default
  Index seed = 1;
  Index threads = 0;        // 0: OpenMP's number
  Index workers = 2;        // threads that make batches; 0: the training thread makes them
  std::string data = "";    // the folder with the data set's files
  std::string save = "";    // checkpoint to write
  std::string resume = "";  // checkpoint to go on from
  std::string json = "";    // report to write
  std::string svg = "";     // drawing of the learning curve to write
  std::string trace = "";   // trace of a GPU's work to write
  bool no_capture = false;  // no step is captured in a graph
  double price = 0;         // of the machine, dollars an hour
  Index show = 0;           // mistakes to draw at the end
  bool skip_bad = false;    // leave out damaged records of the data set
  bool help = false;
  std::string command = "";  // the command line without --resume, for a shell
};

/// The value of an option as a number that is not negative. Error that names the option if it is none.
TERN_API double parse_number(const char* name, const char* value);

/// The value of an option as an integer from least to most. Error that names the option if it is none.
TERN_API Index parse_index(const char* name, const char* value, Index least = 0, Index most = INT64_MAX);

/// The command that goes on from a checkpoint: options.command with --resume.
TERN_API std::string resume_command(const Options& options, const std::string& checkpoint);

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

/// Error unless the value is one of the trainer's choices.
TERN_API void check_choice(const char* name, const std::string& value, std::initializer_list<const char*> offered);

/// The options of the command line, with these defaults. Error that names an unknown option and the nearest one, or a
/// value that is missing or out of range and what the option wants. The command begins with the variable TERN_COMMAND,
/// if a script that started the program has set it, else with the program's name.
TERN_API Options parse_options(int argc, char** argv, Options options = {});

/// The same for a trainer that has options of its own besides, into variables that hold their defaults:
///
///   double label_smoothing = 0;
///   train::parse_options(argc, argv, options, {{.name = "--label-smoothing", .number = &label_smoothing}});
TERN_API void parse_options(int argc, char** argv, Options& options, std::initializer_list<Option> own);

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "options.ipp"
#endif
