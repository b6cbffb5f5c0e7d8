// The functions of graph.hpp that are not templates.
#pragma once
#include "graph.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE void Refill::launch(const LiveLaunch& launch, const std::string&) {
  const ReplayedLaunch* const captured = next_ < captured_.launches.size() ? &captured_.launches[next_++] : nullptr;
  if (!captured || launch.key != captured->key || launch.count != captured->count ||
      launch.numbers_at != captured->numbers_at)
    Error::fail("replay",
                {"the optimiser's rule has changed since the capture, by a new momentum for example: capture again"});
  const std::size_t first = captured->first + std::size_t(launch.numbers_at);
  std::copy(launch.words + launch.numbers_at, launch.words + launch.count,
            captured_.chunks[captured->chunk].words.begin() + Index(first));
}

}}}  // namespace tern::cuda::detail

namespace tern { inline namespace TERN_BUILD { namespace cuda {

TERN_NOINLINE void Graph::replay(CallSite here) {
  const CallScope scope(here);
  detail::refuse_capture("replay", "a graph cannot be part of another graph");
  if (!captured_) Error::fail("replay", {"nothing has been captured"});
  detail::CapturedWork& graph = *captured_;
  if (graph.forgotten)
    Error::fail("replay", {"an optimiser of the captured step is gone, or has loaded a state: capture again"});
  const detail::DeviceState& state = detail::bind(graph.ordinal);
  if (graph.last && graph.last != state.compute)  // it may still read the numbers that the next copy overwrites
    detail::wait_for_stream(state.compute, graph.last, detail::ScopedEvent().event);
  graph.last = state.compute;
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
  const detail::Span span(tern::detail::Work::kernel, detail::replayed, graph.ordinal, state.compute);
  TERN_CUDA(cuGraphLaunch, graph.executable, state.compute);
}

}}}  // namespace tern::cuda
