// Graphs: what a thread starts on a device while it captures is kept, and replayed as one.
#pragma once
#include <algorithm>
#include <utility>

#include "../../core/random.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "pinned.hpp"

namespace tern::cuda {

namespace detail {

/// A graph's own memory. What is freed while it captures is used again by what it captures later; what tensors still hold then is theirs as
/// long as they want.
class PrivatePool final : public MemoryOwner {
 public:
  explicit PrivatePool(int ordinal) : ordinal_(ordinal) {}

  /// Memory that the device's own stream allocates: not part of the graph, and there before its first replay.
  DeviceBlock allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Piece* best = nullptr;
    for (Piece& piece : pieces_)
      if (!piece.held && piece.bytes >= bytes && (!best || piece.bytes < best->bytes)) best = &piece;
    if (!best) return add(bytes);
    best->held = true;
    return {best->memory, tag_of(this)};
  }
  /// Memory that nothing captured before has used: what is written to it before a replay is there all through it.
  DeviceBlock allocate_untouched(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    return add(bytes);
  }
  void give_back(DeviceBlock block) override {
    {
      const std::lock_guard lock(mutex_);
      for (Piece& piece : pieces_)
        if (piece.memory == block.memory) piece.held = false;
      if (has_graph_ || is_held()) return;
    }
    destroy();
  }
  /// The graph is gone; the memory goes with the last tensor in it.
  void let_go() {
    {
      const std::lock_guard lock(mutex_);
      has_graph_ = false;
      if (is_held()) return;
    }
    destroy();
  }

 private:
  struct Piece {
    DevicePointer memory;
    std::size_t bytes;
    bool held;  // by a tensor, or by work that is being captured
  };
  DeviceBlock add(std::size_t bytes) {
    const std::size_t whole = memory::class_bytes(memory::class_of(bytes));
    DevicePointer memory = 0;
    TERN_CUDA(cuMemAllocAsync, &memory, whole, system().devices[std::size_t(ordinal_)]->compute);
    pieces_.push_back({memory, whole, true});
    return {memory, tag_of(this)};
  }
  bool is_held() const {
    return std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) { return piece.held; });
  }
  void destroy() {
    const DeviceState& state = bind_for_release(ordinal_);
    for (const Piece& piece : pieces_) TERN_CUDA_RELEASE(cuMemFreeAsync, piece.memory, state.compute);
    delete this;
  }

  const int ordinal_;
  std::mutex mutex_;
  std::vector<Piece> pieces_;
  bool has_graph_ = true;
};

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

  Captured() = default;
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured();
};

/// The graphs that exist, and the memory that was freed although one of them may use it.
class GraphRegistry final : public LiveGraphs {
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
    capture = this;
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
    captured_.repeated.push_back({object, again, item, launches.size() - 1});
  }
  bool is_replay() const override { return false; }

 private:
  /// The thread captures no more.
  Status end(CapturedGraph* graph) {
    capture = nullptr;
    CapturedGraph unwanted = nullptr;
    const Status status = driver().functions.cuStreamEndCapture(state_.compute, graph ? graph : &unwanted);
    if (unwanted) TERN_CUDA_RELEASE(cuGraphDestroy, unwanted);
    return status;
  }

  Captured& captured_;
  DeviceState state_;  // as this thread sees the device
};

/// Takes an optimiser's numbers for the next replay instead of launching.
class Refill final : public Capture {
 public:
  explicit Refill(Captured& captured) : captured_(captured) { capture = this; }
  ~Refill() { capture = nullptr; }

  void step(const Repeated& repeated) {
    current_ = &captured_.launches[repeated.launch];
    repeated.again(repeated.object, repeated.item);
  }
  DeviceState& bind(int ordinal) override { return *system().devices[std::size_t(ordinal)]; }
  DeviceBlock allocate(std::size_t) override { fail("replay", {"an optimiser's step needs memory"}); }
  void launch(const LiveLaunch& launch, const std::string&) override {
    if (launch.key != current_->key || launch.count != current_->count || launch.numbers_at != current_->numbers_at)
      fail("replay", {"the optimiser's rule is another one than was captured, momentum where there was none say: capture again"});
    const std::size_t first = current_->first + std::size_t(launch.numbers_at);
    std::copy(launch.words + launch.numbers_at, launch.words + launch.count, captured_.chunks[current_->chunk].words.begin() + Index(first));
  }
  void repeat(void*, void (*)(void*, Index), Index) override {}
  bool is_replay() const override { return true; }

 private:
  Captured& captured_;
  const ReplayedLaunch* current_ = nullptr;
};

}  // namespace detail

/// Work of one device, captured once and started any number of times for the price of one call: torch.cuda.CUDAGraph.
///
/// It reads and writes the tensors that it was captured with: overwrite inputs with copy_() before a replay. Each replay draws new random
/// numbers and is a new step of the optimisers in it, at their present rates. Memory that existed at the capture is not freed before
/// the graph.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Captures what step() starts on the thread's device; nothing of it runs yet, so the values of tensors that it makes come with the first
  /// replay. What the graph was before is gone. Error, and no graph, where step() copies from or to the host, waits, or takes an
  /// optimiser's first step.
  template <class F>
  void capture(F&& step, Here here = {}) {
    const Site at(here);
    captured_.reset();
    auto captured = std::make_unique<detail::Captured>();
    {
      detail::Capturing capturing(*captured, current_device());
      step();
      capturing.finish();
    }
    captured_ = std::move(captured);
  }

  /// Starts it all again, in order with the device's other work. Does not wait; sends the numbers that are new in one copy.
  [[gnu::noinline]] void replay(Here here = {}) {
    const Site at(here);
    detail::refuse_capture("replay", "a graph is no part of another");
    if (!captured_) fail("replay", {"nothing has been captured"});
    detail::Captured& graph = *captured_;
    if (graph.forgotten) fail("replay", {"an optimiser of the captured step is gone, or has loaded a state: capture again"});
    const detail::DeviceState& state = detail::bind(graph.ordinal);
    {
      detail::Refill refill(graph);
      for (const detail::Repeated& repeated : graph.repeated) refill.step(repeated);
    }
    const std::uint64_t stream = tern::detail::random_stream.fetch_add(graph.draws);
    for (const detail::ReplayedLaunch& launch : graph.launches) {
      std::uint64_t* const words = graph.chunks[launch.chunk].words.data() + launch.first;
      if (launch.numbers_at != detail::random_words) continue;
      words[1] = tern::detail::random_seed;
      words[2] += stream - graph.random.stream;
    }
    graph.random.stream = stream;
    for (const detail::WordChunk& chunk : graph.chunks)
      detail::copy_to_device(graph.ordinal, reinterpret_cast<void*>(chunk.device.memory), chunk.words.data(),
                             chunk.words.size() * sizeof(std::uint64_t));
    const detail::Span span(Work::kernel, "graph", graph.ordinal, state.compute);
    TERN_CUDA(cuGraphLaunch, graph.executable, state.compute);
  }

 private:
  std::unique_ptr<detail::Captured> captured_;
};

}  // namespace tern::cuda
