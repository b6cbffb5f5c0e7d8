// What a graph is replayed from, and how a thread captures it.
#pragma once
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
struct TERN_API Captured {
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
class TERN_API GraphRegistry final : public MemoryOwner, public tern::detail::CapturedGraphs {
 public:
  static GraphRegistry& instance() {
    static GraphRegistry& registry = *new GraphRegistry;
    return registry;
  }
  /// From here on nothing that exists is freed before the graph.
  void hold(Captured& graph);
  void remove(Captured& graph);
  TERN_KEY void give_back(DeviceBlock block) override;
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

/// The source of a kernel that reads its words from memory: its parameter is where they are.
TERN_API std::string live_source(std::string source);

/// A capture under way on this thread.
class TERN_API Capturing final : public Capture {
 public:
  Capturing(Captured& captured, int ordinal);
  ~Capturing() {
    if (capture == this) end(nullptr);
    TERN_CUDA_RELEASE(cuStreamDestroy_v2, state_.compute);
    set_random_state(captured_.random);  // nothing has been drawn yet
  }
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;

  /// Makes the graph of what was captured.
  void finish();

  DeviceState& bind(int ordinal) override {
    if (ordinal != captured_.ordinal) fail("capture", {"a graph is of one device, cuda:", captured_.ordinal, ", not of cuda:", ordinal, " too"});
    TERN_CUDA(cuCtxSetCurrent, state_.context);
    return state_;
  }
  DeviceBlock allocate(std::size_t bytes) override { return captured_.pool->allocate(bytes); }

  TERN_KEY void launch(const LiveLaunch& launch, const std::string& source) override;
  TERN_KEY void repeat(void* object, void (*again)(void* object, Index item), Index item) override;
  bool is_replay() const override { return false; }

 private:
  /// The thread captures no more.
  Status end(CapturedGraph* graph);

  Captured& captured_;
  DeviceState state_;  // as this thread sees the device
};

}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "captured.ipp"
#endif
