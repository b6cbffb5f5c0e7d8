// The functions of npy.hpp that are not templates.
#pragma once
#include "npy.hpp"

namespace tern::inline TERN_BUILD::io::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE AnyTensor dense_on_host(const char* op, const AnyTensor& x) {
  if (!x.defined()) fail(op, {"the tensor is undefined"});
  if (std::strcmp(x.device_name(), DeviceTraits<Cpu>::name) != 0)
    fail(op, {"the tensor is on ", x.device_name(), ", not in host memory"});
  return Tensor<Cpu>(tern::detail::copied(tern::detail::device_ops<Cpu>, x.impl()));
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string npy_head(const char* op, DType dtype, const Shape& shape) {
  const char* const descr = npy_descr[int(dtype)];
  if (!descr) fail(op, {"numpy has no type for ", name_of(dtype), "; convert it"});
  std::string head = text({"{'descr': '", descr, "', 'fortran_order': False, 'shape': ("});
  for (const Index size : shape) head += text({size, ", "});
  if (shape.n > 1)
    head.resize(head.size() - 2);
  else if (shape.n == 1)
    head.pop_back();
  head += "), }";
  const std::size_t whole = (10 + head.size() + 1 + 63) / 64 * 64;  // aligns the elements to 64 bytes
  head.resize(whole - 11, ' ');
  const std::size_t length = head.size() + 1;
  const char start[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, char(length & 255), char(length >> 8)};
  return std::string(start, sizeof start) + head + "\n";
}

[[gnu::noinline, gnu::cold]] TERN_INLINE NpyHeader::NpyHeader(const char* bytes, Index size, const std::string& name) : name_(name) {
  if (size < 10 || std::memcmp(bytes, "\x93NUMPY", 6) != 0) refuse("it is not a .npy file");
  const auto byte = [&](Index i) { return Index(static_cast<unsigned char>(bytes[i])); };
  const bool is_long = byte(6) > 1;
  if (byte(6) < 1 || byte(6) > 3 || (is_long && size < 12)) refuse("its version is unknown");
  Index length = byte(8) | byte(9) << 8;
  if (is_long) length |= byte(10) << 16 | byte(11) << 24;
  data_at = (is_long ? 12 : 10) + length;
  if (data_at > size) refuse("its header is truncated");
  head_.assign(bytes + data_at - length, std::size_t(length));
  parse();
  Index elements = 1;
  for (const Index n : shape)
    if (__builtin_mul_overflow(elements, n, &elements)) refuse("its shape has too many elements");
  Index wanted = 0;
  if (__builtin_mul_overflow(elements, Index(size_of(dtype)), &wanted) || wanted != size - data_at)
    refuse("its size does not match its shape and type");
}

TERN_INLINE const char* NpyHeader::value_of(const char* key) const {
  std::size_t at = head_.find(text({"'", key, "'"}));
  if (at == head_.npos) refuse("its header lacks a key");
  at = head_.find(':', at);
  if (at == head_.npos) refuse("its header is not a dictionary");
  at = head_.find_first_not_of(' ', at + 1);
  return head_.c_str() + (at == head_.npos ? head_.size() : at);
}

TERN_INLINE void NpyHeader::parse() {
  const char* const code = value_of("descr");
  const auto is = [code](const char* descr) {
    return descr && *code == '\'' && std::strncmp(code + 1, descr, 3) == 0 && code[4] == '\'';
  };
  int type = 0;
  while (type < dtype_count && !is(npy_descr[type])) ++type;
  if (type == dtype_count) refuse("its element type is not supported");
  dtype = DType(type);
  const char* const order = value_of("fortran_order");
  fortran_order = std::strncmp(order, "True", 4) == 0;
  if (!fortran_order && std::strncmp(order, "False", 5) != 0) refuse("its header is not a dictionary");
  const char* p = value_of("shape");
  if (*p++ != '(') refuse("its shape is not a tuple");
  while (*p != ')') {
    char* end = nullptr;
    const long long n = std::strtoll(p, &end, 10);
    if (end == p || n < 0 || shape.n == max_dims) refuse("its shape is not up to 8 sizes");
    shape.push_back(n);
    for (p = end; *p == ' ' || *p == ',';) ++p;
  }
}

[[gnu::noinline, gnu::cold]] TERN_INLINE AnyTensor npy_tensor(const char* bytes, Index size, const std::string& name) {
  const NpyHeader header(bytes, size, name);
  Shape in_memory = header.shape;
  if (header.fortran_order)
    for (int i = 0; i < in_memory.n; ++i) in_memory[i] = header.shape[in_memory.n - 1 - i];
  TensorImpl* const impl = tern::detail::new_impl(header.dtype, in_memory);
  const Tensor<Cpu> owner(impl);  // AnyTensor takes the type from the impl
  const char* const data = bytes + header.data_at;
  for (Index i = 0; header.dtype == DType::boolean && i < size - header.data_at; ++i)
    if (data[i] & ~1) fail("npy", {"'", name, "': a boolean is the byte ", int(static_cast<unsigned char>(data[i]))});
  std::memcpy(impl->data, data, std::size_t(size - header.data_at));
  if (!header.fortran_order || in_memory.n < 2) return owner;
  Array turned = *impl;
  for (int i = 0; i < in_memory.n; ++i) {
    turned.dims[i] = impl->dims[in_memory.n - 1 - i];
    turned.strides[i] = impl->strides[in_memory.n - 1 - i];
  }
  update_contiguous(turned);
  TensorImpl* const dense = tern::detail::new_impl(header.dtype, header.shape);
  backend::run<Cpu>(backend::Copy{*dense, turned});
  return Tensor<Cpu>(dense);
}

}  // namespace tern::io::detail

namespace tern::inline TERN_BUILD::io {

[[gnu::noinline, gnu::cold]] TERN_INLINE void save_npy(const std::string& path, const AnyTensor& tensor) {
  const AnyTensor dense = detail::dense_on_host("save_npy", tensor);
  const std::string head = detail::npy_head("save_npy", dense.dtype(), dense.shape());
  AtomicFile file(path);
  file.write(head.data(), Index(head.size()));
  file.write(dense.impl()->data, dense.numel() * size_of(dense.dtype()));
  file.commit();
}

[[gnu::noinline, gnu::cold]] TERN_INLINE AnyTensor load_npy(const std::string& path) {
  const MappedFile file(path);
  return detail::npy_tensor(file.data(), file.size(), path);
}

}  // namespace tern::io
