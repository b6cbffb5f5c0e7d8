// The functions of machine.hpp that are not templates.
#pragma once
#include <algorithm>

#include "machine.hpp"

namespace tern { inline namespace TERN_BUILD { namespace profile::measuring {

TERN_COLD double seconds_of(bool on_device, void (*run)(const void* f, int times), const void* f, int times) {
  if (!on_device) {
    const double start = tern::detail::now();
    run(f, times);
    return tern::detail::now() - start;
  }
  const cuda::StreamHandle stream = cuda::detail::bind(cuda::current_device()).compute;
  const TimedEvent begin, end;
  TERN_CUDA(cuEventRecord, begin.event, stream);
  run(f, times);
  TERN_CUDA(cuEventRecord, end.event, stream);
  TERN_CUDA(cuEventSynchronize, end.event);
  float milliseconds = 0;
  TERN_CUDA(cuEventElapsedTime, &milliseconds, begin.event, end.event);
  return 1e-3 * double(milliseconds);
}

TERN_COLD Measurement measure_warm(bool on_device, void (*run)(const void* f, int times), const void* f) {
  seconds_of(on_device, run, f, 1);
  const double start = tern::detail::now();
  double least = seconds_of(on_device, run, f, 1);
  const double took = tern::detail::now() - start;  // on an emulated device far more than its own seconds
  const int times = took < 25e-6 ? 20 : took < 500e-6 ? int(500e-6 / took) : 1;
  const int fewest = took < 50e-3 ? 4 : 2;
  for (int tries = 0; tries < fewest || (tries < 50 && tern::detail::now() - start < 50e-3); ++tries) {
    const double seconds = seconds_of(on_device, run, f, times) / times;
    if (seconds < least) least = seconds;
  }
  return {least > 1e-12 ? least : 1e-12, tern::detail::now() - start};
}

TERN_COLD void time_queueing(double (&seconds)[3]) {
  using tern::detail::device_events;
  const int device = cuda::current_device();
  // 16 ops in a chain and their gradients: 48 products or convolutions, or kernels all of one kind. What is no product
  // takes a pass's seconds.
  const auto time = [&](const Tensor<Cpu>& first, const Tensor<Cpu>& second, double pass, const auto& op) {
    const auto x = first.cuda(device).requires_grad_(), w = second.cuda(device).requires_grad_(),
               g = first.cuda(device);
    const auto run = [&] {
      x.set_grad({}), w.set_grad({});
      Tensor<Cuda> y = x;
      for (int i = 0; i < 16; ++i) y = op(y, w);
      y.backward(g);
    };
    run();
    double least = HUGE_VAL;
    for (int tries = 0; tries < 20; ++tries) {
      cuda::synchronize(Cuda{device});
      const std::int64_t kernels = device_events.count[int(tern::detail::Work::kernel)],
                         products = device_events.products;
      const double start = tern::detail::now();
      run();
      const double passed = tern::detail::now() - start, made = double(device_events.products - products),
                   others = double(device_events.count[int(tern::detail::Work::kernel)] - kernels) - made;
      least = std::min(least, made > 0 ? (passed - others * pass) / made : passed / others);
    }
    return least;
  };
  const double pass = time(ones<Cpu>({1024}), ones<Cpu>({1024}), 0, [](const auto& y, const auto& w) { return y * w; });
  seconds[int(tern::detail::Effort::pass)] = pass;
  seconds[int(tern::detail::Effort::product)] =
      std::max(pass, time(ones<Cpu>({32, 32}), ones<Cpu>({32, 32}), pass,
                          [](const auto& y, const auto& w) { return tern::matmul(y, w); }));
  const auto image = ones<Cpu>({2, 4, 8, 8}).contiguous(channels_last);
  seconds[int(tern::detail::Effort::convolution)] =
      std::max(pass, time(image, ones<Cpu>({4, 4, 3, 3}), pass,
                          [](const auto& y, const auto& w) { return conv2d(y, w, {}, {.padding = 1}); }));
  cuda::synchronize(Cuda{device});
}

TERN_COLD Times time_matmul(Index m, Index n, Index k, int parts) {
  const NoGradGuard off;
  Times times;
  const Tensor<Cpu> a = ones<Cpu>({m, k}), b = ones<Cpu>({k, n});
  if (parts & on_cpu) times.cpu = least_seconds(false, [&] { tern::matmul(a, b); });
  if (!(parts & (on_cuda | with_copies))) return times;
  const int device = cuda::current_device();
  const Tensor<Cuda> x = a.cuda(device), y = b.cuda(device);
  if (parts & on_cuda) times.cuda = least_seconds(true, [&] { tern::matmul(x, y); });
  if (parts & with_copies)
    times.copied = least_seconds(true, [&] { tern::matmul(a.cuda(device), b.cuda(device)).cpu(); });
  return times;
}

TERN_COLD Times time_sum(Index n, int parts) {
  const NoGradGuard off;
  Times times;
  const Tensor<Cpu> a = ones<Cpu>({n}), b = ones<Cpu>({n});
  if (parts & on_cpu) times.cpu = least_seconds(false, [&] { a + b; });
  if (!(parts & (on_cuda | with_copies))) return times;
  const int device = cuda::current_device();
  const Tensor<Cuda> x = a.cuda(device), y = b.cuda(device);
  if (parts & on_cuda) times.cuda = least_seconds(true, [&] { x + y; });
  if (parts & with_copies) times.copied = least_seconds(true, [&] { (a.cuda(device) + b.cuda(device)).cpu(); });
  return times;
}

}}}  // namespace tern::profile::measuring

namespace tern { inline namespace TERN_BUILD { namespace profile {

TERN_COLD void measure(Machine& machine, const MeasureOptions& options) {
  const auto operations = [](double n) { return 2 * n * n * n; };
  const auto itself = [](double n) { return n; };
  const auto measure_on = [&]<Device D>(D device, Curve& products, Curve& sums, Curve& convolutions) {
    constexpr bool on_device = !HostDevice<D>;
    measuring::measure_curve(products, options.matmul, options.longest, on_device, operations, [=](Index n) {
      return [a = ones<Cpu>({n, n}).to(device), b = ones<Cpu>({n, n}).to(device)] { tern::matmul(a, b); };
    });
    // The three kinds of a small residual network: 16 channels of 32 x 32 pixels, 32 of 16 x 16, 64 of 8 x 8. Along a
    // side 3 s - 2 pairs of a pixel and a weight lie within the image.
    const auto mean_operations = [](double n) {
      return 2 * n * (16 * 16 * 94 * 94 + 32 * 32 * 46 * 46 + 64 * 64 * 22 * 22) / 3;
    };
    measuring::measure_curve(
        convolutions, options.convolution, options.longest, on_device, mean_operations, [=](Index n) {
          struct Layer {
            Tensor<D> x, w, g;
          };
          std::vector<Layer> layers;
          for (const Index channels : {16, 32, 64}) {
            const Index side = 512 / channels;
            const auto images = [=] {
              return ones<Cpu>({n, channels, side, side}).contiguous(channels_last).to(device);
            };
            layers.push_back({images().requires_grad_(),
                              ones<Cpu>({channels, channels, 3, 3}).to(device).requires_grad_(), images()});
          }
          return [layers] {
            for (const Layer& layer : layers) {
              layer.x.set_grad({}), layer.w.set_grad({});
              conv2d(layer.x, layer.w, {}, {.padding = 1}).backward(layer.g);
            }
          };
        });
    for (Curve::Point& point : convolutions.points) point.seconds /= 9;
    measuring::measure_curve(sums, options.elementwise, options.longest, on_device, itself, [=](Index n) {
      return [a = ones<Cpu>({n}).to(device), b = ones<Cpu>({n}).to(device)] { a + b; };
    });
  };
  measure_on(Cpu{}, machine.cpu_matmul, machine.cpu_elementwise, machine.cpu_convolution);
  if (!machine.why_not.empty()) return;
  const int ordinal = cuda::current_device();
  measure_on(Cuda{ordinal}, machine.cuda_matmul, machine.cuda_elementwise, machine.cuda_convolution);
  measuring::time_queueing(machine.queueing);
  for (const bool pinned : {false, true}) {
    const auto host = [=](Index bytes) {
      const Tensor<Cpu, std::uint8_t> pageable = zeros<Cpu, std::uint8_t>({bytes});
      return pinned ? pageable.pin_memory() : pageable;
    };
    measuring::measure_curve(
        machine.copies[0][pinned], options.copies, options.longest, true, itself, [=](Index bytes) {
          return [=, from = host(bytes)] { pinned ? from.cuda_async(ordinal).wait() : from.cuda(ordinal); };
        });
    measuring::measure_curve(
        machine.copies[1][pinned], options.copies, options.longest, true, itself, [=](Index bytes) {
          return [=, from = host(bytes).cuda(ordinal)] { pinned ? from.cpu_async().wait() : from.cpu(); };
        });
  }
}

}}}  // namespace tern::profile

namespace tern { inline namespace TERN_BUILD { namespace profile::measuring {

TERN_COLD std::string cpu_name() {
  std::string name = "CPU";
  if (std::FILE* const file = std::fopen("/proc/cpuinfo", "r")) {
    char line[256], text[192];
    while (std::fgets(line, sizeof line, file))
      if (std::sscanf(line, "model name : %191[^\n]", text) == 1) {
        name = text;
        break;
      }
    std::fclose(file);
  }
  return name;
}

TERN_COLD std::vector<Curve*> curves_of(Machine& machine) {
  std::vector<Curve*> curves{&machine.cpu_matmul,  &machine.cpu_elementwise,  &machine.cpu_convolution,
                             &machine.cuda_matmul, &machine.cuda_elementwise, &machine.cuda_convolution};
  for (auto& way : machine.copies)
    for (Curve& curve : way) curves.push_back(&curve);
  return curves;
}

TERN_COLD std::string curves_text(Machine& machine) {
  char number[64];
  std::string out;
  for (const double seconds : machine.queueing) {
    std::snprintf(number, sizeof number, "%.17g\n", std::isnan(seconds) ? 0 : seconds);
    out += number;
  }
  for (const Curve* const curve : curves_of(machine)) {
    out += tern::detail::text({Index(curve->points.size())});
    for (const Curve::Point& point : curve->points) {
      std::snprintf(number, sizeof number, " %.17g %.17g", point.size, point.seconds);
      out += number;
    }
    out += "\n";
  }
  return out;
}

TERN_COLD bool read_curves(Machine& machine, const char* text) {
  const auto number = [&text](double least) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    const bool is_one = end != text && value >= least && value < HUGE_VAL;
    text = end;
    return is_one ? value : -1;
  };
  for (double& seconds : machine.queueing) {
    const double kept = number(0);
    if (kept < 0) return false;
    seconds = kept > 0 ? kept : not_measured;
  }
  for (Curve* const curve : curves_of(machine)) {
    const double count = number(0);
    if (!(count == 0 || (count >= double(Curve::fewest) && count <= 100))) return false;
    curve->points.clear();
    for (int i = 0; i < int(count); ++i) {
      const double size = number(1), seconds = number(1e-12);
      if (size < 0 || seconds < 0 || (i && size <= curve->points.back().size)) return false;
      curve->points.push_back({size, seconds});
    }
  }
  const bool complete = machine.why_not.empty() == !machine.cuda_matmul.points.empty();
  return complete && !machine.cpu_matmul.points.empty() && std::string(text) == "\n";
}

}}}  // namespace tern::profile::measuring

namespace tern { inline namespace TERN_BUILD { namespace profile {

TERN_COLD Machine machine(bool remeasure, const MeasureOptions& options, CallSite here) {
  const CallScope scope(here);
  Machine machine;
  machine.cpu =
      tern::detail::text({measuring::cpu_name(), ", ", get_num_threads(),
                          get_num_threads() == 1 ? " thread, " : " threads, ", tern::build_info().instruction_set});
  machine.why_not = cuda::why_not();
  std::string key = tern::detail::text({"tern placement 2\n", machine.cpu, "\n"});
  if (machine.why_not.empty()) {
    const cuda::DeviceInfo device = cuda::device_info(cuda::current_device());
    machine.cuda = device.name;
    key += tern::detail::text({device.name, ", driver for CUDA ", device.driver_version, "\n"});
  }
  std::string folder;
  if (const char* const cache = std::getenv("XDG_CACHE_HOME")) folder = cache;
  else if (const char* const home = std::getenv("HOME")) folder = std::string(home) + "/.cache";
  char name[40];
  std::snprintf(name, sizeof name, "/tern/placement-%016llx",
                static_cast<unsigned long long>(cuda::detail::hash_text(key)));
  const std::string path = folder + name;
  if (!remeasure && !folder.empty()) {
    const std::string kept = cuda::detail::read_file(path);
    if (kept.starts_with(key) && measuring::read_curves(machine, kept.c_str() + key.size())) return machine;
  }
  measure(machine, options);
  if (!folder.empty()) try {
      io::make_folders(folder + "/tern");
      io::write_file_atomically(path, key + measuring::curves_text(machine));
    } catch (const Error&) {  // if they cannot be stored, the next call measures again
    }
  return machine;
}

}}}  // namespace tern::profile
