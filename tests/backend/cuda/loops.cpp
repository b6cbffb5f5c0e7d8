// How kernels split positions into indices, held against divisions.
#include "support/tensors.hpp"
#include "tern/tern.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_KERNEL_STRUCT(OffsetsParameters, Index count; Pointer<const Index> position; Pointer<Index> one; Pointer<Index> to;
                   Pointer<Index> from; ArrayLoops array; CopyLoops copy;);
inline constexpr KernelOf<OffsetsParameters> offsets_kernel{"offsets",
                                                            R"CUDA(
extern "C" __global__ void offsets(const OffsetsParameters p) {
  for (Index i = first_thread(); i < p.count; i += all_threads()) {
    const CopyOffsets at(p.copy, p.position[i]);
    p.one[i] = offset_at(p.array, p.position[i]);
    p.to[i] = at.to;
    p.from[i] = at.from;
  }
}
)CUDA",
                                                            {ArrayLoops::source, CopyLoops::source, loops_text}};

}}}  // namespace tern::detail::backend::cuda_kernels

namespace backend_cuda_loops {
using namespace tern;
using namespace tern_test;
using namespace tern::detail::backend::cuda_kernels;

TEST_CASE("a product with the reciprocal is a division of positions below 2^31") {
  constexpr Index end = Index(1) << 31;
  const auto check = [](Index size) {
    const std::uint64_t r = tern::detail::backend::cuda_kernels::reciprocal(size);
    const auto quotient = [r](Index x) {
      return Index(std::uint32_t((std::uint64_t(x) * std::uint32_t(r) >> 32) + std::uint64_t(x)) >> (r >> 32));
    };
    Index wrong = 0;
    for (const Index multiple :
         {Index(0), size, 2 * size, end / 3 / size * size, end / 2 / size * size, (end - 1) / size * size})
      for (const Index x : {multiple - 1, multiple, multiple + 1, multiple + size - 1})
        if (x >= 0 && x < end) wrong += quotient(x) != x / size;
    wrong += quotient(end - 1) != (end - 1) / size;
    return wrong == 0;
  };
  std::vector<Index> failed;
  for (Index size = 1; size < 5000; ++size)
    if (!check(size)) failed.push_back(size);
  for (int shift = 1; shift < 31; ++shift)
    for (const Index by : {-3, -1, 0, 1, 3})
      if (const Index size = (Index(1) << shift) + by; size > 0 && !check(size)) failed.push_back(size);
  if (!check(end - 1)) failed.push_back(end - 1);
  CHECK(failed == std::vector<Index>());
  CHECK(tern::detail::backend::cuda_kernels::reciprocal(0) == 0);
  CHECK(tern::detail::backend::cuda_kernels::reciprocal(end) == 0);
}

TEST_CASE("kernels find offsets of positions below and above 2^31") {
  if (!cuda::is_available()) SKIP_TEST("needs a CUDA device");
  for (const Index outer : {Index(1), Index(5), Index(1) << 24}) {
    detail::LoopNest nest(2);
    for (const Index size : {outer, Index(37), Index(16), Index(3)}) {
      const Index strides[] = {1000 + nest.depth() * 77, 10 * nest.depth() + 3};
      nest.add(size, strides);
    }
    std::vector<double> positions, to, from;
    for (Index x = 0; x < nest.count(); x += x < 50 ? 1 : nest.count() / 17) {
      positions.push_back(double(x));
      to.push_back(double(nest.offset(x, 0)));
      from.push_back(double(nest.offset(x, 1)));
    }
    INFO(nest.count() << " positions");
    const Index n = Index(positions.size());
    const auto position = tensor_of<Cuda, Index>(positions), a = empty<Cuda, Index>({n}), b = empty<Cuda, Index>({n}),
               c = empty<Cuda, Index>({n});
    launch_typed(0, offsets_kernel, {}, grid_for(n),
                 {.count = n,
                  .position = position.impl()->data,
                  .one = a.impl()->data,
                  .to = b.impl()->data,
                  .from = c.impl()->data,
                  .array = array_loops(nest),
                  .copy = copy_loops(nest)});
    CHECK(values_of(a) == to);
    CHECK(values_of(b) == to);
    CHECK(values_of(c) == from);
  }
}

}  // namespace backend_cuda_loops
