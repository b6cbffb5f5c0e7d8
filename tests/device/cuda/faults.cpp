// Each of the library's calls into the driver, cuBLASLt, cuDNN and NVRTC fails once, in turn, during a small training:
// an Error that names the function, nothing leaked, and the same training then gives the right numbers.
#include <map>

#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/data/loader.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/nn/batch_norm.hpp"
#include "tern/nn/convolution.hpp"
#include "tern/nn/dropout.hpp"
#include "tern/nn/linear.hpp"
#include "tern/ops/activations.hpp"
#include "tern/ops/convolution.hpp"
#include "tern/ops/cross_entropy.hpp"
#include "tern/optim/adam.hpp"
#include "tern/profile/ledger.hpp"

namespace device_cuda_faults {
using namespace tern;
using namespace tern_test;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Conv2d<D, T> first{1, 2, 2},
      second{2, 2, 1, {.bias = false}};  // with and without a bias: two of cuDNN's functions
  nn::BatchNorm2d<D, T> norm{2};
  nn::Linear<D, T> hidden{4, 8}, out{8, 3};
  nn::Dropout<D, T> dropout{0.25};
  TERN_FIELDS(Net, first, second, norm, hidden, out, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& x) {
    const auto images = norm(second(first(x.view({-1, 1, 2, 3}))));
    return out(dropout(relu(hidden(images.flatten(1)))));
  }
};

struct Page {
  Page() { ledger::start(); }
  ~Page() { ledger::stop(); }
};

struct Searching {
  Searching() { cuda::benchmark(true); }
  ~Searching() { cuda::benchmark(false); }
};

/// A convolution and its gradients, whose engines are timed.
void search() {
  const Searching searching;
  const auto x = ones<Cuda>({1, 1, 3, 3}).requires_grad_(), weight = ones<Cuda>({1, 1, 2, 2}).requires_grad_();
  conv2d(x, weight).sum().backward();
}

/// A device is opened, so that the ledger has one to record: it takes one that cannot be opened for none. Then a
/// network is made and trained on batches that a worker copies ahead; a step is captured and replayed; then every other
/// way to copy, to wait and to ask is taken once, on two devices. The losses, and what came back.
std::vector<double> train() {
  const auto first = zeros<Cuda>({1});
  const Page page;
  manual_seed(1);
  Net<Cuda> net;
  optim::Adam adam(net.parameters(), {.lr = 0.01});
  const data::TensorDataset set(spread_tensor<Cpu, float>({8, 6}),
                                tensor_of<Cpu, std::int64_t>({0, 1, 2, 0, 2, 1, 1, 0}));
  std::vector<double> numbers;
  const auto step = [&](const Tensor<Cuda>& x, const Tensor<Cuda, std::int64_t>& y) {
    const auto loss = cross_entropy(net(x), y);
    adam.zero_grad();
    loss.backward();
    adam.step();
    return loss.detach();
  };
  const auto seen = zeros<Cuda>({4, 6});
  for (auto& [x, y] : data::loader<Cuda>(set, {.batch_size = 4, .shuffle = true, .num_workers = 1})) {
    numbers.push_back(step(x, y).item());
    seen.copy_(x);
  }
  cuda::Graph graph;
  const auto labels = zeros<Cuda, std::int64_t>({4});
  Tensor<Cuda> loss;
  graph.capture([&] { loss = step(seen, labels); });
  graph.replay();
  graph.replay();
  numbers.push_back(loss.item());
  const auto pinned = spread_tensor<Cpu, float>({2, 3, 3}).pin_memory();
  const auto there = pinned.cuda(1).cuda(0), product = matmul(pinned.cuda(), there + full<Cuda>({3, 3}, 0.5f));
  search();
  cuda::memory_stats();
  cuda::empty_cache();
  cuda::device_info();
  auto back = product.cpu_async();
  for (const double x : values_of(net.out.weight)) numbers.push_back(x);
  for (const double x : values_of(back.wait())) numbers.push_back(x);
  cuda::synchronize();
  ledger::lines();
  return numbers;
}

struct DriverCall {
  const char* function;
  int code;  // that it fails with; 0: its library's own
};
constexpr int unknown_error = 999;
#define TERN_FAULTS_DRIVER(name, result, arguments) {#name, unknown_error},
#define TERN_FAULTS_LIBRARY(name, result, arguments) {#name, 0},
constexpr DriverCall driver_calls[] = {TERN_CUDA_DRIVER_FUNCTIONS(TERN_FAULTS_DRIVER) TERN_NVRTC_FUNCTIONS(
    TERN_FAULTS_LIBRARY) TERN_CUBLASLT_FUNCTIONS(TERN_FAULTS_LIBRARY) TERN_CUDNN_FUNCTIONS(TERN_FAULTS_LIBRARY)
                                           TERN_CUDNN_GRAPH_FUNCTIONS(TERN_FAULTS_LIBRARY)};

/// Its failure is none: a context that is not known to be current is made current.
bool is_harmless(const DriverCall& call) { return std::string(call.function) == "cuCtxGetCurrent"; }

/// Its failure need be no error: where one engine of cuDNN makes no plan, the next one does. What comes of it is
/// checked all the same.
bool has_another(const DriverCall& call) { return std::string(call.function) == "cudnnBackendFinalize"; }

constexpr const char* kinds[] = {"context",     "memory",     "pinned",      "stream",          "event",      "module",
                                 "program",     "cublasLt",   "matmul desc", "matrix layout",   "preference", "cudnn",
                                 "tensor desc", "cudnn part", "graph",       "executable graph"};

/// What exists besides idle handles and the pinned blocks that are kept for reuse.
std::map<std::string, std::int64_t> census() {
  for (const int ordinal : {0, 1}) cuda::empty_cache({ordinal});
  std::map<std::string, std::int64_t> count;
  for (const char* kind : kinds) count[kind] = live_objects(kind);
  for (const cuda::detail::PinnedQueue& queue : cuda::detail::pinned_pool().free)
    for (const cuda::detail::PinnedBlock* block = queue.first; block; block = block->next) {
      --count["pinned"];
      for (const cuda::detail::PinnedUse* use = block->uses; use; use = use->next) --count["event"];
    }
  return count;
}

std::string difference(const std::map<std::string, std::int64_t>& now,
                       const std::map<std::string, std::int64_t>& before) {
  std::string text;
  for (const auto& [kind, count] : before)
    if (now.at(kind) != count)
      text += kind + ": " + std::to_string(now.at(kind)) + ", not " + std::to_string(count) + "; ";
  return text;
}

/// Trains while the nth call of a function fails. What is wrong with how it went; `reached` says whether there was an
/// nth call.
std::string fail_once(const DriverCall& call, std::uint64_t nth, bool& reached) {
  fail_call(call.function, nth, call.code);
  std::string error = error_of([] { train(); });
  reached = calls_of(call.function) >= nth;
  fail_call(nullptr, 0, 0);
  if (!reached) return error;
  if (error.empty()) error = error_of([] { cuda::synchronize(); });  // a release tells by the next call
  if (error.empty()) return has_another(call) ? "" : "no error";
  return error.find(call.function) == std::string::npos ? "an error that does not name it: " + error : "";
}

/// What is wrong after a failure.
std::string recovered(const std::vector<double>& expected) {
  std::vector<double> numbers;
  const std::string error = error_of([&] { numbers = train(); });
  if (!error.empty()) return "the next training fails: " + error;
  return numbers == expected ? "" : "the next training gives other numbers";
}

/// A new folder for compiled kernels.
std::string empty_folder() {
  std::string folder = std::filesystem::temp_directory_path() / "tern-faults-XXXXXX";
  REQUIRE(mkdtemp(folder.data()));
  return folder;
}

struct Count {
  int sites = 0, functions = 0;
  std::string wrong;
  void add(const DriverCall& call, std::uint64_t nth, const std::string& problem) {
    ++sites;
    functions += nth == 1;
    if (!problem.empty()) wrong += std::string(call.function) + ", call " + std::to_string(nth) + ": " + problem + "\n";
  }
};

void check(const std::string& test_case) {
  if (!is_emulated()) SKIP_TEST("the emulated driver fails on demand");
  const Ended ended = run_test_case(test_case, "TERN_EMULATOR=devices=2,quiet=1");
  INFO(ended.output);
  CHECK(ended.well);
  const std::size_t begin = ended.output.find("fault sites");
  if (begin != std::string::npos)
    std::printf("%s", ended.output.substr(begin, ended.output.find('\n', begin) + 1 - begin).c_str());
}

}  // namespace

TEST_CASE("every call of a training step fails once", "[cuda][long]") {
  check("in a new process: calls of a warm step fail");
}
TEST_CASE("every call of a process's first training step fails once", "[cuda][long]") {
  check("in a new process: calls of a cold step fail");
}

TEST_CASE("in a new process: calls of a warm step fail", "[.]") {
  const Ended ended = run_in_fork(
      [] {
        train();
        const std::vector<double> expected = train();
        auto before = census();
        Count count;
        for (const DriverCall& call : driver_calls) {
          if (is_harmless(call)) continue;
          for (std::uint64_t nth = 1;; ++nth) {
            bool reached = false;
            std::string problem = fail_once(call, nth, reached);
            if (!reached) break;
            const auto after = census();
            if (problem.empty()) problem = difference(after, before);
            before = after;
            if (problem.empty()) problem = recovered(expected);
            count.add(call, nth, problem);
          }
        }
        if (!count.wrong.empty()) throw std::runtime_error(count.wrong);
        return "fault sites of a warm step: " + std::to_string(count.sites) + " in " + std::to_string(count.functions) +
               " functions";
      },
      600);  // some thousand trainings
  std::printf("%s\n", ended.output.c_str());
  CHECK(ended.well);
}

TEST_CASE("in a new process: calls of a cold step fail", "[.]") {
  // What a process has after two trainings, and their numbers: from a process in which nothing fails.
  const auto end = [](const std::vector<double>& numbers) {
    std::string text;
    for (const auto& [kind, count] : census()) text += kind + " " + std::to_string(count) + ", ";
    for (const double x : numbers) text += std::to_string(x) + " ";
    return text;
  };
  const Ended clean = run_in_fork([&] {
    train();
    return end(train());
  });
  REQUIRE(clean.well);
  Count count;
  for (const DriverCall& call : driver_calls) {
    if (is_harmless(call)) continue;
    for (std::uint64_t nth = 1;; ++nth) {
      const std::string compiled = std::string(call.function).starts_with("nvrtc") ? empty_folder() : "";
      const Ended ended = run_in_fork([&] {
        if (!compiled.empty()) setenv("XDG_CACHE_HOME", compiled.c_str(), 1);
        bool reached = false;
        const std::string problem = fail_once(call, nth, reached);
        if (!reached) return problem.empty() ? "not reached" : "without a failure: " + problem;
        if (!problem.empty()) throw std::runtime_error(problem);
        train();
        return end(train());
      });
      if (!compiled.empty()) std::filesystem::remove_all(compiled);
      if (ended.output == "not reached") break;
      const bool same = ended.output == clean.output;
      count.add(call, nth, same ? "" : ended.output + (ended.well ? ", not " + clean.output : ""));
      if (!ended.well) break;
    }
  }
  std::printf("fault sites of a cold step: %d in %d functions\n%s", count.sites, count.functions, count.wrong.c_str());
  CHECK(count.wrong.empty());
}

}  // namespace device_cuda_faults
