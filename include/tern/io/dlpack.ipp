// The functions of dlpack.hpp that are not templates.
#pragma once
#include "dlpack.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io::detail {

TERN_COLD void check_export(const AnyTensor& x) {
  if (!x.defined()) Error::fail("to_dlpack", {"the tensor is undefined"});
  if (x.impl()->node)
    Error::fail("to_dlpack", {"the tensor requires a gradient, which others would not see; detach() it"});
  const char* const device = x.device_name();
  if (std::strcmp(device, DeviceTraits<Cpu>::name) != 0 && std::strcmp(device, DeviceTraits<Cuda>::name) != 0)
    Error::fail("to_dlpack", {"DLPack has no device '", device, "'"});
  if (x.impl()->pinned) tern::detail::finish_copies(x.impl());
}

TERN_COLD DType dlpack_dtype(const dlpack::DLDataType& type) {
  for (int i = 0; i < tern::detail::dtype_count; ++i)
    if (dlpack_codes[i] == type.code && 8 * tern::detail::size_of(DType(i)) == type.bits && type.lanes == 1)
      return DType(i);
  Error::fail("from_dlpack", {"elements of code ", int(type.code), ", ", int(type.bits), " bits and ", int(type.lanes),
                              " lanes are no element type of a tensor"});
}

TERN_COLD AnyTensor import_dlpack(const dlpack::DLTensor& t, tern::detail::Deleter release, void* managed) {
  const bool on_cuda = t.device.device_type == dlpack::kDLCUDA;
  if (!on_cuda && t.device.device_type != dlpack::kDLCPU && t.device.device_type != dlpack::kDLCUDAHost)
    Error::fail("from_dlpack", {"device type ", t.device.device_type, " is neither the host's memory nor CUDA's"});
  if (on_cuda && (t.device.device_id < 0 || t.device.device_id >= cuda::device_count()))
    Error::fail("from_dlpack", {"there is no CUDA device ", t.device.device_id, " of ", cuda::device_count()});
  if (t.ndim < 0 || t.ndim > tern::detail::max_dims)
    Error::fail("from_dlpack", {"a tensor has up to ", tern::detail::max_dims, " dimensions, not ", t.ndim});
  const DType dtype = dlpack_dtype(t.dtype);
  const tern::detail::Shape shape(t.shape, t.ndim);
  for (const Index size : shape)
    if (size < 0) Error::fail("from_dlpack", {"negative size in ", shape});
  char* const data = static_cast<char*>(t.data) + t.byte_offset;
  if (!t.data && shape.numel() != 0) Error::fail("from_dlpack", {"a null pointer does not hold shape ", shape});
  if (reinterpret_cast<std::uintptr_t>(data) % std::uintptr_t(tern::detail::size_of(dtype)) != 0)
    Error::fail("from_dlpack", {"the elements are not aligned to the ", tern::detail::size_of(dtype), " bytes of ",
                                tern::detail::name_of(dtype)});
  for (int i = 0; t.strides && i < t.ndim; ++i)
    if (t.strides[i] < 0 && shape[i] > 1)
      Error::fail("from_dlpack", {"negative stride in ", tern::detail::Shape(t.strides, t.ndim),
                                  "; a tensor's strides are not negative, copy it first"});

  tern::detail::TensorImpl* const impl = tern::detail::new_external(dtype, shape, data, release, managed);
  impl->ordinal = std::uint8_t(on_cuda ? t.device.device_id : 0);
  for (int i = 0; t.strides && i < t.ndim; ++i) impl->strides[i] = t.strides[i];
  tern::detail::update_contiguous(*impl);
  if (on_cuda) return Tensor<Cuda>(impl);  // AnyTensor takes the type from the impl
  return Tensor<Cpu>(impl);
}

}}}  // namespace tern::io::detail

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD dlpack::DLManagedTensorVersioned* to_dlpack(const AnyTensor& x, CallSite here) {
  const CallScope scope(here);
  detail::check_export(x);
  auto& given = (new detail::DlpackExport<dlpack::DLManagedTensorVersioned>(x))->managed;
  given.version = {1, 1};
  return &given;
}

TERN_COLD dlpack::DLManagedTensor* to_dlpack_unversioned(const AnyTensor& x, CallSite here) {
  const CallScope scope(here);
  detail::check_export(x);
  return &(new detail::DlpackExport<dlpack::DLManagedTensor>(x))->managed;
}

TERN_COLD AnyTensor from_dlpack(dlpack::DLManagedTensorVersioned* given, CallSite here) {
  const CallScope scope(here);
  if (given->version.major != 1)
    Error::fail("from_dlpack", {"the structure is of version ", Index(given->version.major), ".",
                                Index(given->version.minor), ", not 1.x"});
  if (given->flags & dlpack::DLPACK_FLAG_BITMASK_READ_ONLY)
    Error::fail("from_dlpack", {"the elements are read-only, which a tensor's cannot be; copy them first"});
  return detail::take_dlpack(given);
}

TERN_COLD AnyTensor from_dlpack(dlpack::DLManagedTensor* given, CallSite here) {
  const CallScope scope(here);
  return detail::take_dlpack(given);
}

}}}  // namespace tern::io
