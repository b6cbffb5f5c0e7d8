// What a graph needs for its replay, and how a thread captures it.
#pragma once
#include "../../core/random.hpp"
#include "handle_pool.hpp"
#include "launch.hpp"
#include "private_pool.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// An optimiser's step for some parameters, which every replay repeats. `launch` is the number of its first launch.
struct Repeated {
  void* object;
  void (*again)(void* object, const Index* items, Index count);
  std::vector<Index> items;
  std::size_t launch;
};

/// A captured launch that reads its words from memory.
struct ReplayedLaunch {
  std::uint64_t key;
  std::size_t chunk, first;  // the position of its words
  int count, numbers_at;     // as in LiveLaunch; count 0: its words do not change
};

/// The words of some launches, and the device memory that the kernels read them from. One copy sends them all.
struct WordChunk {
  static constexpr std::size_t most = 8192;
  DeviceBlock device;
  std::vector<std::uint64_t> words;
};

/// Everything that a replay needs.
struct TERN_API CapturedWork {
  int ordinal = 0;
  PrivatePool* pool = nullptr;
  ExecutableGraph executable = nullptr;
  std::vector<WordChunk> chunks;
  std::vector<ReplayedLaunch> launches;
  std::vector<Repeated> repeated;
  RandomState random{};         // at the beginning of the capture
  std::uint64_t draws = 0;      // streams of random numbers that the graph takes
  std::uint64_t age = 0;        // the graph may use memory of a smaller age
  StreamHandle last = nullptr;  // the stream of the last replay
  bool forgotten = false;       // true if an object of `repeated` is gone

  CapturedWork() {}
  CapturedWork(const CapturedWork&) = delete;
  CapturedWork& operator=(const CapturedWork&) = delete;
  ~CapturedWork();
};

/// The graphs that exist, and memory that was freed while one of them may still use it.
class TERN_API GraphRegistry final : public MemoryOwner, public tern::detail::CapturedGraphs {
 public:
  static GraphRegistry& instance();
  /// Keeps all memory that exists now until the graph is gone.
  void hold(CapturedWork& graph);
  void remove(CapturedWork& graph);
  TERN_KEY void give_back(DeviceBlock block) override;
  void repeat(CapturedWork& graph, Repeated&& repeated) {
    const std::lock_guard lock(mutex_);
    graph.repeated.push_back(std::move(repeated));
  }
  void forget(const void* object) override {
    const std::lock_guard lock(mutex_);
    for (CapturedWork* graph : graphs_)
      for (const Repeated& repeated : graph->repeated) graph->forgotten = graph->forgotten || repeated.object == object;
  }

 private:
  std::mutex mutex_;
  std::vector<CapturedWork*> graphs_;
  std::vector<DeviceBlock> blocks_;
};

/// The source of a kernel that takes Words (backend/cuda/codegen/source.hpp), compiled to read them from memory: its
/// only parameter is their address.
inline std::string live_source(const std::string& source) { return "#define TERN_LIVE_WORDS\n" + source; }

/// A capture on this thread.
class TERN_API StreamCapture final : public CudaCapture {
 public:
  StreamCapture(CapturedWork& captured, int ordinal);
  ~StreamCapture() {
    if (capture == this) end(nullptr);
    TERN_CUDA_RELEASE(cuStreamDestroy_v2, state_.compute);
    set_random_state(captured_.random);  // the capture has drawn nothing yet
  }
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;

  /// Makes the graph from the captured work.
  void finish();

  DeviceState& bind(int ordinal) override {
    if (ordinal != captured_.ordinal)
      Error::fail("capture", {"a graph has one device, cuda:", captured_.ordinal, ", and cannot use cuda:", ordinal});
    if (current_context() != state_.context) TERN_CUDA(cuCtxSetCurrent, state_.context);
    return state_;
  }
  DeviceBlock allocate(std::size_t bytes) override { return captured_.pool->allocate(bytes); }

  TERN_KEY void launch(const LiveLaunch& launch, const std::string& source) override;
  void begin_repeated() override { first_repeated_ = captured_.launches.size(); }
  TERN_KEY void repeat(void* object, void (*again)(void* object, const Index* items, Index count), const Index* items,
                       Index count) override;
  bool is_replay() const override { return false; }

 private:
  /// Ends the thread's capture.
  DriverStatus end(CapturedGraph* graph);

  CapturedWork& captured_;
  DeviceState state_;               // the device as this thread sees it
  std::size_t first_repeated_ = 0;  // launch
};

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "captured.ipp"
#endif
