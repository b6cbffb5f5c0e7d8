// What map.hpp declares and is no template.
#pragma once
#include "map.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string map_head(const Traced& f, int numbers_at) {
  return text({prelude, "namespace tern {\n"}) + function_text(f, "f", numbers_at);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string dense_map_source(const Traced& f, DType out, const Array* const* in, int words) {
  const char* const type = type_name(f.type);
  std::string load, quad, call;
  for (int k = 0; k < f.inputs; ++k) {
    const char* const element = type_name(in[k]->dtype);
    load += text({"  const ", element, "* const p", k, " = p.template pointer<", element, ">(", 3 + 2 * k, ");\n  const Index s", k,
                  " = p.index(", 4 + 2 * k, ");\n"});
    quad += text({"    const Four<", element, "> x", k, " = four(p", k, ", s", k, ", q);\n"});
    call += text({", Element<", type, ">::of(wide(x", k, ".at[k]))"});
  }
  std::string one = call;
  for (std::size_t at; (at = one.find(".at[k]")) != std::string::npos;) one.erase(at, 6);
  std::string single;
  for (int k = 0; k < f.inputs; ++k)
    single += text({"    const ", type_name(in[k]->dtype), " x", k, " = p", k, "[i * s", k, "];\n"});
  const char* const to = type_name(out);
  return map_head(f, 3 + 2 * f.inputs) + R"CUDA(
template <class T> struct alignas(4 * sizeof(T)) Four { T at[4]; };
template <class T> inline __device__ Four<T> four(const T* p, Index step, Index q) {
  if (step) return ((const Four<T>*)p)[q];
  const T x = *p;
  return Four<T>{{x, x, x, x}};
}
)CUDA" + text({"extern \"C\" __global__ void map(const Words<", words, "> p) {\n  const Index n = p.index(0), quads = p.index(1);\n  ", to,
               "* const out = p.template pointer<", to, ">(2);\n"}) +
         // Four elements are enough for a thread to wait for; unrolled, a sum compiles 1.5 times as long.
         load + "#pragma unroll 1\n  for (Index q = first_thread(); q < quads; q += all_threads()) {\n" + quad +
         text({"    Four<", to, "> y;\n    for (int k = 0; k < 4; ++k) y.at[k] = Element<", to, ">::of(f(p"}) + call +
         text({"));\n    ((Four<", to, ">*)out)[q] = y;\n  }\n  for (Index i = 4 * quads + first_thread(); i < n; i += all_threads()) {\n"}) +
         single + text({"    out[i] = Element<", to, ">::of(f(p"}) + one + "));\n  }\n}\n}\n";
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string strided_map_source(const Traced& f, DType out, const Array* const* in, int dims, int words) {
  const char* const type = type_name(f.type);
  const int operands = f.inputs + 1, sizes = 1 + operands, strides = sizes + dims;
  std::string body, call, index;
  for (int k = 0; k < operands; ++k) index += text({k ? ", at" : "at", k, " = 0"});
  for (int d = dims; d-- > 0;) {
    body += text({"    { const Index j = ", d ? "rest % " : "rest", d ? "p.index(" : "", d ? text({sizes + d}) : "", d ? ")" : "", ";"});
    if (d) body += text({" rest /= p.index(", sizes + d, ");"});
    for (int k = 0; k < operands; ++k) body += text({" at", k, " += j * p.index(", strides + d * operands + k, ");"});
    body += " }\n";
  }
  for (int k = 0; k < f.inputs; ++k)
    call += text({", Element<", type, ">::of(wide(p.template pointer<", type_name(in[k]->dtype), ">(", 2 + k, ")[at", k + 1, "]))"});
  const char* const to = type_name(out);
  return map_head(f, strides + dims * operands) +
         text({"extern \"C\" __global__ void map(const Words<", words, "> p) {\n",
               "  #pragma unroll 1\n  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {\n    Index rest = i, ", index, ";\n"}) +
         body + text({"    p.template pointer<", to, ">(1)[at0] = Element<", to, ">::of(f(p"}) + call + "));\n  }\n}\n}\n";
}

[[gnu::noinline]] TERN_INLINE void run_map(const Traced& f, const Array& out, const Array* const* in) {
  const int ordinal = common_ordinal(out, in, f.inputs);
  if (out.numel == 0) return;
  const Array* operands[LoopNest::max_operands] = {&out};
  std::uint64_t key = mix(f.hash(), std::uint64_t(out.dtype));
  bool aligned = true;
  for (int k = 0; k <= f.inputs; ++k) {
    if (k) operands[k] = in[k - 1];
    key = mix(key, std::uint64_t(operands[k]->dtype));
    aligned &= reinterpret_cast<std::uintptr_t>(operands[k]->data) % std::uintptr_t(4 * size_of(operands[k]->dtype)) == 0;
  }
  const LoopNest loops(out.shape(), operands, f.inputs + 1);
  bool dense = true;
  for (int k = 0; k <= f.inputs; ++k) dense &= loops.is_flat(k);
  Words words;
  words.add(out.numel);
  if (dense) {
    const Index quads = aligned ? out.numel / 4 : 0;
    words.add(quads);
    words.add(out.data);
    for (int k = 0; k < f.inputs; ++k) {
      words.add(in[k]->data);
      words.add(loops.depth() ? loops.stride(0, k + 1) : 0);
    }
    words.add_numbers(f.program);
    return cuda::launch(ordinal, key, "map", grid_for(quads ? quads : out.numel), words.data(),
                              [&] { return dense_map_source(f, out.dtype, in, words.size()); });
  }
  for (int k = 0; k <= f.inputs; ++k) words.add(operands[k]->data);
  for (int d = 0; d < loops.depth(); ++d) words.add(loops.size(d));
  for (int d = 0; d < loops.depth(); ++d)
    for (int k = 0; k <= f.inputs; ++k) words.add(loops.stride(d, k));
  words.add_numbers(f.program);
  cuda::launch(ordinal, mix(key, 100 + std::uint64_t(loops.depth())), "map", grid_for(out.numel), words.data(),
                     [&] { return strided_map_source(f, out.dtype, in, loops.depth(), words.size()); });
}

}  // namespace tern::backend::cuda_kernels
