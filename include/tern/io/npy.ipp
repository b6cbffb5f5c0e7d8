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

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string npy_head(const char* op, DType dtype, const tern::detail::Shape& shape) {
  const char* const descr = npy_descr[int(dtype)];
  if (!descr) fail(op, {"numpy has no type for ", tern::detail::name_of(dtype), "; convert it"});
  std::string head = tern::detail::text({"{'descr': '", descr, "', 'fortran_order': False, 'shape': ("});
  for (const Index size : shape) head += tern::detail::text({size, ", "});
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
  constexpr Index longest_header = 10'000;  // numpy's limit
  if (size < 10 || std::memcmp(bytes, "\x93NUMPY", 6) != 0) refuse("it is not a .npy file");
  const auto byte = [&](Index i) { return Index(static_cast<unsigned char>(bytes[i])); };
  const bool is_long = byte(6) > 1;
  if (byte(6) < 1 || byte(6) > 3 || byte(7) != 0 || (is_long && size < 12)) refuse("its version is unknown");
  Index length = byte(8) | byte(9) << 8;
  if (is_long) length |= byte(10) << 16 | byte(11) << 24;
  data_at = (is_long ? 12 : 10) + length;
  if (data_at > size) refuse("its header is truncated");
  if (length > longest_header) refuse("its header is longer than 10000 bytes");
  at_ = bytes + data_at - length;
  end_ = bytes + data_at;
  parse();
  Index elements = 1, spanned = tern::detail::size_of(dtype);  // without sizes of 0, so that the strides of an empty array fit too
  for (const Index n : shape) {
    elements *= n != 0;
    if (__builtin_mul_overflow(spanned, n ? n : 1, &spanned)) refuse("its shape has too many elements");
  }
  if ((elements ? spanned : 0) != size - data_at) refuse("its size does not match its shape and type");
}

TERN_INLINE void NpyHeader::skip_space() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
}

TERN_INLINE bool NpyHeader::accept(char c) {
  skip_space();
  if (at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

TERN_INLINE void NpyHeader::expect(char c) {
  if (!accept(c)) refuse("its header is not a dictionary");
}

TERN_INLINE bool NpyHeader::accept_word(const char* word) {
  skip_space();
  const std::size_t n = std::strlen(word);
  if (std::size_t(end_ - at_) < n || std::memcmp(at_, word, n) != 0) return false;
  at_ += n;
  return true;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string NpyHeader::quoted() {
  const char mark = accept('"') ? '"' : '\'';
  if (mark == '\'') expect('\'');
  const auto* const last = static_cast<const char*>(std::memchr(at_, mark, std::size_t(end_ - at_)));
  if (!last) refuse("its header is not a dictionary");
  return {std::exchange(at_, last + 1), last};
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void NpyHeader::parse() {
  bool has_dtype = false, has_order = false, has_shape = false;
  expect('{');
  while (!accept('}')) {
    const std::string key = quoted();
    bool* const seen = key == "descr" ? &has_dtype : key == "fortran_order" ? &has_order : key == "shape" ? &has_shape : nullptr;
    if (!seen) refuse("its header has a key other than descr, fortran_order and shape");
    if (std::exchange(*seen, true)) refuse("its header names a key twice");
    expect(':');
    if (seen == &has_dtype) {
      parse_dtype();
    } else if (seen == &has_order) {
      fortran_order = accept_word("True");
      if (!fortran_order && !accept_word("False")) refuse("its fortran_order is not True or False");
    } else {
      parse_shape();
    }
    if (accept(',')) continue;
    expect('}');
    break;
  }
  if (!has_dtype || !has_order || !has_shape) refuse("its header lacks a key");
  skip_space();
  if (at_ != end_) refuse("something follows its header's dictionary");
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void NpyHeader::parse_dtype() {
  skip_space();
  if (at_ == end_ || (*at_ != '\'' && *at_ != '"')) refuse("its element type is not supported");  // a record's is a list
  const std::string code = quoted();
  int type = 0;
  while (type < tern::detail::dtype_count && !(npy_descr[type] && code == npy_descr[type])) ++type;
  if (type == tern::detail::dtype_count) refuse("its element type is not supported");
  dtype = DType(type);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void NpyHeader::parse_shape() {
  if (!accept('(')) refuse("its shape is not a tuple");
  bool is_tuple = true;  // (3) is a number in Python, (3,) a tuple
  while (!accept(')')) {
    if (!is_tuple) refuse("its shape is not a tuple");
    skip_space();
    const char* const first = at_;
    Index size = 0;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_)
      if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, *at_ - '0', &size))
        refuse("its shape has too many elements");
    if (at_ == first || (*first == '0' && at_ - first > 1) || shape.n == tern::detail::max_dims) refuse("its shape is not up to 8 sizes");
    shape.push_back(size);
    is_tuple = accept(',');
  }
  if (shape.n == 1 && !is_tuple) refuse("its shape is not a tuple");
}

[[gnu::noinline, gnu::cold]] TERN_INLINE AnyTensor npy_tensor(const char* bytes, Index size, const std::string& name) {
  const NpyHeader header(bytes, size, name);
  tern::detail::Shape in_memory = header.shape;
  if (header.fortran_order)
    for (int i = 0; i < in_memory.n; ++i) in_memory[i] = header.shape[in_memory.n - 1 - i];
  tern::detail::TensorImpl* const impl = tern::detail::new_impl(header.dtype, in_memory);
  const Tensor<Cpu> owner(impl);  // AnyTensor takes the type from the impl
  const char* const data = bytes + header.data_at;
  for (Index i = 0; header.dtype == DType::bool_ && i < size - header.data_at; ++i)
    if (data[i] & ~1) fail("npy", {"'", name, "': a boolean is the byte ", int(static_cast<unsigned char>(data[i]))});
  std::memcpy(impl->data, data, std::size_t(size - header.data_at));
  if (!header.fortran_order || in_memory.n < 2) return owner;
  tern::detail::Array turned = *impl;
  for (int i = 0; i < in_memory.n; ++i) {
    turned.dims[i] = impl->dims[in_memory.n - 1 - i];
    turned.strides[i] = impl->strides[in_memory.n - 1 - i];
  }
  tern::detail::update_contiguous(turned);
  tern::detail::TensorImpl* const dense = tern::detail::new_impl(header.dtype, header.shape);
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
  file.write(dense.impl()->data, dense.numel() * tern::detail::size_of(dense.dtype()));
  file.commit();
}

[[gnu::noinline, gnu::cold]] TERN_INLINE AnyTensor load_npy(const std::string& path) {
  const MappedFile file(path);
  return detail::npy_tensor(file.data(), file.size(), path);
}

}  // namespace tern::io
