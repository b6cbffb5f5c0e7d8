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

namespace tern::train {

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

/// The receipt as lines of text: `peak` in operations a second, `price` in dollars an hour, 0 to leave the cost out.
[[gnu::noinline, gnu::cold]] inline std::string receipt_text(Index epoch, const Receipt& r, double peak, double price) {
  const double work = r.forward_s + r.backward_s + r.optimizer_s;
  const double share = r.seconds > 0 ? 100 / r.seconds : 0;
  char lines[1024];
  int length = std::snprintf(
      lines, sizeof lines,
      "epoch %lld  loss %.4f  train %.2f%%  test %.2f%%  %.2f s  %.0f images/s\n"
      "         forward %.0f%%  backward %.0f%%  optimiser %.0f%%  input %.1f%%  |  %.0f GFLOP/s, %.0f%% of this machine's %.0f\n",
      (long long)epoch, r.loss, 100 * r.accuracy, 100 * r.test_accuracy, r.seconds, r.samples_per_second(),
      share * r.forward_s, share * r.backward_s, share * r.optimizer_s, share * r.input_s,
      work > 0 ? r.flops / work / 1e9 : 0, work > 0 && peak > 0 ? 100 * r.flops / work / peak : 0, peak / 1e9);
  if (r.transfer_s + r.wait_s > 0)
    length += std::snprintf(lines + length, sizeof lines - std::size_t(length), "         transfers %.1f%%  waiting for the device %.1f%%\n",
                            share * r.transfer_s, share * r.wait_s);
  if (price > 0) {
    const double cost = price * r.seconds / 3600;
    std::snprintf(lines + length, sizeof lines - std::size_t(length), "         $%.6f an epoch, %.0f images a dollar\n", cost,
                  cost > 0 ? double(r.samples) / cost : 0);
  }
  return lines;
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
