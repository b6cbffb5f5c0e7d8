// The functions of npy.hpp that are not templates.
#pragma once
#include "file_kind.hpp"
#include "npy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io::detail {

TERN_COLD AnyTensor dense_on_host(const char* op, const AnyTensor& x) {
  if (!x.defined()) Error::fail(op, {"the tensor is undefined"});
  if (std::strcmp(x.device_name(), DeviceTraits<Cpu>::name) != 0)
    Error::fail(op, {"the tensor is on ", x.device_name(), ", not in host memory"});
  return Tensor<Cpu>(tern::detail::copied(tern::detail::device_ops<Cpu>, x.impl()));
}

TERN_COLD std::string npy_head(const char* op, DType dtype, const tern::detail::Shape& shape) {
  const StoredTypeInfo& type = stored_types[int(dtype)];
  if (!type.npy) Error::fail(op, {"numpy has no type for ", tern::detail::name_of(dtype), "; convert it"});
  std::string head = tern::detail::text(
      {"{'descr': '", type.bytes == 1 ? "|" : "<", type.npy, "', 'fortran_order': False, 'shape': ("});
  for (const Index size : shape) head += tern::detail::text({size, ", "});
  if (shape.n > 1) head.resize(head.size() - 2);
  else if (shape.n == 1) head.pop_back();
  head += "), }";
  const std::size_t whole = (10 + head.size() + 1 + 63) / 64 * 64;  // aligns the elements to 64 bytes
  head.resize(whole - 11, ' ');
  const std::size_t length = head.size() + 1;
  const char start[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, char(length & 255), char(length >> 8)};
  return std::string(start, sizeof start) + head + "\n";
}

TERN_COLD NpyHeader::NpyHeader(const char* bytes, Index given, Index size, const std::string& name)
    : name_(name), version_(given > 6 ? bytes[6] : 0) {
  constexpr Index longest_header = 10'000;  // numpy's limit
  if (given < 10 || std::memcmp(bytes, "\x93NUMPY", 6) != 0)
    refuse(("it is not a .npy file" + but_of_kind({bytes, std::size_t(given)})).c_str());
  const auto byte = [&](Index i) { return Index(static_cast<unsigned char>(bytes[i])); };
  const bool is_long = byte(6) > 1;
  if (byte(6) < 1 || byte(6) > 3 || byte(7) != 0 || (is_long && given < 12)) refuse("its version is unknown");
  Index length = byte(8) | byte(9) << 8;
  if (is_long) length |= byte(10) << 16 | byte(11) << 24;
  data_at = (is_long ? 12 : 10) + length;
  if (data_at > size) refuse("its header is truncated");
  if (length > longest_header) refuse("its header is longer than 10000 bytes");
  if (data_at > given) refuse("its header is truncated");
  at_ = bytes + data_at - length;
  end_ = bytes + data_at;
  parse();
  const bool is_known = type != StoredType::other;
  Index elements = 1, spanned = is_known ? info_of(type).bytes
                                         : 1;  // without sizes of 0, so that the strides of an empty array fit too
  for (const Index n : shape) {
    elements *= n != 0;
    if (__builtin_mul_overflow(spanned, n ? n : 1, &spanned)) refuse("its shape has too many elements");
  }
  if (is_known && (elements ? spanned : 0) != size - data_at) refuse("its size does not match its shape and type");
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

TERN_COLD std::string NpyHeader::quoted() {
  accept('u');  // Python 2's text
  const char mark = accept('"') ? '"' : '\'';
  if (mark == '\'') expect('\'');
  const auto* const last = static_cast<const char*>(std::memchr(at_, mark, std::size_t(end_ - at_)));
  if (!last) refuse("its header is not a dictionary");
  return {std::exchange(at_, last + 1), last};
}

TERN_COLD void NpyHeader::parse() {
  bool has_dtype = false, has_order = false, has_shape = false;
  expect('{');
  while (!accept('}')) {
    const std::string key = quoted();
    bool* const seen = key == "descr"           ? &has_dtype
                       : key == "fortran_order" ? &has_order
                       : key == "shape"         ? &has_shape
                                                : nullptr;
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

TERN_COLD void NpyHeader::skip_list() {
  int depth = 0;
  do {
    skip_space();
    if (at_ == end_) refuse("its header is not a dictionary");
    if (*at_ == '\'' || *at_ == '"') {
      quoted();
      continue;
    }
    depth += *at_ == '[' || *at_ == '(';
    depth -= *at_ == ']' || *at_ == ')';
    ++at_;
  } while (depth > 0);
}

TERN_COLD void NpyHeader::parse_dtype() {
  skip_space();
  if (at_ != end_ && *at_ == '[') {  // a record's fields
    const char* const first = at_;
    skip_list();
    type_name.assign(first, at_);
    return;
  }
  type_name = quoted();
  const bool has_order = type_name[0] == '<' || type_name[0] == '>' || type_name[0] == '|' || type_name[0] == '=';
  const std::string code = type_name.substr(has_order);
  for (int i = 0; i < int(StoredType::other); ++i) {
    const StoredTypeInfo& info = stored_types[i];
    if (!info.npy || code != info.npy) continue;
    type = StoredType(i);
    swapped = type_name[0] == '>' && info.bytes > 1;
    type_name = info.name;
    return;
  }
}

TERN_COLD void NpyHeader::parse_shape() {
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
    const char* const last = at_;
    if (version_ < 3 && last != first) accept('L');  // Python 2's long
    if (last == first || (*first == '0' && last - first > 1) || shape.n == tern::detail::max_dims)
      refuse("its shape is not up to 8 sizes");
    shape.push_back(size);
    is_tuple = accept(',');
  }
  if (shape.n == 1 && !is_tuple) refuse("its shape is not a tuple");
}

TERN_COLD AnyTensor npy_tensor(const char* bytes, Index size, const std::string& name, const DType* to) {
  const NpyHeader header(bytes, size, size, name);
  const std::string subject = tern::detail::text({"'", name, "'"});
  if (header.type == StoredType::other)
    Error::fail("npy", {subject, ": its element type is not supported: ", header.type_name});
  const DType dtype = to ? *to : info_of(header.type).becomes;
  tern::detail::Shape in_memory = header.shape;
  if (header.fortran_order)
    for (int i = 0; i < in_memory.n; ++i) in_memory[i] = header.shape[in_memory.n - 1 - i];
  tern::detail::TensorImpl* const impl = tern::detail::new_impl(dtype, in_memory);
  const Tensor<Cpu> owner(impl);  // AnyTensor takes the type from the impl
  read_stored("npy", subject, header.type, header.swapped, bytes + header.data_at, impl->numel, dtype, impl->data);
  if (!header.fortran_order || in_memory.n < 2) return owner;
  tern::detail::Array turned = *impl;
  for (int i = 0; i < in_memory.n; ++i) {
    turned.dims[i] = impl->dims[in_memory.n - 1 - i];
    turned.strides[i] = impl->strides[in_memory.n - 1 - i];
  }
  tern::detail::update_contiguous(turned);
  tern::detail::TensorImpl* const dense = tern::detail::new_impl(dtype, header.shape);
  tern::detail::backend::run<Cpu>(tern::detail::backend::Copy{*dense, turned});
  return Tensor<Cpu>(dense);
}

TERN_COLD AnyTensor npy_of_file(const std::string& path, const DType* to) {
  const MappedFile file(path);
  return npy_tensor(file.data(), file.size(), path, to);
}

}}}  // namespace tern::io::detail

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD void save_npy(const std::string& path, const AnyTensor& tensor, CallSite here) {
  const CallScope scope(here);
  const AnyTensor dense = detail::dense_on_host("save_npy", tensor);
  const std::string head = detail::npy_head("save_npy", dense.dtype(), dense.shape());
  AtomicFile file(path);
  file.write(head.data(), Index(head.size()));
  file.write(dense.impl()->data, dense.numel() * tern::detail::size_of(dense.dtype()));
  file.commit();
}

}}}  // namespace tern::io
