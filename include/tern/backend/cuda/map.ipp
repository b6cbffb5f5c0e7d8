// The functions of map.hpp that are not templates.
#pragma once
#include "map.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string map_head(const Traced& f, const ParameterList& parameters) {
  return text({prelude, "namespace tern {\n"}) + parameters.declaration() + function_text(f, "f", 0);
}

[[gnu::noinline]] TERN_INLINE ParameterList dense_map_parameters(const Traced& f, const Array& out, const Array* const* in,
                                                                 const LoopNest& loops, Index quads) {
  ParameterList parameters;
  parameters.add("Index count", out.numel);
  parameters.add("Index quads", quads);
  parameters.add("void* out", out.data);
  parameters.begin_array("const void* in");
  for (int k = 0; k < f.inputs; ++k) parameters.add(in[k]->data);
  parameters.begin_array("Index step");
  for (int k = 0; k < f.inputs; ++k) parameters.add(loops.depth() ? loops.stride(0, k + 1) : 0);
  parameters.add_numbers({&f.program});
  return parameters;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string dense_map_source(const Traced& f, DType out, const Array* const* in,
                                                                      const ParameterList& parameters) {
  const char* const type = type_name(f.type);
  std::string load, quad, call;
  for (int k = 0; k < f.inputs; ++k) {
    const char* const element = type_name(in[k]->dtype);
    load += text({"  const ", element, "* const p", k, " = (const ", element, "*)p.in[", k, "];\n  const Index s", k, " = p.step[", k, "];\n"});
    quad += text({"    const Four<", element, "> x", k, " = four(p", k, ", s", k, ", q);\n"});
    call += text({", Element<", type, ">::of(wide(x", k, ".at[k]))"});
  }
  std::string one = call;
  for (std::size_t at; (at = one.find(".at[k]")) != std::string::npos;) one.erase(at, 6);
  std::string single;
  for (int k = 0; k < f.inputs; ++k)
    single += text({"    const ", type_name(in[k]->dtype), " x", k, " = p", k, "[i * s", k, "];\n"});
  const char* const to = type_name(out);
  return map_head(f, parameters) + R"CUDA(
template <class T> struct alignas(4 * sizeof(T)) Four { T at[4]; };
template <class T> inline __device__ Four<T> four(const T* p, Index step, Index q) {
  if (step) return ((const Four<T>*)p)[q];
  const T x = *p;
  return Four<T>{{x, x, x, x}};
}
extern "C" __global__ void )CUDA" + kernel_name("map", {&f.program}) + R"CUDA((const Parameters p) {
  const Index n = p.count, quads = p.quads;
)CUDA" + text({"  ", to, "* const out = (", to, "*)p.out;\n"}) +
         // Four elements are enough for a thread to wait for; unrolled, a sum compiles 1.5 times as long.
         load + "#pragma unroll 1\n  for (Index q = first_thread(); q < quads; q += all_threads()) {\n" + quad +
         text({"    Four<", to, "> y;\n    for (int k = 0; k < 4; ++k) y.at[k] = Element<", to, ">::of(f(p"}) + call +
         text({"));\n    ((Four<", to, ">*)out)[q] = y;\n  }\n  for (Index i = 4 * quads + first_thread(); i < n; i += all_threads()) {\n"}) +
         single + text({"    out[i] = Element<", to, ">::of(f(p"}) + one + "));\n  }\n}\n}\n";
}

[[gnu::noinline]] TERN_INLINE ParameterList strided_map_parameters(const Traced& f, const Array& out, const Array* const* in,
                                                                   const LoopNest& loops) {
  ParameterList parameters;
  parameters.add("Index count", out.numel);
  parameters.add("void* out", out.data);
  parameters.begin_array("const void* in");
  for (int k = 0; k < f.inputs; ++k) parameters.add(in[k]->data);
  parameters.begin_array("Index size");
  for (int d = 0; d < loops.depth(); ++d) parameters.add(loops.size(d));
  parameters.begin_array("Index stride");
  for (int d = 0; d < loops.depth(); ++d)
    for (int k = 0; k <= f.inputs; ++k) parameters.add(loops.stride(d, k));
  parameters.add_numbers({&f.program});
  return parameters;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string strided_map_source(const Traced& f, DType out, const Array* const* in, int dims,
                                                                        const ParameterList& parameters) {
  const char* const type = type_name(f.type);
  const int operands = f.inputs + 1;
  std::string body, call, index;
  for (int k = 0; k < operands; ++k) index += text({k ? ", at" : "at", k, " = 0"});
  for (int d = dims; d-- > 0;) {
    body += text({"    { const Index j = ", d ? "rest % " : "rest", d ? text({"p.size[", d, "]"}) : "", ";"});
    if (d) body += text({" rest /= p.size[", d, "];"});
    for (int k = 0; k < operands; ++k) body += text({" at", k, " += j * p.stride[", d * operands + k, "];"});
    body += " }\n";
  }
  for (int k = 0; k < f.inputs; ++k)
    call += text({", Element<", type, ">::of(wide(((const ", type_name(in[k]->dtype), "*)p.in[", k, "])[at", k + 1, "]))"});
  const char* const to = type_name(out);
  return map_head(f, parameters) +
         text({"extern \"C\" __global__ void ", kernel_name("map", {&f.program}), "(const Parameters p) {\n",
               "  #pragma unroll 1\n  for (Index i = first_thread(); i < p.count; i += all_threads()) {\n    Index rest = i, ", index, ";\n"}) +
         body + text({"    ((", to, "*)p.out)[at0] = Element<", to, ">::of(f(p"}) + call + "));\n  }\n}\n}\n";
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
  if (dense) {
    const Index quads = aligned ? out.numel / 4 : 0;
    const ParameterList parameters = dense_map_parameters(f, out, in, loops, quads);
    return cuda::launch(ordinal, key, "map", grid_for(quads ? quads : out.numel), parameters.data(),
                        [&] { return dense_map_source(f, out.dtype, in, parameters); });
  }
  const ParameterList parameters = strided_map_parameters(f, out, in, loops);
  cuda::launch(ordinal, mix(key, 100 + std::uint64_t(loops.depth())), "map", grid_for(out.numel), parameters.data(),
               [&] { return strided_map_source(f, out.dtype, in, loops.depth(), parameters); });
}

}  // namespace tern::backend::cuda_kernels
