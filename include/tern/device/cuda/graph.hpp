// Graphs: what a thread starts on a device while it captures is kept, and replayed as one.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <utility>

#include "captured.hpp"
#include "pinned.hpp"

namespace tern::inline TERN_BUILD::cuda {

namespace detail {

/// Takes an optimiser's numbers for the next replay instead of launching.
class Refill final : public Capture {
 public:
  explicit Refill(Captured& captured) : captured_(captured) { set_capture(this); }
  ~Refill() { set_capture(nullptr); }

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
/// the graph. What a replay writes is not seen by the tape's checks.
class Graph {
 public:
  Graph() {}
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
