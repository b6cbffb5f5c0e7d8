// The functions of report.hpp that are not templates.
#pragma once
#include "report.hpp"

namespace tern::inline TERN_BUILD::train {

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string epoch_text(Index epoch, const EpochReport& r, double peak, double price) {
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

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string report_json(const Report& report) {
  constexpr struct {
    const char* name;
    double EpochReport::*value;
  } members[] = {
      {"loss", &EpochReport::loss},           {"accuracy", &EpochReport::accuracy},     {"test_accuracy", &EpochReport::test_accuracy},
      {"seconds", &EpochReport::seconds},     {"forward_s", &EpochReport::forward_s},   {"backward_s", &EpochReport::backward_s},
      {"optimizer_s", &EpochReport::optimizer_s}, {"input_s", &EpochReport::input_s}, {"transfer_s", &EpochReport::transfer_s},
      {"wait_s", &EpochReport::wait_s},
  };
  io::Json json;
  json.object();
  json.member("model", report.model);
  json.member("data", report.data);
  json.member("device", report.device);
  json.member("threads", report.threads);
  json.member("test_accuracy", report.test_accuracy);
  json.array("epochs");
  for (const EpochReport& r : report.epochs) {
    json.object();
    for (const auto& member : members) json.member(member.name, r.*member.value);
    json.end();
  }
  json.end();
  json.end();
  return text({json.text(), "\n"});
}

}  // namespace tern::train
