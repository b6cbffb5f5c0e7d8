// What a trainer's options ask for besides the training: files, the price, and how to go on.
#pragma once
#include <tern/io/file.hpp>
#include <tern/io/json.hpp>
#include <tern/profile/trace.hpp>
#include <tern/train/callbacks.hpp>

#include "learning_curve.hpp"
#include "options.hpp"

namespace support {

/// A training's report as JSON. price: of the machine, dollars an hour; 0 leaves the cost out.
inline std::string report_json(const Report& report, const std::string& model, const std::string& data, double price) {
  const std::string figure = report.metric.name, test_figure = "test_" + figure;
  const struct {
    const char* name;
    double EpochReport::* value;
  } members[] = {
      {"loss", &EpochReport::loss},
      {figure.c_str(), &EpochReport::figure},
      {test_figure.c_str(), &EpochReport::test_figure},
      {"seconds", &EpochReport::seconds},
      {"forward_s", &EpochReport::forward_s},
      {"backward_s", &EpochReport::backward_s},
      {"optimizer_s", &EpochReport::optimizer_s},
      {"input_s", &EpochReport::input_s},
      {"transfer_s", &EpochReport::transfer_s},
      {"wait_s", &EpochReport::wait_s},
  };
  tern::io::Json json;
  json.object();
  json.member("model", model);
  json.member("data", data);
  json.member("device", report.device);
  json.member("threads", report.threads);
  json.member("ranks", report.ranks);
  json.member(test_figure, report.test_figure);
  if (report.target > 0) {
    const EpochReport* const reached = report.reached();
    const double seconds = reached ? reached->trained_s : std::nan("");
    json.member("target", report.target);
    json.member("seconds_to_target", seconds);
    if (price > 0) json.member("dollars_to_target", price * seconds / 3600);
  }
  json.member("seconds", report.epochs.empty() ? 0 : report.epochs.back().trained_s);
  json.array("epochs");
  for (const EpochReport& r : report.epochs) {
    json.object();
    for (const auto& member : members)
      if (member.value != &EpochReport::figure || report.metric.of) json.member(member.name, r.*member.value);
    if (r.of_device)
      json.member("captured_s", r.captured_s), json.member("other_s", r.other_s), json.member("idle_s", r.idle_s);
    json.member("samples", r.samples);
    json.member("replays", r.replays), json.member("replay_s", r.replay_s);
    json.end();
  }
  json.end();
  if (report.part > 0) {
    json.object("cut");
    json.member("part", report.part), json.member("seconds", report.cut.seconds),
        json.member("samples", report.cut.samples);
    json.end();
  }
  json.end();
  return json.text() + "\n";
}

/// Writes the files of --json, --svg and --trace after each epoch, and prints what --price makes of the time and, after
/// Ctrl-C, the command that goes on.
class OptionsReport final : public tern::train::Callback {
 public:
  OptionsReport(const Options& options, std::string data) : options_(options), data_(std::move(data)) {}
  ~OptionsReport() {
    if (traces_) tern::ledger::stop();
  }

  /// Error if a file cannot be written: before the first epoch, not after it.
  void on_train_begin(const Report&) override {
    for (const std::string& path : {options_.json, options_.svg, options_.trace})
      if (!path.empty()) tern::io::check_writable(path);
    traces_ = !options_.trace.empty();
    if (traces_) tern::ledger::start();
  }

  void on_epoch_end(const Report& report) override {
    const EpochReport& epoch = report.epochs.back();
    if (traces_) {
      tern::ledger::write_trace(options_.trace);
      tern::ledger::start();
    }
    if (const double cost = dollars(epoch.seconds); cost > 0)
      std::printf("         $%.6f an epoch, %.0f %s a dollar\n", cost, double(epoch.samples) / cost, report.unit);
    if (report.reached() == &epoch) print_cost("to the target", epoch.trained_s);
    std::fflush(stdout);
    write(report);
  }

  void on_train_end(const Report& report) override {
    write(report);
    if (report.interrupted) std::printf("to go on: %s\n", resume_command(options_, report.checkpoint).c_str());
    else if (!report.epochs.empty()) print_cost("in all", report.epochs.back().trained_s);
    std::fflush(stdout);
  }

 private:
  double dollars(double seconds) const { return options_.price * seconds / 3600; }
  void print_cost(const char* what, double seconds) const {
    if (options_.price > 0) std::printf("         $%.6f %s\n", dollars(seconds), what);
  }
  void write(const Report& report) const {
    if (!options_.json.empty())
      tern::io::write_file_atomically(options_.json, report_json(report, options_.model, data_, options_.price));
    if (!options_.svg.empty())
      tern::io::write_file_atomically(options_.svg, learning_curve_svg(report, options_.model, data_));
  }

  const Options& options_;
  std::string data_;
  bool traces_ = false;
};

}  // namespace support
