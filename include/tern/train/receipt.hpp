// What an epoch did, took and cost.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cstdio>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../io/json.hpp"

namespace tern::inline TERN_BUILD::train {

/// One epoch. Times in seconds; transfer and wait are those of a device other than the host's.
struct Receipt {
  double loss = 0, accuracy = 0;
  double seconds = 0, forward_s = 0, backward_s = 0, optimizer_s = 0, input_s = 0, transfer_s = 0, wait_s = 0;
  Index samples = 0;
  double flops = 0;
  double test_accuracy = 0;

  double samples_per_second() const { return seconds > 0 ? double(samples) / seconds : 0; }
};

/// What a training reports in the end.
struct Report {
  std::string model, data, device;
  int threads = 1;
  double test_accuracy = 0;
  std::vector<Receipt> epochs;
};

/// The receipt as lines of text: `peak` in operations a second, `price` in dollars an hour; 0 to leave out what they are
/// for. The rate is that of the time not spent waiting for input: a device computes while the host goes on.
[[gnu::noinline, gnu::cold]] inline std::string receipt_text(Index epoch, const Receipt& r, double peak, double price) {
  const double work = r.seconds - r.input_s, rate = work > 0 ? r.flops / work : 0;
  const double share = r.seconds > 0 ? 100 / r.seconds : 0;
  char line[256];
  std::snprintf(line, sizeof line, "epoch %lld  loss %.4f  train %.2f%%  test %.2f%%  %.2f s  %.0f images/s\n", (long long)epoch,
                r.loss, 100 * r.accuracy, 100 * r.test_accuracy, r.seconds, r.samples_per_second());
  std::string text = line;
  std::snprintf(line, sizeof line, "         forward %.0f%%  backward %.0f%%  optimiser %.0f%%  input %.1f%%  |  %.0f GFLOP/s",
                share * r.forward_s, share * r.backward_s, share * r.optimizer_s, share * r.input_s, rate / 1e9);
  text += line;
  if (peak > 0) {
    std::snprintf(line, sizeof line, ", %.0f%% of this machine's %.0f", 100 * rate / peak, peak / 1e9);
    text += line;
  }
  text += '\n';
  if (r.transfer_s + r.wait_s > 0) {
    std::snprintf(line, sizeof line, "         transfers %.1f%%  waiting for the device %.1f%%\n", share * r.transfer_s,
                  share * r.wait_s);
    text += line;
  }
  if (price > 0) {
    const double cost = price * r.seconds / 3600;
    std::snprintf(line, sizeof line, "         $%.6f an epoch, %.0f images a dollar\n", cost,
                  cost > 0 ? double(r.samples) / cost : 0);
    text += line;
  }
  return text;
}

[[gnu::noinline, gnu::cold]] inline std::string report_json(const Report& report) {
  constexpr struct {
    const char* name;
    double Receipt::*value;
  } members[] = {
      {"loss", &Receipt::loss},           {"accuracy", &Receipt::accuracy},     {"test_accuracy", &Receipt::test_accuracy},
      {"seconds", &Receipt::seconds},     {"forward_s", &Receipt::forward_s},   {"backward_s", &Receipt::backward_s},
      {"optimizer_s", &Receipt::optimizer_s}, {"input_s", &Receipt::input_s}, {"transfer_s", &Receipt::transfer_s},
      {"wait_s", &Receipt::wait_s},
  };
  io::Json json;
  json.object();
  json.member("model", report.model);
  json.member("data", report.data);
  json.member("device", report.device);
  json.member("threads", report.threads);
  json.member("test_accuracy", report.test_accuracy);
  json.array("epochs");
  for (const Receipt& r : report.epochs) {
    json.object();
    for (const auto& member : members) json.member(member.name, r.*member.value);
    json.end();
  }
  json.end();
  json.end();
  return text({json.text(), "\n"});
}

}  // namespace tern::train
