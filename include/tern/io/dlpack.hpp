// DLPack: tensors shared with other libraries in one process, without a copy (https://dmlc.github.io/dlpack). Versions
// 1.x and the structure without a version that came before it, as NumPy, PyTorch, JAX and others exchange them.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cstddef>
#include <cstring>

#include "../device/cuda/context.hpp"
#include "../tensor/allocate.hpp"
#include "../tensor/any_tensor.hpp"
#include "../tensor/pinned.hpp"

namespace tern::inline TERN_BUILD::io {

/// DLPack's structures, laid out as its header declares them; pointers to the ones may be cast to the others.
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
/// What a Python capsule called "dltensor" holds.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};
/// What a Python capsule called "dltensor_versioned" holds.
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

struct DlpackType {
  DType dtype;
  std::uint8_t code, bits;
};
inline constexpr DlpackType dlpack_types[] = {
    {DType::float32, dlpack::kDLFloat, 32}, {DType::float64, dlpack::kDLFloat, 64},
    {DType::float16, dlpack::kDLFloat, 16}, {DType::bfloat16, dlpack::kDLBfloat, 16},
    {DType::int64, dlpack::kDLInt, 64},     {DType::int32, dlpack::kDLInt, 32},
    {DType::uint8, dlpack::kDLUInt, 8},     {DType::boolean, dlpack::kDLBool, 8}};

/// What a tensor given away lives in until its receiver is done with it.
template <class Managed>
struct DlpackExport {
  Managed managed;
  AnyTensor tensor;
  std::int64_t shape[max_dims], strides[max_dims];

  [[gnu::noinline, gnu::cold]] explicit DlpackExport(const AnyTensor& x) : managed{}, tensor(x.detach()) {
    const TensorImpl& impl = *tensor.impl();
    for (int i = 0; i < impl.ndim; ++i) shape[i] = impl.dims[i], strides[i] = impl.strides[i];
    const bool on_host = std::strcmp(x.device_name(), DeviceTraits<Cpu>::name) == 0;
    dlpack::DLTensor& t = managed.dl_tensor;
    t.data = impl.data;
    t.device = {on_host ? dlpack::kDLCPU : dlpack::kDLCUDA, impl.ordinal};
    t.ndim = impl.ndim;
    for (const DlpackType& type : dlpack_types)
      if (type.dtype == impl.dtype) t.dtype = {type.code, type.bits, 1};
    t.shape = shape;
    t.strides = strides;
    managed.manager_ctx = this;
    managed.deleter = [](Managed* given) { delete static_cast<DlpackExport*>(given->manager_ctx); };
  }
};

/// Error unless x can be given away.
[[gnu::noinline, gnu::cold]] inline void check_export(const AnyTensor& x) {
  if (!x.defined()) fail("to_dlpack", {"the tensor is undefined"});
  if (x.impl()->node) fail("to_dlpack", {"the tensor requires a gradient, which others would not see; detach() it"});
  const char* const device = x.device_name();
  if (std::strcmp(device, DeviceTraits<Cpu>::name) != 0 && std::strcmp(device, DeviceTraits<Cuda>::name) != 0)
    fail("to_dlpack", {"DLPack has no device '", device, "'"});
  if (x.impl()->pinned) tern::detail::finish_copies(x.impl());
}

/// The element type. Error unless it is one of ours.
[[gnu::noinline, gnu::cold]] inline DType dlpack_dtype(const dlpack::DLDataType& type) {
  for (const DlpackType& known : dlpack_types)
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1) return known.dtype;
  fail("from_dlpack", {"elements of code ", int(type.code), ", ", int(type.bits), " bits and ", int(type.lanes),
                       " lanes are of no type of a tensor"});
}

/// A tensor over what t describes; release(managed) runs when nobody uses it any more. Error, before anything is taken
/// over, where t is nothing that a tensor can be.
[[gnu::noinline, gnu::cold]] inline AnyTensor import_dlpack(const dlpack::DLTensor& t, Deleter release, void* managed) {
  const bool on_cuda = t.device.device_type == dlpack::kDLCUDA;
  if (!on_cuda && t.device.device_type != dlpack::kDLCPU && t.device.device_type != dlpack::kDLCUDAHost)
    fail("from_dlpack", {"device type ", t.device.device_type, " is neither the host's memory nor CUDA's"});
  if (on_cuda && (t.device.device_id < 0 || t.device.device_id >= cuda::device_count()))
    fail("from_dlpack", {"there is no CUDA device ", t.device.device_id, " of ", cuda::device_count()});
  if (t.ndim < 0 || t.ndim > max_dims)
    fail("from_dlpack", {"a tensor has up to ", max_dims, " dimensions, not ", t.ndim});
  const DType dtype = dlpack_dtype(t.dtype);
  const Shape shape(t.shape, t.ndim);
  for (const Index size : shape)
    if (size < 0) fail("from_dlpack", {"negative size in ", shape});
  char* const data = static_cast<char*>(t.data) + t.byte_offset;
  if (!t.data && shape.numel() != 0) fail("from_dlpack", {"a null pointer does not hold shape ", shape});
  if (reinterpret_cast<std::uintptr_t>(data) % std::uintptr_t(size_of(dtype)) != 0)
    fail("from_dlpack", {"the elements are not aligned to the ", size_of(dtype), " bytes of ", name_of(dtype)});
  for (int i = 0; t.strides && i < t.ndim; ++i)
    if (t.strides[i] < 0 && shape[i] > 1)
      fail("from_dlpack", {"negative stride in ", Shape(t.strides, t.ndim), "; a tensor goes forwards, copy it first"});

  TensorImpl* const impl = tern::detail::new_external(dtype, shape, data, release, managed);
  impl->ordinal = std::uint8_t(on_cuda ? t.device.device_id : 0);
  for (int i = 0; t.strides && i < t.ndim; ++i) impl->strides[i] = t.strides[i];
  update_contiguous(*impl);
  if (on_cuda) return Tensor<Cuda>(impl);  // whatever the type: AnyTensor takes it from the impl
  return Tensor<Cpu>(impl);
}

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

/// The tensor as DLPack 1.1 hands it on: the same elements, which live until the receiver calls the deleter. On a CUDA
/// device they are what the work queued so far makes of them: synchronise before another stream reads. Error where the
/// tensor requires a gradient.
[[gnu::noinline, gnu::cold]] inline dlpack::DLManagedTensorVersioned* to_dlpack(const AnyTensor& x) {
  detail::check_export(x);
  auto& given = (new detail::DlpackExport<dlpack::DLManagedTensorVersioned>(x))->managed;
  given.version = {1, 1};
  return &given;
}

/// The same for receivers from before version 1.
[[gnu::noinline, gnu::cold]] inline dlpack::DLManagedTensor* to_dlpack_unversioned(const AnyTensor& x) {
  detail::check_export(x);
  return &(new detail::DlpackExport<dlpack::DLManagedTensor>(x))->managed;
}

/// A tensor over another library's elements; its deleter runs when nobody uses them any more. On an Error, for elements
/// that no tensor can hold or that are read-only, nothing was taken over, and the caller still owns `given`.
[[gnu::noinline, gnu::cold]] inline AnyTensor from_dlpack(dlpack::DLManagedTensorVersioned* given) {
  if (given->version.major != 1)
    fail("from_dlpack",
         {"the structure is of version ", Index(given->version.major), ".", Index(given->version.minor), ", not 1.x"});
  if (given->flags & dlpack::DLPACK_FLAG_BITMASK_READ_ONLY)
    fail("from_dlpack", {"the elements are read-only, which a tensor's cannot be; copy them first"});
  return detail::take_dlpack(given);
}
[[gnu::noinline, gnu::cold]] inline AnyTensor from_dlpack(dlpack::DLManagedTensor* given) {
  return detail::take_dlpack(given);
}

}  // namespace tern::io
