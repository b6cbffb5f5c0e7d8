// Arrays in numpy's .npy files (numpy.lib.format, versions 1 to 3), which hold one array each.
#pragma once
#include <cstring>

#include "../tensor/allocate.hpp"
#include "../tensor/any_tensor.hpp"
#include "../tensor/map.hpp"
#include "file.hpp"
#include "stored_type.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

namespace detail {

/// A dense copy in host memory, not recorded. Error that names the op if the tensor is on a device.
TERN_API AnyTensor dense_on_host(const char* op, const AnyTensor& x);

/// The bytes before the elements.
TERN_API std::string npy_head(const char* op, DType dtype, const tern::detail::Shape& shape);

/// Reads a header: a Python dictionary of descr, fortran_order and shape, each once, and nothing else.
class TERN_API NpyHeader {
 public:
  StoredType type = StoredType::other;
  std::string type_name;  // PyTorch's; of one that cannot be read numpy's, such as <U5
  bool swapped = false;   // the highest byte first
  bool fortran_order = false;
  tern::detail::Shape shape;
  Index data_at = 0;

  /// Of a file of `size` bytes, of which the first `given` are in memory.
  NpyHeader(const char* bytes, Index given, Index size, const std::string& name);

 private:
  [[noreturn, gnu::cold]] void refuse(const char* why) const { Error::fail("npy", {"'", name_, "': ", why}); }

  void skip_space();
  bool accept(char c);
  void expect(char c);
  bool accept_word(const char* word);
  /// The text between two quotation marks.
  std::string quoted();
  void parse();
  void parse_dtype();
  void parse_shape();
  /// Passes a list, such as the type of a record, up to its end.
  void skip_list();

  std::string name_;
  int version_;
  const char *at_, *end_;
};

/// The array in these bytes, copied, as elements of type `to`, or if that is null of the type that info_of() names.
/// Errors call it `name`.
TERN_API AnyTensor npy_tensor(const char* bytes, Index size, const std::string& name, const DType* to = nullptr);

/// The array of a file.
TERN_API AnyTensor npy_of_file(const std::string& path, const DType* to);

}  // namespace detail

/// Writes a tensor in host memory as numpy.save does. The file appears complete or not at all.
TERN_API void save_npy(const std::string& path, const AnyTensor& tensor, CallSite here = {});

/// The array of a .npy file, row-major. int8, int16 and uint16 become int32, uint32 and uint64 become int64. Error that
/// names the file and the fault if the file is not complete and valid, has elements of another type, such as text, or a
/// uint64 beyond int64.
inline AnyTensor load_npy(const std::string& path, CallSite here = {}) {
  const CallScope scope(here);
  return detail::npy_of_file(path, nullptr);
}

/// The same as elements of type T, rounded to nearest if it is a floating-point type. Error if T does not hold a
/// number.
template <Element T>
Tensor<Cpu, T> load_npy(const std::string& path, CallSite here = {}) {
  const CallScope scope(here);
  constexpr DType to = dtype_of<T>;
  return detail::npy_of_file(path, &to).template as<Cpu, T>();
}

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "npy.ipp"
#endif
