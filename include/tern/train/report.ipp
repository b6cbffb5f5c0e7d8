// The functions of report.hpp that are not templates.
#pragma once
#include "report.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

namespace detail {

TERN_COLD std::string labelled(const char* label, double figure, const Metric& metric) {
  char text[64];
  const double shown = metric.percent ? 100 * figure : figure;
  std::snprintf(text, sizeof text, "  %s %.*f%s", label, metric.decimals, shown, metric.percent ? "%" : "");
  return std::isnan(figure) ? "" : text;
}

}  // namespace detail

TERN_COLD const EpochReport* Report::reached() const {
  for (const EpochReport& r : epochs)
    if (target > 0 && (metric.rises ? r.test_figure >= target : r.test_figure <= target)) return &r;
  return nullptr;
}

TERN_COLD std::string epoch_text(Index epoch, const EpochReport& r, double peak, double price, const Metric& metric,
                                 const char* unit) {
  const double work = r.seconds - r.input_s, rate = work > 0 ? r.flops / work : 0;
  const double share = r.seconds > 0 ? 100 / r.seconds : 0;
  char line[256];
  std::snprintf(line, sizeof line, "epoch %lld  loss %.4f", (long long)epoch, r.loss);
  std::string text =
      line + detail::labelled("train", r.figure, metric) + detail::labelled("test", r.test_figure, metric);
  std::snprintf(line, sizeof line, "  %.2f s  %.0f %s/s\n", r.seconds, r.samples_per_second(), unit);
  text += line;
  std::snprintf(line, sizeof line, "         %sforward %.0f%%  backward %.0f%%  optimiser %.0f%%",
                r.of_device ? "on the device: " : "", share * r.forward_s, share * r.backward_s, share * r.optimizer_s);
  text += line;
  if (r.captured_s > 0) {
    std::snprintf(line, sizeof line, "  captured steps %.0f%%", share * r.captured_s);
    text += line;
  }
  if (r.of_device) {
    std::snprintf(line, sizeof line, "  transfers %.1f%%  other %.1f%%  idle %.0f%%\n         input %.1f%%",
                  share * r.transfer_s, share * r.other_s, share * r.idle_s, share * r.input_s);
  } else {
    std::snprintf(line, sizeof line, "  input %.1f%%", share * r.input_s);
  }
  text += line;
  std::snprintf(line, sizeof line, "  |  %.0f GFLOP/s", rate / 1e9);
  text += line;
  if (peak > 0) {
    std::snprintf(line, sizeof line, ", %.0f%% of this machine's %.0f", 100 * rate / peak, peak / 1e9);
    text += line;
  }
  text += '\n';
  if (r.of_device) {
    std::snprintf(line, sizeof line, "         waiting for the device %.1f%%\n", share * r.wait_s);
    text += line;
  } else if (r.transfer_s + r.wait_s > 0) {
    std::snprintf(line, sizeof line, "         transfers %.1f%%  waiting for the device %.1f%%\n", share * r.transfer_s,
                  share * r.wait_s);
    text += line;
  }
  if (r.replays > 0) {
    std::snprintf(line, sizeof line, "         %lld captured steps %.0f%%\n", (long long)r.replays, share * r.replay_s);
    text += line;
  }
  if (!r.refusal.empty()) text += "         steps are not captured: " + r.refusal + "\n";
  if (price > 0) {
    const double cost = price * r.seconds / 3600;
    std::snprintf(line, sizeof line, "         $%.6f an epoch, %.0f %s a dollar\n", cost,
                  cost > 0 ? double(r.samples) / cost : 0, unit);
    text += line;
  }
  return text;
}

TERN_COLD std::string total_text(const Report& report) {
  const double seconds = report.epochs.empty() ? 0 : report.epochs.back().trained_s;
  const std::size_t epochs = report.epochs.size();
  char line[96];
  std::snprintf(line, sizeof line, "%zu epoch%s in %.2f s", epochs, epochs == 1 ? "" : "s", seconds);
  std::string text = line;
  if (report.price > 0) {
    std::snprintf(line, sizeof line, ", $%.6f", report.price * seconds / 3600);
    text += line;
  }
  return text + "\n";
}

TERN_COLD std::string report_json(const Report& report) {
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
  io::Json json;
  json.object();
  json.member("model", report.model);
  json.member("data", report.data);
  json.member("device", report.device);
  json.member("threads", report.threads);
  json.member("ranks", report.ranks);
  json.member(test_figure, report.test_figure);
  if (report.target > 0) {
    const EpochReport* const reached = report.reached();
    const double seconds = reached ? reached->trained_s : std::nan("");
    json.member("target", report.target);
    json.member("seconds_to_target", seconds);
    if (report.price > 0) json.member("dollars_to_target", report.price * seconds / 3600);
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
  return tern::detail::text({json.text(), "\n"});
}

}}}  // namespace tern::train
