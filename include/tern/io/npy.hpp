// Arrays in numpy's .npy files (numpy.lib.format, versions 1 to 3), which hold one array each.
#pragma once
#include <cstring>

#include "../tensor/allocate.hpp"
#include "../tensor/any_tensor.hpp"
#include "../tensor/map.hpp"
#include "file.hpp"

namespace tern::inline TERN_BUILD::io {

namespace detail {

/// numpy's descr of each DType; null if numpy has no such type.
inline constexpr const char* npy_descr[tern::detail::dtype_count] = {"<f4", "<f8", nullptr, "<f2", "<i8", "<i4", "|u1", "|b1"};

/// A dense copy in host memory, not recorded. Error that names the op if the tensor is on a device.
TERN_API AnyTensor dense_on_host(const char* op, const AnyTensor& x);

/// The bytes before the elements.
TERN_API std::string npy_head(const char* op, DType dtype, const tern::detail::Shape& shape);

/// Reads a header: a Python dictionary of descr, fortran_order and shape, each once, and nothing else.
class TERN_API NpyHeader {
 public:
  DType dtype{};
  bool fortran_order = false;
  tern::detail::Shape shape;
  Index data_at = 0;

  NpyHeader(const char* bytes, Index size, const std::string& name);

 private:
  [[noreturn, gnu::cold]] void refuse(const char* why) const { fail("npy", {"'", name_, "': ", why}); }

  void skip_space();
  bool accept(char c);
  void expect(char c);
  bool accept_word(const char* word);
  /// The text between two quotation marks.
  std::string quoted();
  void parse();
  void parse_dtype();
  void parse_shape();

  std::string name_;
  const char *at_, *end_;
};

/// The array in these bytes, copied. Errors call it `name`.
TERN_API AnyTensor npy_tensor(const char* bytes, Index size, const std::string& name);

}  // namespace detail

/// Writes a tensor in host memory as numpy.save does. The file appears complete or not at all.
TERN_API void save_npy(const std::string& path, const AnyTensor& tensor);

/// The array of a .npy file, row-major. Error that names the file and the fault if the file is not complete and valid,
/// or has another element type.
TERN_API AnyTensor load_npy(const std::string& path);

}  // namespace tern::io

#ifndef TERN_COMPILED
#include "npy.ipp"
#endif
