// The functions of placement.hpp that are not templates.
#pragma once
#include "placement.hpp"

namespace tern { inline namespace TERN_BUILD { namespace profile {

TERN_COLD std::optional<Index> Prediction::uses() const {
  const Times& times = is_measured ? measured : predicted;
  const double gain = times.cpu - times.cuda - each;
  if (!why_not.empty()) return 0;
  if (std::isnan(gain + once)) return {};
  if (gain <= 0) return 0;
  const double uses = std::ceil(once / gain * (1 - 1e-6));  // so that the rounding of the driver's floats adds no use
  return uses < 1 ? 1 : uses < 1e18 ? Index(uses) : 0;
}

namespace measuring {

/// The longer of two times, or what was not measured.
inline double longer(double a, double b) { return a > b || std::isnan(a) ? a : b; }

TERN_COLD std::string milliseconds(double seconds) {
  char out[32];
  std::isnan(seconds) ? std::snprintf(out, sizeof out, "%14s", "not measured")
                      : std::snprintf(out, sizeof out, "%11.4f ms", 1e3 * seconds);
  return out;
}

}  // namespace measuring

TERN_COLD std::string Prediction::text() const {
  char row[128];
  std::snprintf(row, sizeof row, "  %-22s %14s%s\n", "", "predicted", is_measured ? "       measured" : "");
  std::string out = what + "\n" + row;
  const struct {
    const char* name;
    double Times::* seconds;
  } sides[] = {{"CPU", &Times::cpu},
               {"GPU, data there", &Times::cuda},
               {is_step ? "GPU, batch copied" : "GPU, copied each time", &Times::copied}};
  for (const auto& side : sides) {
    std::snprintf(row, sizeof row, "  %-22s ", side.name);
    out += row + measuring::milliseconds(predicted.*side.seconds);
    if (is_measured) out += " " + measuring::milliseconds(measured.*side.seconds);
    out += "\n";
    if (!why_not.empty()) return out += "  no GPU: " + why_not + "\n";
  }
  const auto trimmed = [](double seconds) {
    const std::string padded = measuring::milliseconds(seconds);
    return padded.substr(padded.find_first_not_of(' '));
  };
  const auto from_on = [&](const char* use, const std::string& never) {
    const std::optional<Index> many = uses();
    if (!many) return std::string("not measured\n");
    return *many ? tern::detail::text({"the GPU is faster from ", *many, " ", use, *many == 1 ? " on\n" : "s on\n"})
                 : never;
  };
  if (is_step) {
    std::snprintf(row, sizeof row, "  on the GPU the host queues %lld kernels in ", (long long)kernels);
    out += row + trimmed(queueing) + ", which the device computes in " + trimmed(computing) + "\n";
    if (once != 0) out += "  the parameters there and back: " + trimmed(once) + "\n";
    return out += "  " + from_on("step", "the CPU is faster, however many steps\n");
  }
  out += "  copies: " + trimmed(to_device) + " to the device, " + trimmed(to_host) + " to the host\n";
  out += "  data there: the GPU is faster " + there.from + "\n  copied each time: the GPU is faster " + copying.from +
         "\n";
  return out += "  copied once: " + from_on("use", "the CPU is faster, however often the data are used\n");
}

TERN_COLD Prediction Placement::matmul(Index m, Index n, Index k, PredictOptions options, CallSite here) const {
  const CallScope scope(here);
  if (m < 1 || n < 1 || k < 1) Error::fail("placement", {"sizes must be at least 1: ", m, ", ", n, ", ", k});
  const double sizes[] = {double(m), double(n), double(k)};
  Prediction prediction = answer(tern::detail::text({"matmul [", m, ", ", k, "] x [", k, ", ", n, "]"}), sizes, 3);
  if (options.measured) prediction.measured = measuring::time_matmul(m, n, k, parts());
  prediction.is_measured = options.measured;
  return prediction;
}

TERN_COLD Prediction Placement::elementwise(Index n, PredictOptions options, CallSite here) const {
  const CallScope scope(here);
  if (n < 1) Error::fail("placement", {"sizes must be at least 1: ", n});
  const double size = double(n);
  Prediction prediction = answer(tern::detail::text({"a + b of ", n, " elements"}), &size, 1);
  if (options.measured) prediction.measured = measuring::time_sum(n, parts());
  prediction.is_measured = options.measured;
  return prediction;
}

TERN_COLD std::string Placement::text() const {
  std::string out = "CPU: " + cpu + "\nGPU: " + (why_not.empty() ? cuda : "none: " + why_not) + "\n";
  add_rows(out, true, cpu_matmul, cuda_matmul);
  add_rows(out, false, cpu_elementwise, cuda_elementwise);
  if (!why_not.empty()) return out;
  out += "copy, bytes       to device     pinned    to host     pinned  GB/s\n";
  for (const Curve::Point& point : copies[0][0].points) {
    char row[128];
    const auto rate = [&](tern::detail::Work way, bool pinned) {
      return 1e-9 * point.size / copy(point.size, way, pinned);
    };
    std::snprintf(row, sizeof row, "%-16.0f %10.2f %10.2f %10.2f %10.2f\n", point.size,
                  rate(tern::detail::Work::to_device, false), rate(tern::detail::Work::to_device, true),
                  rate(tern::detail::Work::to_host, false), rate(tern::detail::Work::to_host, true));
    out += row;
  }
  return out;
}

TERN_COLD measuring::PredictedTimes Placement::predict(const double* sizes, int count, double factor) const {
  using measuring::longer;
  measuring::PredictedTimes p;
  if (count == 1) {
    const double n = factor * sizes[0];
    p = {{cpu_elementwise.at(n), cuda_elementwise.at(n)},
         2 * copy(4 * n, tern::detail::Work::to_device),
         copy(4 * n, tern::detail::Work::to_host)};
  } else {
    const double m = factor * sizes[0], n = factor * sizes[1], k = factor * sizes[2],
                 touched = (m * k + k * n + m * n) / 3;
    p.times.cpu = longer(cpu_matmul.at(2 * m * n * k), cpu_elementwise.at(touched));
    p.times.cuda = longer(cuda_matmul.at(2 * m * n * k), cuda_elementwise.at(touched));
    p.to_device = copy(4 * m * k, tern::detail::Work::to_device) + copy(4 * k * n, tern::detail::Work::to_device);
    p.to_host = copy(4 * m * n, tern::detail::Work::to_host);
  }
  p.times.copied = p.to_device + p.times.cuda + p.to_host;
  return p;
}

TERN_COLD Prediction Placement::answer(const std::string& what, const double* sizes, int count) const {
  Prediction prediction;
  prediction.what = what;
  prediction.why_not = why_not;
  const measuring::PredictedTimes now = predict(sizes, count, 1);
  prediction.predicted = now.times;
  if (!why_not.empty()) return prediction;
  prediction.to_device = now.to_device, prediction.to_host = now.to_host, prediction.once = now.to_device + now.to_host;
  prediction.there = crossing(sizes, count, &Times::cuda);
  prediction.copying = crossing(sizes, count, &Times::copied);
  return prediction;
}

TERN_COLD Crossing Placement::crossing(const double* sizes, int count, double Times::* side) const {
  const auto gain = [&](double factor) {
    const Times times = predict(sizes, count, factor).times;
    return times.cpu - times.*side;
  };
  // It goes down from the largest size that all curves reach as long as the GPU is faster, then bisects.
  const double beyond =
      4 * (count == 1 ? cuda_elementwise.points.back().size / sizes[0]
                      : std::cbrt(cuda_matmul.points.back().size / (2 * sizes[0] * sizes[1] * sizes[2])));
  double most = beyond;
  while (most > 1e-9 * beyond && std::isnan(gain(most))) most /= 1.02;
  double least = most;
  while (least > 1e-9 * beyond && gain(least) > 0) most = least, least /= 1.25;
  if (least == most) return {HUGE_VAL, "at no size of this shape that was measured"};
  for (int i = 0; i < 60; ++i) {
    const double middle = (least + most) / 2;
    (gain(middle) > 0 ? most : least) = middle;
  }
  const auto scaled = [&](int i) { return Index(std::ceil(sizes[i] * most * (1 - 1e-9))); };
  if (count == 1) return {most, tern::detail::text({"from ", scaled(0), " elements on"})};
  return {most,
          tern::detail::text({"from [", scaled(0), ", ", scaled(2), "] x [", scaled(2), ", ", scaled(1), "] on"})};
}

namespace measuring {

inline constinit thread_local std::vector<tern::detail::CountedWork>* listed = nullptr;

TERN_COLD StepWork work_of(void (*run)(const void* f), const void* f) {
  run(f);
  struct Listening {
    explicit Listening(std::vector<tern::detail::CountedWork>& work) {
      listed = &work;
      tern::detail::work_listener = [](const tern::detail::CountedWork& one) { listed->push_back(one); };
    }
    ~Listening() { tern::detail::work_listener = nullptr; }
  };
  StepWork step;
  const tern::detail::DeviceEvents before = tern::detail::device_events;
  {
    const Listening listening(step.work);
    run(f);
  }
  const tern::detail::DeviceEvents& after = tern::detail::device_events;
  step.kernels = after.count[int(tern::detail::Work::kernel)] - before.count[int(tern::detail::Work::kernel)];
  for (const bool to_host : {false, true}) {
    const int way = int(to_host ? tern::detail::Work::to_host : tern::detail::Work::to_device);
    step.copies[to_host] = after.count[way] - before.count[way],
    step.bytes[to_host] = after.bytes[way] - before.bytes[way];
  }
  return step;
}

}  // namespace measuring

TERN_COLD double Placement::seconds_of(const std::vector<tern::detail::CountedWork>& work, const Curve& matmul,
                                       const Curve& convolution, const Curve& elementwise) const {
  double sum = 0;
  for (const tern::detail::CountedWork& piece : work) {
    if (piece.count == 0) continue;
    const double flops = piece.flops / double(piece.count), bytes = piece.bytes / double(piece.count);
    const double passing = bytes > 0 || piece.effort == tern::detail::Effort::pass ? elementwise.at(bytes / 12) : 0;
    const double each =
        piece.effort == tern::detail::Effort::pass
            ? passing
            : measuring::longer((piece.effort == tern::detail::Effort::product ? matmul : convolution).at(flops),
                                passing);
    sum += double(piece.count) * each;
  }
  return sum;
}

TERN_COLD Prediction Placement::step_of(const measuring::StepWork& host, const measuring::StepWork& device,
                                        double parameter_bytes, double batch_bytes) const {
  double flops = 0, products = 0, bytes = 0, passes = 0;
  for (const tern::detail::CountedWork& piece : host.work)
    piece.effort == tern::detail::Effort::pass ? (passes += double(piece.count), bytes += piece.bytes)
                                               : (products += double(piece.count), flops += piece.flops);
  if (products + passes == 0)
    Error::fail("placement", {"the step does no work that is counted, so nothing predicts it"});
  Prediction prediction;
  char line[192];
  std::snprintf(line, sizeof line, "a step: %.1f MFLOP in %.0f products and convolutions, %.1f MB in %.0f passes",
                1e-6 * flops, products, 1e-6 * bytes, passes);
  prediction.what = line;
  if (batch_bytes > 0) {
    std::snprintf(line, sizeof line, ", parameters of %.1f kB, a batch of %.1f kB", 1e-3 * parameter_bytes,
                  1e-3 * batch_bytes);
    prediction.what += line;
  }
  prediction.is_step = true;
  prediction.why_not = why_not;
  prediction.predicted.cpu = seconds_of(host.work, cpu_matmul, cpu_convolution, cpu_elementwise);
  if (!why_not.empty()) return prediction;
  prediction.kernels = device.kernels;
  // A layer that one call computes is one product of the host, however many it counts.
  double calls[3] = {};
  for (const tern::detail::CountedWork& piece : device.work) ++calls[int(piece.effort)];
  const double of_others = double(device.kernels) - calls[0] - calls[1];
  calls[int(tern::detail::Effort::pass)] = of_others > 0 ? of_others : 0;
  for (int i = 0; i < 3; ++i)
    if (calls[i] > 0) prediction.queueing += calls[i] * queueing[i];
  prediction.computing = seconds_of(device.work, cuda_matmul, cuda_convolution, cuda_elementwise);
  double copying = 0;
  for (const bool to_host : {false, true})
    if (const double count = double(device.copies[to_host]); count > 0)
      copying += count * copies[to_host][0].at(double(device.bytes[to_host]) / count);
  prediction.predicted.cuda = measuring::longer(prediction.queueing, prediction.computing) + copying;
  if (batch_bytes > 0) {
    prediction.to_device = prediction.each = copy(batch_bytes, tern::detail::Work::to_device);
    prediction.once =
        copy(parameter_bytes, tern::detail::Work::to_device) + copy(parameter_bytes, tern::detail::Work::to_host);
  }
  prediction.predicted.copied = prediction.predicted.cuda + prediction.each;
  return prediction;
}

TERN_COLD void Placement::add_rows(std::string& out, bool product, const Curve& on_cpu, const Curve& on_cuda) {
  char row[128];
  const char* const unit = product ? "GFLOP/s" : "GB/s";
  std::snprintf(row, sizeof row, "%-16s %10s %10s %10s %10s\n", product ? "matmul, n x n" : "a + b, elements", "CPU ms",
                unit, "GPU ms", unit);
  out += row;
  for (std::size_t i = 0; i < on_cpu.points.size() || i < on_cuda.points.size(); ++i) {
    const double size = (i < on_cpu.points.size() ? on_cpu : on_cuda).points[i].size;
    std::snprintf(row, sizeof row, "%-16.0f", product ? std::cbrt(size / 2) : size);
    out += row;
    for (const Curve* const curve : {&on_cpu, &on_cuda}) {
      if (i >= curve->points.size()) {
        std::snprintf(row, sizeof row, " %10s %10s", "-", "-");
      } else {
        const double seconds = curve->points[i].seconds;
        std::snprintf(row, sizeof row, " %10.4f %10.1f", 1e3 * seconds, 1e-9 * (product ? size : 12 * size) / seconds);
      }
      out += row;
    }
    out += "\n";
  }
}

TERN_COLD Placement placement(PlacementOptions options, CallSite here) {
  return {machine(options.remeasure, {}, here)};
}

}}}  // namespace tern::profile
