#include "support/catch.hpp"

#include <vector>

#include "../../examples/support/options.hpp"
#include "../io/temporary_folder.hpp"

namespace trainers_options {
using namespace tern;
using Catch::Matchers::ContainsSubstring;
using support::Options;

namespace {

Options parse(std::vector<std::string> words, Options options = {}) {
  words.insert(words.begin(), "program");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  support::parse_options(int(arguments.size()), arguments.data(), options);
  return options;
}

std::string refusal(const std::vector<std::string>& words) {
  return tern_test::error_of([&] { parse(words); });
}

}  // namespace

TEST_CASE("options: what is not given keeps the trainer's default") {
  Options defaults;
  defaults.model = "mlp", defaults.epochs = 7;
  const Options o = parse({}, defaults);
  CHECK(o.model == "mlp");
  CHECK(o.epochs == 7);
  CHECK(o.device == "cpu");
  CHECK(o.precision == "f32");
  CHECK(o.batch_size == 128);
  CHECK(o.accumulate == 1);
  CHECK(o.seed == 1);
  CHECK(o.threads == 0);
  CHECK(o.workers == 2);
  CHECK(o.lr == 0);
  CHECK(o.price == 0);
  CHECK(o.show == 0);
  CHECK_FALSE(o.no_capture);
  CHECK_FALSE(o.help);
  CHECK((o.data.empty() && o.save.empty() && o.resume.empty() && o.json.empty() && o.trace.empty()));
}

TEST_CASE("numbers of other options are read alike") {
  CHECK(support::parse_index("--top-k", "40") == 40);
  CHECK(support::parse_number("--top-p", "0.5") == 0.5);
  CHECK(tern_test::error_of([] { support::parse_index("--top-k", "-1"); }) ==
        "options: --top-k must be at least 0, not -1");
}

TEST_CASE("options: each is read") {
  const Options o = parse({"--device",
                           "auto",
                           "--model",
                           "big",
                           "--precision",
                           "bf16",
                           "--epochs",
                           "3",
                           "--lr",
                           "1e-2",
                           "--threads",
                           "4",
                           "--data",
                           "a b",
                           "--save",
                           "s",
                           "--resume",
                           "r",
                           "--json",
                           "-",
                           "--price",
                           "0.40",
                           "--show",
                           "5",
                           "--seed",
                           "9007199254740993",
                           "--batch-size",
                           "64",
                           "--no-capture",
                           "--trace",
                           "t",
                           "--accumulate",
                           "4",
                           "--workers",
                           "7",
                           "--no-capture"});
  CHECK(o.device == "auto");
  CHECK(o.model == "big");
  CHECK(o.precision == "bf16");
  CHECK(o.epochs == 3);
  CHECK(o.lr == 0.01);
  CHECK(o.threads == 4);
  CHECK(o.data == "a b");
  CHECK(o.save == "s");
  CHECK(o.resume == "r");
  CHECK(o.json == "-");
  CHECK(o.trace == "t");
  CHECK(o.no_capture);
  CHECK(o.no_capture);
  CHECK(o.price == 0.4);
  CHECK(o.show == 5);
  CHECK(o.seed == 9007199254740993);  // no double
  CHECK(o.batch_size == 64);
  CHECK(o.accumulate == 4);
  CHECK(o.workers == 7);
  CHECK(parse({"--workers", "0"}).workers == 0);
  CHECK(parse({"--help"}).help);
  CHECK(parse({"--epochs", "2", "-h"}).help);
  CHECK(parse({"--epochs", "2", "--epochs", "4"}).epochs == 4);
}

TEST_CASE("options: the help names every one") {
  for (const char* name :
       {"--device", "--model", "--precision", "--epochs", "--batch-size", "--lr", "--seed", "--threads", "--data",
        "--save", "--resume", "--json", "--trace", "--price", "--show", "--accumulate", "--workers"})
    CHECK_THAT(std::string(support::options_help), ContainsSubstring(name));
}

TEST_CASE("options: what cannot be is an Error that names it") {
  CHECK(refusal({"--epochs"}) == "options: --epochs needs an integer from 1 on");
  CHECK(refusal({"--threads"}) == "options: --threads needs an integer from 1 to 1024");
  CHECK(refusal({"--lr", "--epochs", "3"}) == "options: --lr needs a number from 0 on");
  CHECK(refusal({"--save", "--json", "x"}) == "options: --save needs the file to write checkpoints to");
  CHECK(refusal({"--data"}) == "options: --data needs the folder with the data set");
  CHECK(refusal({"--device"}) == "options: --device needs cpu, cuda or auto");
  CHECK(refusal({"--epochs", "two"}) == "options: --epochs needs an integer, not 'two'");
  CHECK(refusal({"--epochs", "2.5"}) == "options: --epochs needs an integer, not '2.5'");
  CHECK(refusal({"--epochs", ""}) == "options: --epochs needs an integer, not ''");
  CHECK(refusal({"--epochs", "2x"}) == "options: --epochs needs an integer, not '2x'");
  CHECK(refusal({"--epochs", "0"}) == "options: --epochs must be at least 1, not 0");
  CHECK(refusal({"--batch-size", "-1"}) == "options: --batch-size must be at least 1, not -1");
  CHECK(refusal({"--accumulate", "0"}) == "options: --accumulate must be at least 1, not 0");
  CHECK(refusal({"--seed", "99999999999999999999"}) == "options: --seed needs an integer, not '99999999999999999999'");
  CHECK(refusal({"--threads", "1000000"}) == "options: --threads must be at most 1024, not 1000000");
  CHECK(refusal({"--workers", "-1"}) == "options: --workers must be at least 0, not -1");
  CHECK(refusal({"--workers", "1025"}) == "options: --workers must be at most 1024, not 1025");
  CHECK(refusal({"--lr", "fast"}) == "options: --lr needs a number, not 'fast'");
  CHECK(refusal({"--lr", "nan"}) == "options: --lr needs a number, not 'nan'");
  CHECK(refusal({"--lr", "inf"}) == "options: --lr needs a number, not 'inf'");
  CHECK(refusal({"--lr", "-0.1"}) == "options: --lr must not be negative: -0.1");
  CHECK(refusal({"--price", "-1"}) == "options: --price must not be negative: -1");
}

TEST_CASE("options: an unknown one is refused with the nearest, if one is near") {
  const auto nearest = [](const std::string& given, const std::string& name) {
    CHECK(refusal({given, "2"}) ==
          "options: unknown option '" + given + "'; the nearest is " + name + ", and --help lists all");
  };
  nearest("--epoch", "--epochs");
  nearest("--batch_size", "--batch-size");
  nearest("--batchsize", "--batch-size");
  nearest("--batch", "--batch-size");
  nearest("--worker", "--workers");
  nearest("--modle", "--model");
  nearest("--sede", "--seed");
  nearest("-epochs", "--epochs");
  nearest("--accumulation", "--accumulate");
  CHECK(refusal({"--epochs=2"}) ==
        "options: unknown option '--epochs=2'; the nearest is --epochs, whose value is the next word, and --help lists "
        "all");
  for (const std::string far : {"mnist", "--learning-rate", "--gpu", "-x", ""})
    CHECK(refusal({far}) == "options: unknown option '" + far + "'; --help lists those that there are");
}

TEST_CASE("options: the command that goes on from a checkpoint has every option that was given") {
  CHECK(parse({}).command == "program");
  const Options o =
      parse({"--epochs", "3", "--no-capture", "--resume", "old", "--data", "a 'b' c", "--lr", "1e-2", "--model", ""});
  CHECK(o.command == "program --epochs 3 --no-capture --data 'a '\\''b'\\'' c' --lr 1e-2 --model ''");
  CHECK(support::resume_command(o, "new file") == o.command + " --resume 'new file'");
  CHECK(support::resume_command({}, "file") == "--resume file");
  setenv("TERN_COMMAND", "examples/run mnist --ranks 2", 1);  // as a script does that starts the program
  CHECK(parse({"--seed", "3"}).command == "examples/run mnist --ranks 2 --seed 3");
  unsetenv("TERN_COMMAND");
}

TEST_CASE("options: a trainer has options of its own beside the shared ones") {
  Options shared;
  std::string weights;
  double smoothing = 0.1;
  Index size = 224;
  bool freeze = false;
  const auto read = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "program");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    support::parse_options(int(arguments.size()), arguments.data(), shared,
                           {{.name = "--weights", .text = &weights, .wants = "a file of weights"},
                            {.name = "--label-smoothing", .number = &smoothing},
                            {.name = "--size", .index = &size, .least = 1, .most = 512},
                            {.name = "--freeze", .flag = &freeze}});
  };
  read({"--epochs", "3"});
  CHECK((weights.empty() && smoothing == 0.1 && size == 224 && !freeze && shared.epochs == 3));
  read({"--freeze", "--size", "64", "--seed", "5", "--weights", "w", "--label-smoothing", "0.2"});
  CHECK((weights == "w" && smoothing == 0.2 && size == 64 && freeze && shared.seed == 5));
  CHECK(tern_test::error_of([&] { read({"--size", "0"}); }) == "options: --size must be at least 1, not 0");
  CHECK(tern_test::error_of([&] { read({"--size", "513"}); }) == "options: --size must be at most 512, not 513");
  CHECK(tern_test::error_of([&] { read({"--weights"}); }) == "options: --weights needs a file of weights");
  CHECK(tern_test::error_of([&] { read({"--thaw"}); }) ==
        "options: unknown option '--thaw'; --help lists those that there are");
  CHECK(tern_test::error_of([&] { read({"--label_smoothing", "0.1"}); }) ==
        "options: unknown option '--label_smoothing'; the nearest is --label-smoothing, and --help lists all");
  read({"--freeze", "--weights", "w x"});
  CHECK(shared.command == "program --freeze --weights 'w x'");
}

TEST_CASE("options: a choice that a trainer does not offer is refused with those that it does") {
  const auto choose = [](const std::string& value, std::initializer_list<const char*> offered) {
    return tern_test::error_of([&] { support::check_choice("--precision", value, offered); });
  };
  CHECK(choose("f32", {"f32"}) == "");
  CHECK(choose("bf16", {"f32", "bf16"}) == "");
  CHECK(choose("bf16", {"f32"}) == "options: --precision must be f32, not 'bf16'");
  CHECK(choose("f64", {"f32", "bf16"}) == "options: --precision must be f32 or bf16, not 'f64'");
  CHECK(choose("", {"f32"}) == "options: --precision must be f32, not ''");
}

}  // namespace trainers_options
