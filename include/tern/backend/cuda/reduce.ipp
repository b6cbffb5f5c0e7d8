// The functions of reduce.hpp that are not templates.
#pragma once
#include "reduce.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string offsets_text(int dims, const char* which, int arrays) {
  std::string out;
  for (int d = dims; d-- > 0;) {
    out += d ? text({"      { const Index j = rest % p.", which, "_size[", d, "]; rest /= p.", which, "_size[", d, "];"})
             : std::string("      { const Index j = rest;");
    for (int k = 0; k < arrays; ++k) out += text({" at", k, " += j * p.", which, "_stride[", d * arrays + k, "];"});
    out += " }\n";
  }
  return out;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string reduce_source(const TracedReduce& r, DType out, const Array* const* in,
                                                                   int kept, int reduced, const ParameterList& parameters) {
  const char* const type = type_name(r.type);
  const int inputs = r.f.inputs, combine_numbers = r.f.program.number_count();
  const int finish_numbers = combine_numbers + r.combine.program.number_count();
  std::string zero, copy, call;
  for (int k = 0; k < inputs; ++k) {
    zero += text({k ? ", base" : "    Index base", k, " = 0"});
    copy += text({k ? ", at" : "      Index at", k, " = base", k});
    call += text({", Element<", type, ">::of(wide(((const ", type_name(in[k]->dtype), "*)p.in[", k, "])[at", k, "]))"});
  }
  std::string base = offsets_text(kept, "kept", inputs);
  for (std::size_t i = 0; (i = base.find(" at", i)) != std::string::npos; i += 5) base.replace(i, 3, " base");
  return text({prelude, "namespace tern {\ntypedef ", type, " C;\ntypedef ", type_name(out), " Out;\n"}) + parameters.declaration() +
         function_text(r.f, "f", 0) + function_text(r.combine, "combine", combine_numbers) +
         function_text(r.finish, "finish", finish_numbers) + R"CUDA(
extern "C" __global__ void )CUDA" + kernel_name("reduce", {&r.f.program, &r.combine.program}) + R"CUDA((const Parameters p) {
  __shared__ C partial[256];
  const Index outputs = p.outputs, count = p.count, parts = p.parts, part = p.part;
  const int across = int(p.across), along = int(p.along), t = threadIdx.x;
  const int a = p.outputs_first ? t % across : t / along, b = p.outputs_first ? t / across : t % along;
  const Index o = blockIdx.x / parts * across + a, first = blockIdx.x % parts * part;
  const Index last = first + part < count ? first + part : count;
  C sum = p.identity;
  if (o < outputs) {
    Index rest = o;
)CUDA" + (inputs ? zero + ";\n" : "") + base +
         "    for (Index i = first + b; i < last; i += along) {\n      rest = i;\n" + (inputs ? copy + ";\n" : "") +
         offsets_text(reduced, "reduced", inputs) + "      sum = combine(p, sum, C(f(p" + call + R"CUDA()));
    }
  }
  partial[t] = sum;
  __syncthreads();
  const int apart = p.outputs_first ? across : 1;
  #pragma unroll 1
  for (int half = along / 2; half; half /= 2) {
    if (b < half) partial[t] = combine(p, partial[t], partial[t + half * apart]);
    __syncthreads();
  }
  if (b == 0 && o < outputs) p.out[o * parts + blockIdx.x % parts] = Element<Out>::of(finish(p, partial[t]));
}
}
)CUDA";
}

[[gnu::noinline]] TERN_INLINE void run_reduce(const TracedReduce& whole, const Array& out, const Array* const* in, const Shape& shape,
                                              unsigned mask) {
  const int inputs = whole.f.inputs, ordinal = common_ordinal(out, in, inputs);
  if (out.numel == 0) return;
  Shape kept, reduced;
  LoopNest outer(inputs), inner(inputs);
  for (int i = 0; i < shape.n; ++i) {
    const bool is_reduced = mask >> i & 1;
    (is_reduced ? reduced : kept).push_back(shape[i]);
    Index strides[LoopNest::max_operands];
    for (int k = 0; k < inputs; ++k) strides[k] = broadcast_stride(*in[k], i, shape.n);
    (is_reduced ? inner : outer).append(shape[i], strides);
  }
  const Index outputs = kept.numel(), count = reduced.numel();

  // Neighbouring threads read neighbouring elements: along the reduction if the first input lies that way, else across it.
  const bool outputs_first = inputs && outer.depth() && outer.stride(outer.depth() - 1, 0) == 1;
  const Index across = outputs_first ? power_of_two_below(outputs) : 256 / power_of_two_below(count);
  const Index along = 256 / across;
  const Index part = std::max<Index>(1, std::min<Index>(count, 128 * along)), parts = std::max<Index>(1, (count + part - 1) / part);
  Array partial{};
  const bool cut = parts > 1;
  if (cut) {
    partial.ndim = 2;
    partial.dims[0] = outputs, partial.dims[1] = parts;
    partial.dtype = whole.type;
    partial.ordinal = out.ordinal;
    partial.numel = outputs * parts;
    set_contiguous_strides(partial);
  }
  const cuda::detail::Scratch memory(ordinal, cut ? std::size_t(partial.numel) * std::size_t(size_of(whole.type)) : 0);
  partial.data = memory.data();

  const Array& to = cut ? partial : out;
  const TracedReduce r{whole.f, whole.combine, cut ? whole.keep : whole.finish, whole.keep, whole.type, whole.identity};
  ParameterList parameters;
  parameters.add("Index outputs", outputs);
  parameters.add("Index count", count);
  parameters.add("Index parts", parts);
  parameters.add("Index part", part);
  parameters.add("Index across", across);
  parameters.add("Index along", along);
  parameters.add("Index outputs_first", outputs_first);
  parameters.add("Out* out", to.data);
  parameters.add("Number<C> identity", Index(r.identity));
  parameters.begin_array("const void* in");
  for (int k = 0; k < inputs; ++k) parameters.add(in[k]->data);
  const auto add_loops = [&](const LoopNest& loops, const char* sizes, const char* strides) {
    parameters.begin_array(sizes);
    for (int d = 0; d < loops.depth(); ++d) parameters.add(loops.size(d));
    parameters.begin_array(strides);
    for (int d = 0; d < loops.depth(); ++d)
      for (int k = 0; k < inputs; ++k) parameters.add(loops.stride(d, k));
  };
  add_loops(outer, "Index kept_size", "Index kept_stride");
  add_loops(inner, "Index reduced_size", "Index reduced_stride");
  parameters.add_numbers({&r.f.program, &r.combine.program, &r.finish.program});
  std::uint64_t key = mix(mix(mix(r.f.hash(), r.combine.hash()), r.finish.hash()), std::uint64_t(to.dtype) << 16 ^ std::uint64_t(outer.depth() << 8 ^ inner.depth()));
  for (int k = 0; k < inputs; ++k) key = mix(key, std::uint64_t(in[k]->dtype));
  const Index blocks = (outputs + across - 1) / across * parts;
  cuda::launch(ordinal, key, "reduce", {blocks}, parameters.data(),
               [&] { return reduce_source(r, to.dtype, in, outer.depth(), inner.depth(), parameters); });
  if (!cut) return;
  const Array* const again[] = {&partial};
  run_reduce({r.keep, r.combine, whole.finish, r.keep, r.type, r.identity}, out, again, {outputs, parts}, 2);
}

}  // namespace tern::backend::cuda_kernels
