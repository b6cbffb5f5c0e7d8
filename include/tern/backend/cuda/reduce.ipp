// The functions of reduce.hpp that are not templates.
#pragma once
#include "reduce.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_COLD std::string offsets_text(int dims, const char* which, int arrays, const char* integer) {
  std::string out;
  for (int d = dims; d-- > 0;) {
    const std::string size = detail::text({integer, "(p.", which, "_size[", d, "])"});
    out +=
        detail::text({"      { const ", integer, " j = rest"}) + (d ? " % " + size + "; rest /= " + size + ";" : ";");
    for (int k = 0; k < arrays; ++k)
      out += detail::text({" at", k, " += j * p.", which, "_stride[", d * arrays + k, "];"});
    out += " }\n";
  }
  return out;
}

TERN_COLD std::string reduce_source(const TracedReduce& r, DType out, const Array* const* in, const ReduceLayout& loops,
                                    const KernelParameters& parameters) {
  const char *const type = type_name(r.type), *const integer = loops.narrow ? "int" : "Index";
  const int inputs = r.f.inputs, combine_numbers = r.f.program.number_count();
  const int finish_numbers = combine_numbers + r.combine.program.number_count();
  const bool packs = loops.packs != Packs::none;
  std::string zero, copy, read, call;
  for (int k = 0; k < inputs; ++k) {
    const char* const element = type_name(in[k]->dtype);
    zero += detail::text({k ? ", base" : "    Index base", k, " = 0"});
    copy += detail::text({k ? ", at" : "      Index at", k, " = base", k});
    read += detail::text(
        {"      const auto v", k, " = load((const ", element, "*)p.in[", k, "] + at", k, ", p.aligned, n);\n"});
    if (packs) call += detail::text({", Element<", type, ">::of(promote(v", k, ".at[e]))"});
    else call += detail::text({", Element<", type, ">::of(promote(((const ", element, "*)p.in[", k, "])[at", k, "]))"});
  }
  std::string base = offsets_text(loops.kept, "kept", inputs, integer);
  for (std::size_t i = 0; (i = base.find(" at", i)) != std::string::npos; i += 5) base.replace(i, 3, " base");
  const std::string results = loops.packs == Packs::of_outputs ? "4" : "1",
                    step = loops.packs == Packs::of_terms ? "4 * " : "";
  const std::string each = "for (int e = 0; e < " + results + "; ++e) ";
  std::string add = "      sum[0] = combine(p, sum[0], C(f(p" + call + ")));\n";
  if (loops.packs == Packs::of_terms)
    add = "      const int n = terms - i < 4 ? terms - i : 4;\n" + read +
          "      for (int e = 0; e < 4; ++e)\n        if (e < n) sum[0] = combine(p, sum[0], C(f(p" + call + ")));\n";
  if (loops.packs == Packs::of_outputs)
    add = "      const int n = 4;\n" + read + "      " + each + "sum[e] = combine(p, sum[e], C(f(p" + call + ")));\n";
  return detail::text({prelude, "namespace tern {\ntypedef ", type, " C;\ntypedef ", type_name(out), " Out;\n"}) +
         parameters.declaration() + function_text(r.f, "f", 0) + function_text(r.combine, "combine", combine_numbers) +
         function_text(r.finish, "finish", finish_numbers) + R"CUDA(
// The first n of four elements.
template <class T> inline __device__ Pack<T, 4> load(const T* from, bool aligned, int n) {
  if (aligned && n == 4) return *(const Pack<T, 4>*)from;
  Pack<T, 4> pack;
  for (int e = 0; e < 4; ++e)
    if (e < n) pack.at[e] = from[e];
  return pack;
}
extern "C" __global__ void )CUDA" +
         kernel_name("reduce", {&r.f.program, &r.combine.program}) + R"CUDA((const Parameters p) {
  __shared__ C partial[)CUDA" +
         results + R"CUDA(][256];
  const Index outputs = p.outputs, parts = p.parts, which = blockIdx.x % parts, first = which * p.part;
  const int across = int(p.across), along = int(p.along), t = threadIdx.x;
  const int a = p.outputs_first ? t % across : t / along, b = p.outputs_first ? t / across : t % along;
  const int terms = int(p.count - first < p.part ? p.count - first : p.part);
  const Index o = (blockIdx.x / parts * across + a) * )CUDA" +
         results + R"CUDA(;
  C sum[)CUDA" +
         results + "];\n  " + each + R"CUDA(sum[e] = p.identity;
  if (o < outputs) {
    )CUDA" +
         integer + " rest = o;\n" + (inputs ? zero + ";\n" : "") + base + "    for (int i = " + step +
         "b; i < terms; i += " + step + "along) {\n      rest = first + i;\n" + (inputs ? copy + ";\n" : "") +
         offsets_text(loops.reduced, "reduced", inputs, integer) + add + R"CUDA(    }
  }
  )CUDA" +
         each + R"CUDA(partial[e][t] = sum[e];
  __syncthreads();
  const int apart = p.outputs_first ? across : 1;
  #pragma unroll 1
  for (int half = along / 2; half; half /= 2) {
    if (b < half)
      )CUDA" +
         each + R"CUDA(partial[e][t] = combine(p, partial[e][t], partial[e][t + half * apart]);
    __syncthreads();
  }
  if (b == 0 && o < outputs)
    )CUDA" +
         each + R"CUDA(p.out[(o + e) * parts + which] = Element<Out>::of(finish(p, partial[e][t]));
}
}
)CUDA";
}

/// Whether the innermost loop goes from each element of every operand to the next.
TERN_INLINE bool is_dense(const detail::LoopNest& loops, int operands) {
  if (!operands || !loops.depth()) return false;
  for (int k = 0; k < operands; ++k)
    if (loops.stride(loops.depth() - 1, k) != 1) return false;
  return true;
}

/// Whether four elements from each position of `outer` and of `inner`, of which `dense` has the innermost loop, are
/// aligned.
TERN_INLINE bool are_packs_aligned(const Array* const* in, int inputs, const detail::LoopNest& outer,
                                   const detail::LoopNest& inner, const detail::LoopNest& dense) {
  for (int k = 0; k < inputs; ++k) {
    if (reinterpret_cast<std::uintptr_t>(in[k]->data) % std::uintptr_t(4 * detail::size_of(in[k]->dtype))) return false;
    for (const detail::LoopNest* const loops : {&outer, &inner})
      for (int d = 0; d < loops->depth() - (loops == &dense); ++d)
        if (loops->stride(d, k) % 4) return false;
  }
  return true;
}

TERN_NOINLINE void run_reduce(const TracedReduce& whole, const Array& out, const Array* const* in,
                              const detail::Shape& shape, unsigned mask) {
  const int inputs = whole.f.inputs, ordinal = common_ordinal(out, in, inputs);
  if (out.numel == 0) return;
  detail::Shape kept, reduced;
  detail::LoopNest outer(inputs), inner(inputs);
  for (int i = 0; i < shape.n; ++i) {
    const bool is_reduced = mask >> i & 1;
    (is_reduced ? reduced : kept).push_back(shape[i]);
    Index strides[detail::LoopNest::max_operands];
    for (int k = 0; k < inputs; ++k) strides[k] = detail::broadcast_stride(*in[k], i, shape.n);
    (is_reduced ? inner : outer).append(shape[i], strides);
  }
  const Index outputs = kept.numel(), count = reduced.numel();

  // Neighbouring threads read neighbouring elements: along the reduction if the first input lies that way, else across
  // it.
  const bool outputs_first = inputs && outer.depth() && outer.stride(outer.depth() - 1, 0) == 1;
  Packs packs = Packs::none;
  if (outputs_first && is_dense(outer, inputs) && outer.size(outer.depth() - 1) % 4 == 0) packs = Packs::of_outputs;
  if (!outputs_first && is_dense(inner, inputs) && inner.depth() == 1) packs = Packs::of_terms;
  const Index results = packs == Packs::of_outputs ? 4 : 1, step = packs == Packs::of_terms ? 4 : 1;
  const Index across =
      outputs_first ? power_of_two_below(outputs / results) : 256 / power_of_two_below((count + step - 1) / step);
  const Index along = 256 / across, blocks = (outputs + across * results - 1) / (across * results);
  Index terms = 128;  // of a thread; fewer where a run is cut and there are less blocks than a large device has at once
  if (count > terms * along && blocks * (count / (terms * along)) < 1024) terms = 32;
  const Index part = std::max<Index>(1, std::min<Index>(count, terms * along)),
              parts = std::max<Index>(1, (count + part - 1) / part);
  const ReduceLayout loops{outer.depth(), inner.depth(), packs, std::max(outputs, count) < Index(1) << 31};
  Array partial{};
  const bool cut = parts > 1;
  if (cut) {
    partial.ndim = 2;
    partial.dims[0] = outputs, partial.dims[1] = parts;
    partial.dtype = whole.type;
    partial.ordinal = out.ordinal;
    partial.numel = outputs * parts;
    detail::set_contiguous_strides(partial);
  }
  const cuda::detail::Scratch memory(ordinal,
                                     cut ? std::size_t(partial.numel) * std::size_t(detail::size_of(whole.type)) : 0);
  partial.data = memory.data();

  const Array& to = cut ? partial : out;
  const TracedReduce r{whole.f, whole.combine, cut ? whole.keep : whole.finish, whole.keep, whole.type, whole.identity};
  KernelParameters parameters;
  parameters.add("Index outputs", outputs);
  parameters.add("Index count", count);
  parameters.add("Index parts", parts);
  parameters.add("Index part", part);
  parameters.add("Index across", across);
  parameters.add("Index along", along);
  parameters.add("Index outputs_first", outputs_first);
  parameters.add("Index aligned",
                 are_packs_aligned(in, inputs, outer, inner, packs == Packs::of_outputs ? outer : inner));
  parameters.add("Out* out", to.data);
  parameters.add("KernelNumber<C> identity", Index(r.identity));
  parameters.begin_array("const void* in");
  for (int k = 0; k < inputs; ++k) parameters.add(in[k]->data);
  const auto add_loops = [&](const detail::LoopNest& nest, const char* sizes, const char* strides) {
    parameters.begin_array(sizes);
    for (int d = 0; d < nest.depth(); ++d) parameters.add(nest.size(d));
    parameters.begin_array(strides);
    for (int d = 0; d < nest.depth(); ++d)
      for (int k = 0; k < inputs; ++k) parameters.add(nest.stride(d, k));
  };
  add_loops(outer, "Index kept_size", "Index kept_stride");
  add_loops(inner, "Index reduced_size", "Index reduced_stride");
  parameters.add_numbers({&r.f.program, &r.combine.program, &r.finish.program});
  std::uint64_t key = mix(mix(mix(r.f.hash(), r.combine.hash()), r.finish.hash()),
                          std::uint64_t(to.dtype) << 16 ^ std::uint64_t(outer.depth() << 8 ^ inner.depth()));
  key = mix(key, std::uint64_t(packs) << 1 ^ std::uint64_t(loops.narrow));
  for (int k = 0; k < inputs; ++k) key = mix(key, std::uint64_t(in[k]->dtype));
  cuda::launch(ordinal, key, "reduce", {blocks * parts}, parameters.data(),
               [&] { return reduce_source(r, to.dtype, in, loops, parameters); });
  if (!cut) return;
  const Array* const again[] = {&partial};
  run_reduce({r.keep, r.combine, whole.finish, r.keep, r.type, r.identity}, out, again, {outputs, parts}, 2);
}

}}}  // namespace tern::detail::backend::cuda_kernels
