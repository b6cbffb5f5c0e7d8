// The functions of captured.hpp that are not templates.
#pragma once
#include "captured.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE GraphRegistry& GraphRegistry::instance() {
  static GraphRegistry& registry = *new GraphRegistry;
  return registry;
}

TERN_INLINE void GraphRegistry::hold(CapturedWork& graph) {
  const std::lock_guard lock(mutex_);
  if (graph.age == 0) graphs_.push_back(&graph);
  graph.age = ++memory_age;
  live_graphs = this;
  tern::detail::captured_graphs = this;
  held_age = graph.age;
}

TERN_INLINE void GraphRegistry::remove(CapturedWork& graph) {
  std::vector<DeviceBlock> freed;
  {
    const std::lock_guard lock(mutex_);
    std::erase(graphs_, &graph);
    std::uint64_t age = 0;
    for (const CapturedWork* other : graphs_) age = std::max(age, other->age);
    held_age = age;
    const auto is_held = [&](const DeviceBlock& block) { return age_of(block.tag) < age; };
    const auto first = std::partition(blocks_.begin(), blocks_.end(), is_held);
    freed.assign(first, blocks_.end());
    blocks_.erase(first, blocks_.end());
  }
  for (const DeviceBlock& block : freed) deallocate(block);
}

TERN_INLINE void GraphRegistry::give_back(DeviceBlock block) {
  {
    const std::lock_guard lock(mutex_);
    if (age_of(block.tag) < held_age) {
      blocks_.push_back(block);
      return;
    }
  }
  deallocate(block);
}

TERN_INLINE CapturedWork::~CapturedWork() {
  if (age) GraphRegistry::instance().remove(*this);
  if (executable) TERN_CUDA_RELEASE(cuGraphExecDestroy, executable);
  for (const WordChunk& chunk : chunks) pool->give_back(chunk.device);
  if (pool) pool->let_go();
}

TERN_INLINE StreamCapture::StreamCapture(CapturedWork& captured, int ordinal)
    : captured_(captured), state_(detail::bind(ordinal)) {
  if (capture) Error::fail("capture", {"the thread is capturing already"});
  HandlePool::prepare_all(ordinal);
  captured_.ordinal = ordinal;
  captured_.pool = new PrivatePool(ordinal);
  captured_.random = random_state();
  TERN_CUDA(cuStreamCreate, &state_.compute, stream_non_blocking);
  state_.copy = nullptr;
  if (const DriverStatus status = driver().functions.cuStreamBeginCapture_v2(state_.compute, capture_relaxed)) {
    TERN_CUDA_RELEASE(cuStreamDestroy_v2, state_.compute);
    refuse("cuStreamBeginCapture_v2", status);
  }
  GraphRegistry::instance().hold(captured_);
  set_capture(this);
}

TERN_INLINE void StreamCapture::finish() {
  const RandomState random = random_state();
  if (random.seed != captured_.random.seed || random.stream < captured_.random.stream)
    Error::fail("capture", {"the random state was set; call manual_seed() before the capture"});
  captured_.draws = random.stream - captured_.random.stream;
  struct Nodes {
    CapturedGraph handle = nullptr;
    ~Nodes() {
      if (handle) TERN_CUDA_RELEASE(cuGraphDestroy, handle);
    }
  } nodes;
  if (const DriverStatus status = end(&nodes.handle)) refuse("cuStreamEndCapture", status);
  TERN_CUDA(cuGraphInstantiateWithFlags, &captured_.executable, nodes.handle, 0);
  wait_for_own_stream(*system().devices[std::size_t(captured_.ordinal)]);  // where the graph's memory was allocated
  GraphRegistry::instance().hold(captured_);
}

TERN_INLINE void StreamCapture::launch(const LiveLaunch& launch, const std::string& source) {
  bind(launch.ordinal);
  std::vector<WordChunk>& chunks = captured_.chunks;
  const auto count = std::size_t(launch.count);
  if (chunks.empty() || chunks.back().words.size() + count > WordChunk::most)
    chunks.push_back({captured_.pool->allocate_untouched(WordChunk::most * sizeof(std::uint64_t)), {}});
  std::vector<std::uint64_t>& words = chunks.back().words;
  const bool random = launch.numbers_at == random_words;
  const bool drawn_before =
      random && (launch.words[1] != captured_.random.seed || launch.words[2] < captured_.random.stream);
  captured_.launches.push_back(
      {launch.key, chunks.size() - 1, words.size(), launch.count, drawn_before ? 0 : launch.numbers_at});
  DevicePointer at = chunks.back().device.memory + words.size() * sizeof(std::uint64_t);
  words.insert(words.end(), launch.words, launch.words + count);

  constexpr std::uint64_t live =
      0x6C697665;  // the hash of a kernel that reads its words from memory differs from the plain kernel's
  LoadedKernel kernel = kernels(launch.ordinal).find(launch.key ^ live);
  if (!kernel.function)
    kernel = load_kernel(state_, launch.ordinal, launch.key ^ live, launch.name, launch.grid, live_source(source));
  void* parameters[] = {&at};
  TERN_CUDA(cuLaunchKernel, kernel.function, unsigned(launch.grid.blocks), 1, 1, unsigned(launch.grid.threads), 1, 1,
            unsigned(launch.grid.shared_bytes), state_.compute, parameters, nullptr);
}

TERN_INLINE void StreamCapture::repeat(void* object, void (*again)(void* object, const Index* items, Index count),
                                       const Index* items, Index count) {
  if (captured_.launches.size() <= first_repeated_)
    Error::fail("step", {"the parameter is not on cuda:", captured_.ordinal, ", whose work is captured"});
  GraphRegistry::instance().repeat(captured_, {object, again, {items, items + count}, first_repeated_});
  first_repeated_ = captured_.launches.size();
}

TERN_INLINE DriverStatus StreamCapture::end(CapturedGraph* graph) {
  set_capture(nullptr);
  CapturedGraph unwanted = nullptr;
  const DriverStatus status = driver().functions.cuStreamEndCapture(state_.compute, graph ? graph : &unwanted);
  if (unwanted) TERN_CUDA_RELEASE(cuGraphDestroy, unwanted);
  return status;
}

}}}  // namespace tern::cuda::detail
