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

TERN_COLD std::string epoch_text(const EpochReport& r, double peak, const Metric& metric, const char* unit) {
  const double work = r.seconds - r.input_s, rate = work > 0 ? r.flops / work : 0;
  const double share = r.seconds > 0 ? 100 / r.seconds : 0;
  char line[256];
  std::snprintf(line, sizeof line, "epoch %lld  loss %.4f", (long long)r.epoch, r.loss);
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
  if (!std::isnan(r.validation_figure))
    text += "       " + detail::labelled("held out", r.validation_figure, metric) +
            (r.is_best ? ", the best so far\n" : "\n");
  return text;
}

TERN_COLD std::string total_text(const Report& report) {
  const double seconds = report.epochs.empty() ? 0 : report.epochs.back().trained_s;
  const std::size_t epochs = report.epochs.size();
  char line[96];
  std::snprintf(line, sizeof line, "%zu epoch%s in %.2f s\n", epochs, epochs == 1 ? "" : "s", seconds);
  return line;
}

}}}  // namespace tern::train
