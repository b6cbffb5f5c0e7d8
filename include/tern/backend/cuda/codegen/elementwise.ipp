// The functions of elementwise.hpp that are not templates.
#pragma once
#include "elementwise.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_NOINLINE Elementwise::Elementwise(const Array& out, const Array* const* in, int inputs)
    : count_(inputs + 1), loops_(inputs + 1) {
  operands_[0] = &out;
  for (int k = 1; k < count_; ++k) operands_[k] = in[k - 1];
  int order[detail::max_dims];
  for (int i = 0; i < out.ndim; ++i) {
    int at = i;
    for (; at > 0 && out.strides[order[at - 1]] < out.strides[i]; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  for (int i = 0; i < out.ndim; ++i) {
    Index strides[detail::LoopNest::max_operands];
    for (int k = 0; k < count_; ++k) strides[k] = detail::broadcast_stride(*operands_[k], order[i], out.ndim);
    loops_.append(out.dims[order[i]], strides);
  }
  loops_.deepen(1);

  int widest = 1;
  for (int k = 0; k < count_; ++k) widest = std::max(widest, detail::size_of(operands_[k]->dtype));
  group_ = 16 / widest;
  const int inner = loops_.depth() - 1;
  bool grouped = inner == 0 || loops_.size(inner) % group_ == 0;
  is_long_ = (loops_.count() >> 31) != 0;
  for (int k = 0; k < count_; ++k) {
    const Index step = loops_.stride(inner, k);
    bool aligned = reinterpret_cast<std::uintptr_t>(operands_[k]->data) %
                       std::uintptr_t(group_ * detail::size_of(operands_[k]->dtype)) ==
                   0;
    Index last = 0;
    for (int d = 0; d <= inner; ++d) {
      last += (loops_.size(d) - 1) * loops_.stride(d, k);
      if (d < inner) aligned &= loops_.stride(d, k) % group_ == 0;
    }
    grouped &= step == 0 ? k > 0 : step == 1 && aligned;
    is_long_ |= (last >> 31) != 0;
  }
  groups_ = grouped ? loops_.count() / group_ : 0;
}

TERN_NOINLINE std::uint64_t Elementwise::key() const {
  std::uint64_t key = std::uint64_t(2 * loops_.depth() + is_long_);
  for (int k = 0; k < count_; ++k) key = mix(key, std::uint64_t(operands_[k]->dtype));
  return key;
}

TERN_NOINLINE KernelParameters Elementwise::parameters() const {
  KernelParameters parameters;
  parameters.add("Index count", loops_.count());
  parameters.add("Index groups", groups_);
  parameters.add("void* out", operands_[0]->data);
  parameters.begin_array("const void* in");
  for (int k = 1; k < count_; ++k) parameters.add(operands_[k]->data);
  parameters.begin_array("Index size");
  for (int d = 0; d < loops_.depth(); ++d) parameters.add(loops_.size(d));
  parameters.begin_array("uint64 reciprocal");
  for (int d = 0; d < loops_.depth(); ++d) parameters.add(d ? Index(reciprocal(loops_.size(d))) : 0);
  parameters.begin_array("Index stride");
  for (int d = 0; d < loops_.depth(); ++d)
    for (int k = 0; k < count_; ++k) parameters.add(loops_.stride(d, k));
  return parameters;
}

// The offsets of a position in all operands, and a group of elements, or one element for all of the group.
inline constexpr const char* elementwise_text = R"CUDA(
struct Offsets {
  Position at[operands];
  __device__ Offsets(const Parameters& p, Position position) {
    for (int k = 0; k < operands; ++k) at[k] = 0;
    for (int d = depth; d-- > 0;) {
      const Position j = d ? take_index(position, p.size[d], p.reciprocal[d]) : position;
      for (int k = 0; k < operands; ++k) at[k] += j * Position(p.stride[d * operands + k]);
    }
  }
};
template <class T> inline __device__ Pack<T, group> read_group(const T* x, bool one_by_one) {
  if (one_by_one) return *(const Pack<T, group>*)x;
  const T one = *x;
  Pack<T, group> all;
  for (int i = 0; i < group; ++i) all.at[i] = one;
  return all;
}
)CUDA";

TERN_COLD std::string Elementwise::source(const std::string& name, const KernelParameters& parameters,
                                          const std::string& functions, const std::string& value) const {
  const char* const to = type_name(operands_[0]->dtype);
  const int inner = (loops_.depth() - 1) * count_;
  std::string arguments, pointers, read, of_group, of_one;
  for (int k = 1; k < count_; ++k) {
    const char* const type = type_name(operands_[k]->dtype);
    arguments += detail::text({", ", type, " x", k - 1});
    pointers += detail::text({"  const ", type, "* const in", k - 1, " = (const ", type, "*)p.in[", k - 1, "];\n"});
    read += detail::text({"    const Pack<", type, ", group> x", k - 1, " = read_group(in", k - 1, " + offsets.at[", k,
                          "], Position(p.stride[", inner + k, "]) != 0);\n"});
    of_group += detail::text({", x", k - 1, ".at[i]"});
    of_one += detail::text({", in", k - 1, "[offsets.at[", k, "]]"});
  }
  return detail::text({prelude, "namespace tern {\n"}) + parameters.declaration() + functions +
         detail::text({"inline __device__ ", to, " element(const Parameters& p"}) + arguments + ") { return " + value +
         "; }\n" +
         detail::text({"typedef ", is_long_ ? "uint64" : "uint32", " Position;\nenum { operands = ", count_,
                       ", depth = ", loops_.depth(), ", group = ", group_, " };"}) +
         elementwise_text + "extern \"C\" __global__ void " + name + "(const Parameters p) {\n" +
         detail::text(
             {"  const Position first = first_thread(), step = all_threads(), groups = p.groups, count = p.count;\n  ",
              to, "* const out = (", to, "*)p.out;\n"}) +
         // A group is enough for a thread to wait for; unrolled, a sum compiles 1.5 times as long.
         pointers +
         "  #pragma unroll 1\n  for (Position g = first; g < groups; g += step) {\n    const Offsets offsets(p, g * "
         "group);\n" +
         read +
         detail::text({"    Pack<", to, ", group> y;\n    for (int i = 0; i < group; ++i) y.at[i] = element(p"}) +
         of_group + detail::text({");\n    *(Pack<", to, ", group>*)(out + offsets.at[0]) = y;\n  }\n"}) +
         "  #pragma unroll 1\n  for (Position i = groups * group + first; i < count; i += step) {\n    const Offsets "
         "offsets(p, i);\n" +
         "    out[offsets.at[0]] = element(p" + of_one + ");\n  }\n}\n}\n";
}

}}}  // namespace tern::detail::backend::cuda_kernels
