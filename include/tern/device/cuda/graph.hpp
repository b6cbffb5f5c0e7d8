// Graphs: what a thread starts on a device while it captures is kept, and replayed as one.
#pragma once
#include <utility>

#include "captured.hpp"
#include "pinned.hpp"

namespace tern::inline TERN_BUILD::cuda {

namespace detail {

/// Takes an optimiser's numbers for the next replay instead of launching.
class TERN_API Refill final : public Capture {
 public:
  explicit Refill(Captured& captured) : captured_(captured) { set_capture(this); }
  ~Refill() { set_capture(nullptr); }

  void step(const Repeated& repeated) {
    current_ = &captured_.launches[repeated.launch];
    repeated.again(repeated.object, repeated.item);
  }
  DeviceState& bind(int ordinal) override { return *system().devices[std::size_t(ordinal)]; }
  DeviceBlock allocate(std::size_t) override { fail("replay", {"an optimiser's step needs memory"}); }
  TERN_KEY void launch(const LiveLaunch& launch, const std::string&) override;
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
class TERN_API Graph {
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
  void replay(Here here = {});

 private:
  std::unique_ptr<detail::Captured> captured_;
};

}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "graph.ipp"
#endif
