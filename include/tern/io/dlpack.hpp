// DLPack shares tensors with other libraries in one process, without a copy (https://dmlc.github.io/dlpack). It
// supports versions 1.x and the older structure without a version, as NumPy, PyTorch, JAX and others exchange them.
#pragma once
#include <cstddef>
#include <cstring>

#include "../backend/cuda/kernels.hpp"
#include "../device/cuda/traits.hpp"
#include "../tensor/allocate.hpp"
#include "../tensor/any_tensor.hpp"
#include "../tensor/pinned.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

/// DLPack's structures, with the layout of its own header. Pointers may be cast between the two.
namespace dlpack {

enum DLDeviceType : std::int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3 };
enum DLDataTypeCode : std::uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };
enum : std::uint64_t { DLPACK_FLAG_BITMASK_READ_ONLY = 1, DLPACK_FLAG_BITMASK_IS_COPIED = 2 };

struct DLPackVersion {
  std::uint32_t major, minor;
};
struct DLDevice {
  std::int32_t device_type, device_id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};
/// The content of a Python capsule named "dltensor".
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};
/// The content of a Python capsule named "dltensor_versioned".
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
  DLTensor dl_tensor;
};
static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, shape) == 24 && sizeof(DLManagedTensor) == 64 &&
              sizeof(DLManagedTensorVersioned) == 80 && offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

}  // namespace dlpack

namespace detail {

/// DLPack's code of each DType. Its bits are those of an element.
inline constexpr std::uint8_t dlpack_codes[tern::detail::dtype_count] = {
    dlpack::kDLFloat, dlpack::kDLFloat, dlpack::kDLBfloat, dlpack::kDLFloat,
    dlpack::kDLInt,   dlpack::kDLInt,   dlpack::kDLUInt,   dlpack::kDLBool};

/// Owns an exported tensor until its receiver releases it.
template <class Managed>
struct DlpackExport {
  Managed managed;
  AnyTensor tensor;
  std::int64_t shape[tern::detail::max_dims], strides[tern::detail::max_dims];

  [[gnu::noinline, gnu::cold]] explicit DlpackExport(const AnyTensor& x) : managed{}, tensor(x.detach()) {
    const tern::detail::TensorImpl& impl = *tensor.impl();
    for (int i = 0; i < impl.ndim; ++i) shape[i] = impl.dims[i], strides[i] = impl.strides[i];
    const bool on_host = std::strcmp(x.device_name(), DeviceTraits<Cpu>::name) == 0;
    dlpack::DLTensor& t = managed.dl_tensor;
    t.data = impl.data;
    t.device = {on_host ? dlpack::kDLCPU : dlpack::kDLCUDA, impl.ordinal};
    t.ndim = impl.ndim;
    t.dtype = {dlpack_codes[int(impl.dtype)], std::uint8_t(8 * tern::detail::size_of(impl.dtype)), 1};
    t.shape = shape;
    t.strides = strides;
    managed.manager_ctx = this;
    managed.deleter = [](Managed* given) { delete static_cast<DlpackExport*>(given->manager_ctx); };
  }
};

/// Error unless x can be exported.
TERN_API void check_export(const AnyTensor& x);

/// The element type. Error unless the library has it.
TERN_API DType dlpack_dtype(const dlpack::DLDataType& type);

/// A tensor over what t describes. release(managed) runs when its last user is gone. If no tensor can be like t, it
/// throws an Error before it takes ownership.
TERN_API AnyTensor import_dlpack(const dlpack::DLTensor& t, tern::detail::Deleter release, void* managed);

/// The same for either structure.
template <class Managed>
AnyTensor take_dlpack(Managed* managed) {
  return import_dlpack(
      managed->dl_tensor,
      [](void*, void* context) {
        auto* const given = static_cast<Managed*>(context);
        if (given->deleter) given->deleter(given);
      },
      managed);
}

}  // namespace detail

/// The tensor in DLPack 1.1's form. The elements are shared, and live until the receiver calls the deleter. On a CUDA
/// device, queued work may still write them, so synchronise before another stream reads. Error if the tensor requires a
/// gradient.
TERN_API dlpack::DLManagedTensorVersioned* to_dlpack(const AnyTensor& x, CallSite here = {});

/// The same, for receivers older than version 1.
TERN_API dlpack::DLManagedTensor* to_dlpack_unversioned(const AnyTensor& x, CallSite here = {});

/// A tensor over another library's elements. The deleter runs when its last user is gone. Error if no tensor can hold
/// the elements, or if they are read-only. After an Error, the caller still owns `given`.
TERN_API AnyTensor from_dlpack(dlpack::DLManagedTensorVersioned* given, CallSite here = {});
TERN_API AnyTensor from_dlpack(dlpack::DLManagedTensor* given, CallSite here = {});

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "dlpack.ipp"
#endif
