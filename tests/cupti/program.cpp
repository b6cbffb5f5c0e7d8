// What tests/cupti/run runs on a device, with CUPTI for the ledger and with CUPTI for another profiler.
//   program work OUT N  copies and kernels of sizes between 4 bytes and 64 MB, N of each, and what the ledger has of
//   them, as JSON program epochs N FILE  epochs, of N batches, of a small network with a trace in a file and without,
//   in turn
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "tern/data/loader.hpp"
#include "tern/profile/trace.hpp"
#include "tern/tern.hpp"
#include "tern/profile/trace.hpp"
#include "tern/train/fit.hpp"

namespace {

using namespace tern;

/// The name under which injection.cpp counts the same.
std::string key_of(const cuda::detail::TimelineEntry& entry) {
  if (entry.work == detail::Work::kernel) return std::string("kernel ") + entry.name;
  return detail::text({entry.work == detail::Work::to_device ? "to device " : "to host ", Index(entry.bytes)});
}

/// Copies of each size both ways; to pageable memory, of 4 bytes less. Kernels that have one size each, so that their
/// names tell them apart.
void work(int repeats) {
  for (const Index bytes : {4, 4096, 401408, 1 << 20, 1 << 24, 1 << 26}) {
    const auto pageable = zeros<Cpu>({bytes / 4}), pinned = pageable.pin_memory();
    const auto there = pageable.cuda();
    for (int i = 0; i < repeats; ++i) {
      pinned.cuda_async().wait();
      there.cpu_async().wait();
      if (bytes > 4 && bytes <= 401408) there.narrow(0, 0, bytes / 4 - 1).cpu();
    }
  }
  const auto mega = full<Cuda>({1 << 18}, 0.5), large = full<Cuda>({1 << 24}, 0.5),
             matrix = full<Cuda>({1024, 1024}, 0.5);
  for (int i = 0; i < repeats; ++i) {
    exp(mega);     // 1 MB read, 1 MB written
    large* large;  // 64 MB read, 64 MB written
    sum(large.view({4096, 4096}), 1);
    softmax(matrix, 1);  // 4 MB
    matmul(matrix, matrix);
  }
  cuda::synchronize();
}

int write_work(const char* path, int repeats) {
  ledger::start();
  work(repeats);
  const auto page = cuda::detail::timeline().read();
  const ledger::Page summed = ledger::page();
  std::map<std::string, std::vector<double>> durations;
  Index kernels = 0, copies = 0, whole_copies = 0, records_of_kernels = 0, records_of_copies = 0, line_count = 0;
  double seconds = 0, line_seconds = 0, copy_seconds = 0, record_seconds = 0;
  for (const auto& entry : page.entries) {
    if (entry.work == detail::Work::wait) continue;
    ++(entry.work == detail::Work::kernel ? kernels : copies);
    if (entry.work != detail::Work::kernel) copy_seconds += entry.seconds, whole_copies += !entry.further;
    seconds += entry.seconds;
    durations[key_of(entry)].push_back(1e9 * entry.seconds);
  }
  for (const auto& record : cuda::detail::timeline().records()) {
    ++(record.work == detail::Work::kernel ? records_of_kernels : records_of_copies);
    record_seconds += 1e-9 * double(record.end - record.start);
  }
  for (const auto& line : summed.lines)
    if (line.work != detail::Work::wait) line_count += line.count, line_seconds += line.seconds;

  std::FILE* const out = std::fopen(path, "w");
  if (!out) Error::fail("program", {path, " cannot be written"});
  std::fprintf(out, "{\"no_records\": %s, \"cupti\": %s,\n", io::json_quoted(page.no_records).c_str(),
               io::json_quoted(cuda::detail::CuptiLibrary().library.path).c_str());
  std::fprintf(out, "\"kernels\": %lld, \"listed_kernels\": %lld, \"records_of_kernels\": %lld,\n", (long long)kernels,
               (long long)summed.kernels, (long long)records_of_kernels);
  std::fprintf(out, "\"copies\": %lld, \"records_of_copies\": %lld, \"whole_copies\": %lld, \"listed_copies\": %lld,\n",
               (long long)copies, (long long)records_of_copies, (long long)whole_copies, (long long)line_count);
  std::fprintf(out,
               "\"seconds\": %.12g, \"record_seconds\": %.12g, \"copy_seconds\": %.12g, \"line_seconds\": "
               "%.12g,\n\"durations\": {",
               seconds, record_seconds, copy_seconds, line_seconds);
  const char* separator = "\n";
  for (const auto& [key, all] : durations) {
    std::fprintf(out, "%s%s: [", separator, io::json_quoted(key).c_str());
    for (std::size_t i = 0; i < all.size(); ++i) std::fprintf(out, "%s%.1f", i ? ", " : "", all[i]);
    std::fputs("]", out);
    separator = ",\n";
  }
  std::fputs("}}\n", out);
  std::fclose(out);
  ledger::stop();
  return 0;
}

/// 784-128-10 on 60,000 samples, 64 at a time, as mnist's mlp_small.
struct Net : nn::Module<Cuda> {
  nn::Linear<Cuda> hidden{784, 128}, out{128, 10};
  TERN_FIELDS(Net, hidden, out)
  Tensor<Cuda> forward(const Tensor<Cuda>& x) { return out(relu(hidden(x))); }
};

/// Batches that a host has in pinned memory, and sends.
struct Batches {
  Index count;
  Tensor<Cpu> x = randn<Cpu>({64, 784}).pin_memory();
  Tensor<Cpu, Index> y = zeros<Cpu, Index>({64}).pin_memory();

  Index size() const { return count; }
  struct Iterator {
    const Batches* all;
    Index i;
    std::tuple<Tensor<Cuda>, Tensor<Cuda, Index>> batch = {};
    auto& operator*() { return batch = {all->x.cuda_async().wait(), all->y.cuda_async().wait()}; }
    Iterator& operator++() { return ++i, *this; }
    bool operator!=(const Iterator& other) const { return i != other.i; }
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, count}; }
};

int epochs(Index count, const char* trace) {
  Net net;
  optim::SGD sgd(net.parameters(), {.lr = 0.01});
  const Batches batches{count};
  double least[2] = {1e30, 1e30};
  train::EpochReport traced;
  for (int i = 0; i < 12; ++i) {
    if (i % 2) ledger::start();
    const train::Report report = train::fit(net, sgd, batches, {.epochs = 1});
    if (i % 2) ledger::write_trace(trace), ledger::stop();
    const train::EpochReport& epoch = report.epochs.back();
    if (i >= 2 && epoch.seconds < least[i % 2]) least[i % 2] = epoch.seconds;
    if (i % 2) traced = epoch;
  }
  const double parts = traced.forward_s + traced.backward_s + traced.optimizer_s + traced.captured_s + traced.other_s +
                       traced.transfer_s + traced.idle_s;
  std::printf(
      "{\"plain\": %.6g, \"traced\": %.6g, \"of_device\": %d, \"seconds\": %.6g, \"parts\": %.6g, \"forward\": %.6g, "
      "\"backward\": %.6g, "
      "\"optimizer\": %.6g, \"transfers\": %.6g, \"idle\": %.6g}\n",
      least[0], least[1], int(traced.of_device), traced.seconds, parts, traced.forward_s, traced.backward_s,
      traced.optimizer_s, traced.transfer_s, traced.idle_s);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 4 && std::strcmp(arguments[1], "work") == 0) return write_work(arguments[2], std::atoi(arguments[3]));
  if (count == 4 && std::strcmp(arguments[1], "epochs") == 0) return epochs(std::atoll(arguments[2]), arguments[3]);
  std::fprintf(stderr, "program is started by tests/cupti/run\n");
  return 2;
}
