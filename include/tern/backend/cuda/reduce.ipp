// What reduce.hpp declares and is no template.
#pragma once
#include "reduce.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string offsets_text(int dims, int sizes, int strides, int arrays) {
  std::string out;
  for (int d = dims; d-- > 0;) {
    out += d ? text({"      { const Index j = rest % p.index(", sizes + d, "); rest /= p.index(", sizes + d, ");"})
             : std::string("      { const Index j = rest;");
    for (int k = 0; k < arrays; ++k) out += text({" at", k, " += j * p.index(", strides + d * arrays + k, ");"});
    out += " }\n";
  }
  return out;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string reduce_source(const TracedReduce& r, DType out, const Array* const* in,
                                                                   const ReduceWords& w, int words) {
  const char* const type = type_name(r.type);
  const int combine_numbers = w.f_numbers() + r.f.program.number_count();
  const int finish_numbers = combine_numbers + r.combine.program.number_count();
  std::string zero, copy, call;
  for (int k = 0; k < w.inputs; ++k) {
    zero += text({k ? ", base" : "    Index base", k, " = 0"});
    copy += text({k ? ", at" : "      Index at", k, " = base", k});
    call += text({", Element<", type, ">::of(wide(p.template pointer<", type_name(in[k]->dtype), ">(", ReduceWords::arrays + k, ")[at", k, "]))"});
  }
  std::string base = offsets_text(w.kept, w.kept_sizes(), w.kept_strides(), w.inputs);
  for (std::size_t i = 0; (i = base.find(" at", i)) != std::string::npos; i += 5) base.replace(i, 3, " base");
  return text({prelude, "namespace tern {\n"}) + function_text(r.f, "f", w.f_numbers()) +
         function_text(r.combine, "combine", combine_numbers) + function_text(r.finish, "finish", finish_numbers) +
         text({"typedef ", type, " C;\ntypedef ", type_name(out), " Out;\n",
               "extern \"C\" __global__ void reduce(const Words<", words, "> p) {\n"}) +
         R"CUDA(  __shared__ C partial[256];
  const Index outputs = p.index(0), count = p.index(1), parts = p.index(2), part = p.index(3);
  const int across = int(p.index(4)), along = int(p.index(5)), t = threadIdx.x;
  const int a = p.word[6] ? t % across : t / along, b = p.word[6] ? t / across : t % along;
  const Index o = blockIdx.x / parts * across + a, first = blockIdx.x % parts * part;
  const Index last = first + part < count ? first + part : count;
  C sum = number<C>(p.word[8]);
  if (o < outputs) {
    Index rest = o;
)CUDA" + (w.inputs ? zero + ";\n" : "") + base +
         "    for (Index i = first + b; i < last; i += along) {\n      rest = i;\n" + (w.inputs ? copy + ";\n" : "") +
         offsets_text(w.reduced, w.reduced_sizes(), w.reduced_strides(), w.inputs) + "      sum = combine(p, sum, C(f(p" + call + R"CUDA()));
    }
  }
  partial[t] = sum;
  __syncthreads();
  const int apart = p.word[6] ? across : 1;
  #pragma unroll 1
  for (int half = along / 2; half; half /= 2) {
    if (b < half) partial[t] = combine(p, partial[t], partial[t + half * apart]);
    __syncthreads();
  }
  if (b == 0 && o < outputs) p.template pointer<Out>(7)[o * parts + blockIdx.x % parts] = Element<Out>::of(finish(p, partial[t]));
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

  const ReduceWords layout{inputs, outer.depth(), inner.depth()};
  const Array& to = cut ? partial : out;
  const TracedReduce r{whole.f, whole.combine, cut ? whole.keep : whole.finish, whole.keep, whole.type, whole.identity};
  Words words;
  for (const Index number : {outputs, count, parts, part, across, along, Index(outputs_first)}) words.add(number);
  words.add(to.data);
  words.add_number(r.identity);
  for (int k = 0; k < inputs; ++k) words.add(in[k]->data);
  for (const LoopNest* loops : {&outer, &inner}) {
    for (int d = 0; d < loops->depth(); ++d) words.add(loops->size(d));
    for (int d = 0; d < loops->depth(); ++d)
      for (int k = 0; k < inputs; ++k) words.add(loops->stride(d, k));
  }
  for (const Traced* f : {&r.f, &r.combine, &r.finish}) words.add_numbers(f->program);
  std::uint64_t key = mix(mix(mix(r.f.hash(), r.combine.hash()), r.finish.hash()), std::uint64_t(to.dtype) << 16 ^ std::uint64_t(outer.depth() << 8 ^ inner.depth()));
  for (int k = 0; k < inputs; ++k) key = mix(key, std::uint64_t(in[k]->dtype));
  const Index blocks = (outputs + across - 1) / across * parts;
  cuda::launch(ordinal, key, "reduce", {blocks}, words.data(),
                     [&] { return reduce_source(r, to.dtype, in, layout, words.size()); });
  if (!cut) return;
  const Array* const again[] = {&partial};
  run_reduce({r.keep, r.combine, whole.finish, r.keep, r.type, r.identity}, out, again, {outputs, parts}, 2);
}

}  // namespace tern::backend::cuda_kernels
