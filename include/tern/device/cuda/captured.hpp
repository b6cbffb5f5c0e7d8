// What a graph is replayed from, and how a thread captures it.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../core/random.hpp"
#include "handle_pool.hpp"
#include "launch.hpp"
#include "private_pool.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// A step of an optimiser's parameter, which every replay repeats. Its launch is the one of that number.
struct Repeated {
  void* object;
  void (*again)(void* object, Index item);
  Index item;
  std::size_t launch;
};

/// A captured launch whose words are read from memory.
struct ReplayedLaunch {
  std::uint64_t key;
  std::size_t chunk, first;  // where its words are
  int count, numbers_at;      // as in LiveLaunch; 0: its words stay
};

/// Words of launches, and where the device reads them. One copy sends them all.
struct WordChunk {
  static constexpr std::size_t most = 8192;
  DeviceBlock device;
  std::vector<std::uint64_t> words;
};

/// What a graph is replayed from.
struct Captured {
  int ordinal = 0;
  PrivatePool* pool = nullptr;
  ExecutableGraph executable = nullptr;
  std::vector<WordChunk> chunks;
  std::vector<ReplayedLaunch> launches;
  std::vector<Repeated> repeated;
  RandomState random{};        // when the capture began
  std::uint64_t draws = 0;     // of the random sequence
  std::uint64_t age = 0;       // memory that is older may be used by the graph
  bool forgotten = false;      // an object of `repeated` is gone

  Captured() {}
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured();
};

/// The graphs that exist, and the memory that was freed although one of them may use it.
class GraphRegistry final : public MemoryOwner, public tern::detail::CapturedGraphs {
 public:
  static GraphRegistry& instance() {
    static GraphRegistry& registry = *new GraphRegistry;
    return registry;
  }
  /// From here on nothing that exists is freed before the graph.
  void hold(Captured& graph) {
    const std::lock_guard lock(mutex_);
    if (graph.age == 0) graphs_.push_back(&graph);
    graph.age = ++memory_age;
    live_graphs = this;
    tern::detail::captured_graphs = this;
    held_age = graph.age;
  }
  void remove(Captured& graph) {
    std::vector<DeviceBlock> freed;
    {
      const std::lock_guard lock(mutex_);
      std::erase(graphs_, &graph);
      std::uint64_t age = 0;
      for (const Captured* other : graphs_) age = std::max(age, other->age);
      held_age = age;
      const auto is_held = [&](const DeviceBlock& block) { return block.tag >> 9 < age; };
      const auto first = std::partition(blocks_.begin(), blocks_.end(), is_held);
      freed.assign(first, blocks_.end());
      blocks_.erase(first, blocks_.end());
    }
    for (const DeviceBlock& block : freed) deallocate(block);
  }
  void give_back(DeviceBlock block) override {
    {
      const std::lock_guard lock(mutex_);
      if (block.tag >> 9 < held_age) {
        blocks_.push_back(block);
        return;
      }
    }
    deallocate(block);
  }
  void repeat(Captured& graph, const Repeated& repeated) {
    const std::lock_guard lock(mutex_);
    graph.repeated.push_back(repeated);
  }
  void forget(const void* object) override {
    const std::lock_guard lock(mutex_);
    for (Captured* graph : graphs_)
      for (const Repeated& repeated : graph->repeated) graph->forgotten = graph->forgotten || repeated.object == object;
  }

 private:
  std::mutex mutex_;
  std::vector<Captured*> graphs_;
  std::vector<DeviceBlock> blocks_;
};

inline Captured::~Captured() {
  if (age) GraphRegistry::instance().remove(*this);
  if (executable) TERN_CUDA_RELEASE(cuGraphExecDestroy, executable);
  for (const WordChunk& chunk : chunks) pool->give_back(chunk.device);
  if (pool) pool->let_go();
}

/// The source of a kernel that reads its words from memory: its parameter is where they are.
[[gnu::noinline, gnu::cold]] inline std::string live_source(std::string source) {
  const std::size_t begin = source.rfind("(const Words<"), end = source.find("> p) {", begin);
  if (begin == source.npos || end == source.npos) fail("cuda", {"a kernel whose words are not its parameter cannot be captured\n", source});
  const std::string type = source.substr(begin + 1, end - begin);  // const Words<n>
  return source.replace(begin, end + 6 - begin, "(" + type + "* live) {\n  " + type + "& p = *live;\n");
}

/// A capture under way on this thread.
class Capturing final : public Capture {
 public:
  Capturing(Captured& captured, int ordinal) : captured_(captured), state_(detail::bind(ordinal)) {
    if (capture) fail("capture", {"the thread is capturing already"});
    HandlePool::prepare_all(ordinal);
    captured_.ordinal = ordinal;
    captured_.pool = new PrivatePool(ordinal);
    captured_.random = random_state();
    TERN_CUDA(cuStreamCreate, &state_.compute, stream_non_blocking);
    state_.copy = nullptr;
    if (const Status status = driver().functions.cuStreamBeginCapture_v2(state_.compute, capture_relaxed)) {
      TERN_CUDA_RELEASE(cuStreamDestroy_v2, state_.compute);
      refuse("cuStreamBeginCapture_v2", status);
    }
    GraphRegistry::instance().hold(captured_);
    bound_ordinal = -1;
    set_capture(this);
  }
  ~Capturing() {
    if (capture == this) end(nullptr);
    TERN_CUDA_RELEASE(cuStreamDestroy_v2, state_.compute);
    set_random_state(captured_.random);  // nothing has been drawn yet
  }
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;

  /// Makes the graph of what was captured.
  void finish() {
    const RandomState random = random_state();
    if (random.seed != captured_.random.seed || random.stream < captured_.random.stream)
      fail("capture", {"the random sequence was set anew; manual_seed() belongs before the capture"});
    captured_.draws = random.stream - captured_.random.stream;
    struct Nodes {
      CapturedGraph handle = nullptr;
      ~Nodes() {
        if (handle) TERN_CUDA_RELEASE(cuGraphDestroy, handle);
      }
    } nodes;
    if (const Status status = end(&nodes.handle)) refuse("cuStreamEndCapture", status);
    TERN_CUDA(cuGraphInstantiateWithFlags, &captured_.executable, nodes.handle, 0);
    GraphRegistry::instance().hold(captured_);
  }

  DeviceState& bind(int ordinal) override {
    if (ordinal != captured_.ordinal) fail("capture", {"a graph is of one device, cuda:", captured_.ordinal, ", not of cuda:", ordinal, " too"});
    TERN_CUDA(cuCtxSetCurrent, state_.context);
    return state_;
  }
  DeviceBlock allocate(std::size_t bytes) override { return captured_.pool->allocate(bytes); }

  void launch(const LiveLaunch& launch, const std::string& source) override {
    bind(launch.ordinal);
    std::vector<WordChunk>& chunks = captured_.chunks;
    const auto count = std::size_t(launch.count);
    if (chunks.empty() || chunks.back().words.size() + count > WordChunk::most)
      chunks.push_back({captured_.pool->allocate_untouched(WordChunk::most * sizeof(std::uint64_t)), {}});
    std::vector<std::uint64_t>& words = chunks.back().words;
    const bool random = launch.numbers_at == random_words;
    const bool drawn_before = random && (launch.words[1] != captured_.random.seed || launch.words[2] < captured_.random.stream);
    captured_.launches.push_back({launch.key, chunks.size() - 1, words.size(), launch.count, drawn_before ? 0 : launch.numbers_at});
    DevicePointer at = chunks.back().device.memory + words.size() * sizeof(std::uint64_t);
    words.insert(words.end(), launch.words, launch.words + count);

    constexpr std::uint64_t live = 0x6C697665;  // the kernel that reads its words from memory
    Function function = kernels(launch.ordinal).find(launch.key ^ live);
    if (!function) function = load_kernel(state_, launch.ordinal, launch.key ^ live, launch.name, live_source(source));
    void* parameters[] = {&at};
    TERN_CUDA(cuLaunchKernel, function, unsigned(launch.grid.blocks), 1, 1, unsigned(launch.grid.threads), 1, 1, 0, state_.compute,
              parameters, nullptr);
  }
  void repeat(void* object, void (*again)(void* object, Index item), Index item) override {
    std::vector<ReplayedLaunch>& launches = captured_.launches;
    const std::size_t next = captured_.repeated.empty() ? 0 : captured_.repeated.back().launch + 1;
    if (launches.size() <= next || launches.back().numbers_at <= 0)
      fail("step", {"the parameter is not on cuda:", captured_.ordinal, ", whose work is captured"});
    GraphRegistry::instance().repeat(captured_, {object, again, item, launches.size() - 1});
  }
  bool is_replay() const override { return false; }

 private:
  /// The thread captures no more.
  Status end(CapturedGraph* graph) {
    set_capture(nullptr);
    CapturedGraph unwanted = nullptr;
    const Status status = driver().functions.cuStreamEndCapture(state_.compute, graph ? graph : &unwanted);
    if (unwanted) TERN_CUDA_RELEASE(cuGraphDestroy, unwanted);
    return status;
  }

  Captured& captured_;
  DeviceState state_;  // as this thread sees the device
};

}  // namespace tern::cuda::detail
