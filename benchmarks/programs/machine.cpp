// What the studies of ./benchmarks/run study ask of the machine, as a line of JSON:
//   machine parts           its processor, threads, memory and GPU
//   machine limits DEVICE   the most that the device computes in a second, in float and bfloat16, and moves from and to
//   its memory
#include <tern/io/json.hpp>
#include <tern/profile/flops.hpp>
#include <tern/profile/machine.hpp>
#include <tern/tensor/with_device.hpp>
#include <tern/tern.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace {

using namespace tern;

void print_parts() {
  const bool has_gpu = cuda::is_available();
  io::Json json;
  json.object();
  json.member("processor", profile::measuring::cpu_name()), json.member("threads", get_num_threads());
  json.member("instruction_set", build_info().instruction_set), json.member("compiler", __VERSION__);
  json.member("memory_bytes", Index(sysconf(_SC_PHYS_PAGES)) * Index(sysconf(_SC_PAGESIZE)));
  json.member("gpu", has_gpu ? cuda::device_info().name : std::string()),
      json.member("why_no_gpu", has_gpu ? std::string() : cuda::why_not());
  json.member("gpu_memory_bytes", has_gpu ? Index(cuda::device_info().memory_bytes) : Index(0));
  json.end();
  std::printf("%s\n", json.text().c_str());
}

/// The operations a second of the fastest product of two matrices.
template <Device D, class T>
double product_rate(std::initializer_list<Index> sizes) {
  double best = 0;
  for (const Index n : sizes) {
    const auto a = randn<D>({n, n}).to(dtype<T>);
    best = std::max(best, 2.0 * double(n) * double(n) * double(n) /
                              profile::measuring::least_seconds(!HostDevice<D>, [&] { matmul(a, a); }));
  }
  return best;
}

template <Device D>
void print_limits(std::initializer_list<Index> products, Index elements) {
  const NoGradGuard off;
  double in_float = product_rate<D, float>(products);
  if constexpr (HostDevice<D>)
    for (int i = 0; i < 5; ++i) in_float = std::max(in_float, profile::peak_flops());
  const auto x = ones<D>({elements}), y = empty_like(x);
  const double bytes = double(elements) * sizeof(float);
  const auto least = [](const auto& f) { return profile::measuring::least_seconds(!HostDevice<D>, f); };
  const double reading = bytes / least([&] { x.sum(); }), copying = 2 * bytes / least([&] { y.copy_(x); });
  io::Json json;
  json.object();
  json.member("float32", in_float), json.member("bfloat16", product_rate<D, bfloat16>(products)),
      json.member("memory", std::max(reading, copying));
  json.end();
  std::printf("%s\n", json.text().c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string question = argc > 1 ? argv[1] : "", device = argc > 2 ? argv[2] : "";
  if (question == "parts" && argc == 2) return print_parts(), 0;
  if (question == "limits" && device == "cpu") return print_limits<Cpu>({1024, 2048, 4096}, Index(1) << 26), 0;
  if (question == "limits" && device == "cuda") {
    // What an emulated card computes, the host does.
    const bool emulated = cuda::device_info().name == "Emulated GPU";
    return (emulated ? print_limits<Cuda>({256}, Index(1) << 20)
                     : print_limits<Cuda>({2048, 4096, 8192}, Index(1) << 28)),
           0;
  }
  std::fprintf(stderr, "machine: parts, or limits cpu or cuda\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
