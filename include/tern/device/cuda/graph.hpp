// Graphs: the work that a thread starts on a device during a capture is kept and replayed as one.
#pragma once
#include <utility>

#include "captured.hpp"
#include "pinned.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

namespace detail {

/// Collects an optimiser's numbers for the next replay; launches nothing.
class TERN_API Refill final : public CudaCapture {
 public:
  explicit Refill(CapturedWork& captured) : captured_(captured) { set_capture(this); }
  ~Refill() { set_capture(nullptr); }

  void step(const Repeated& repeated) {
    next_ = repeated.launch;
    repeated.again(repeated.object, repeated.items.data(), Index(repeated.items.size()));
  }
  DeviceState& bind(int ordinal) override { return *system().devices[std::size_t(ordinal)]; }
  DeviceBlock allocate(std::size_t) override { Error::fail("replay", {"an optimiser's step needs memory"}); }
  TERN_KEY void launch(const LiveLaunch& launch, const std::string&) override;
  void begin_repeated() override {}
  void repeat(void*, void (*)(void*, const Index*, Index), const Index*, Index) override {}
  bool is_replay() const override { return true; }

 private:
  CapturedWork& captured_;
  std::size_t next_ = 0;  // launch
};

}  // namespace detail

/// Work of one device that is captured once and replayed any number of times for the price of one call:
/// torch.cuda.CUDAGraph.
///
/// A replay reads and writes the tensors of the capture, so overwrite inputs with copy_() before it. Each replay draws
/// new random numbers. It takes a new step of the captured optimisers, at their present learning rates. Memory that
/// existed during the capture is kept until the graph is gone. The tape does not notice what a replay writes.
class TERN_API Graph {
 public:
  Graph() {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Captures the work that step() starts on the thread's device. None of it runs yet, so tensors that step() makes get
  /// their values in the first replay. The previous graph of this object is released. Error, and no graph, if step()
  /// copies from or to the host, waits, or takes an optimiser's first step.
  template <class F>
  void capture(F&& step, CallSite here = {}) {
    const CallScope scope(here);
    captured_.reset();
    auto captured = std::make_unique<detail::CapturedWork>();
    {
      detail::StreamCapture capturing(*captured, current_device());
      step();
      capturing.finish();
    }
    captured_ = std::move(captured);
  }

  /// Starts the captured work again, in order with the device's other work. Does not wait. One copy sends the numbers
  /// that are new.
  void replay(CallSite here = {});

 private:
  std::unique_ptr<detail::CapturedWork> captured_;
};

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "graph.ipp"
#endif
