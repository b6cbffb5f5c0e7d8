// The functions of impl.hpp that are not templates.
#pragma once
#include "impl.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE constinit thread_local bool inference_mode = false;

TERN_INLINE TensorImpl* new_header(int size_class) {
  auto* p = static_cast<TensorImpl*>(detail::memory::allocate(size_class));
  new (&p->refs) RefCount;
  new (&p->block) RefCount;
  p->version = 0;
  p->owner = p;
  p->base = nullptr;
  p->node = nullptr;
  p->storage = nullptr;
  p->deleter = nullptr;
  p->header_class = std::uint8_t(size_class);
  p->inference = inference_mode;
  p->pinned = false;
  p->read_only = false;
  p->ordinal = 0;
  return p;
}

TERN_COLD void refuse_undefined(CallSite op) { Error::fail(op, {"a tensor is undefined"}); }

TERN_INLINE Index new_numel(ShapeRef shape, DType dtype) {
  static constexpr CallSite op("empty", CallSite::unknown);
  const Index numel = checked_numel(op, shape);
  if (numel > (Index(1) << 41) / size_of(dtype)) [[unlikely]]
    Error::fail(op, {"out of memory: ", shape, " of ", name_of(dtype), " does not fit in memory"});
  return numel;
}

TERN_NOINLINE TensorImpl* new_impl(DType dtype, ShapeRef shape) {
  const Index numel = new_numel(shape, dtype);
  const std::size_t bytes = std::size_t(numel) * std::size_t(size_of(dtype));
  TensorImpl* p;
  if (!detail::memory::separate_blocks && bytes <= inline_bytes) {
    p = new_header(detail::memory::class_of(sizeof(TensorImpl) + bytes));
    p->data = reinterpret_cast<char*>(p) + sizeof(TensorImpl);
  } else {
    const auto [storage, storage_class] = detail::memory::allocate_bytes(bytes);
    p = new_header(detail::memory::class_of(sizeof(TensorImpl)));
    p->storage = storage;
    p->storage_class = std::uint8_t(storage_class);
    p->data = static_cast<char*>(storage);
  }
  p->dtype = dtype;
  p->numel = numel;
  p->ndim = std::uint8_t(shape.n);
  for (int i = 0; i < shape.n; ++i) p->dims[i] = shape.d[i];
  set_contiguous_strides(*p);
  return p;
}

TERN_NOINLINE TensorImpl* new_external(DType dtype, ShapeRef shape, void* data, Deleter deleter, void* context) {
  const Index numel = new_numel(shape, dtype);
  TensorImpl* p = new_header(detail::memory::class_of(sizeof(TensorImpl)));
  p->dtype = dtype;
  p->numel = numel;
  p->ndim = std::uint8_t(shape.n);
  for (int i = 0; i < shape.n; ++i) p->dims[i] = shape.d[i];
  set_contiguous_strides(*p);
  p->data = static_cast<char*>(data);
  p->storage = data;
  p->deleter = deleter;
  p->deleter_context = context;
  return p;
}

TERN_NOINLINE void destroy(TensorImpl* p) {
  if (p->node) release_node(p->node);
  if (p->base) release(p->base);
  TensorImpl* const owner = p->owner;
  if (owner != p) detail::memory::deallocate(p, p->header_class);
  if (!owner->block.decrease()) return;
  if (owner->deleter) owner->deleter(owner->storage, owner->deleter_context);
  else if (owner->storage) detail::memory::deallocate(owner->storage, owner->storage_class);
  detail::memory::deallocate(owner, owner->header_class);
}

TERN_NOINLINE void release(TensorImpl* p) {
  if (p && p->refs.decrease()) destroy(p);
}

TERN_NOINLINE TensorImpl* new_unread(void* source, TensorImpl* (*read)(const void*), Deleter drop,
                                     const ExpressionEnd& end) {
  TensorImpl* const p = new_header(detail::memory::class_of(sizeof(TensorImpl)));
  p->ndim = unread;
  p->storage = source;
  p->deleter = drop;
  p->deleter_context = reinterpret_cast<void*>(read);
  retain(end.unread_ = p);
  return p;
}

TERN_NOINLINE TensorImpl* read_once(TensorImpl* p) {
  if (!p->base) p->base = reinterpret_cast<TensorImpl* (*)(const void*)>(p->deleter_context)(p->storage);
  TensorImpl* const tensor = p->base;
  retain(tensor);
  release(p);
  return tensor;
}

TERN_NOINLINE void ExpressionEnd::read_if_kept() {
  Owned last(unread_);
  if (!unread_->refs.unique()) last.impl = read_once(unread_);
}

TERN_INLINE TensorImpl* new_alias(const TensorImpl* a) {
  TensorImpl* p = new_header(detail::memory::class_of(sizeof(TensorImpl)));
  p->data = a->data;
  p->numel = a->numel;
  p->dtype = a->dtype;
  p->ordinal = a->ordinal;
  p->owner = a->owner;
  p->inference = a->inference;
  p->pinned = a->pinned;
  p->read_only = a->read_only;
  a->owner->block.increase();
  return p;
}

TERN_NOINLINE TensorImpl* new_detached(const TensorImpl* a) {
  TensorImpl* p = new_alias(a);
  p->ndim = a->ndim;
  p->contiguous = a->contiguous;
  for (int i = 0; i < a->ndim; ++i) {
    p->dims[i] = a->dims[i];
    p->strides[i] = a->strides[i];
  }
  return p;
}

TERN_INLINE TensorImpl* without_last_columns(TensorImpl* p, Index columns) {
  Index& last = p->dims[p->ndim - 1];
  p->numel = p->numel / last * columns;
  last = columns;
  update_contiguous(*p);
  return p;
}

/// The bytes between an array's first and last element in memory, that one included.
struct MemoryRange {
  const char *first, *end;
  explicit MemoryRange(const Array& a) : first(a.data), end(a.data + size_of(a.dtype)) {
    for (int i = 0; i < a.ndim; ++i) {
      const Index bytes = (a.dims[i] - 1) * a.strides[i] * size_of(a.dtype);
      (bytes < 0 ? first : end) += bytes;
    }
  }
};

TERN_COLD bool differ_in_shared_memory(const TensorImpl& a, const TensorImpl& b) {
  if (a.numel == 0 || b.numel == 0) return false;
  if (a.data == b.data && same_shape(a, b) && same_order(a, b)) return false;
  const MemoryRange ours(a), theirs(b);
  return ours.first < theirs.end && theirs.first < ours.end;
}

TERN_NOINLINE void check_assigned(const TensorImpl* p, CallSite here) {
  if (!p) Error::fail({"operator=", here}, {"the expression on the left is an undefined tensor"});
  if (sole_owner(p))
    Error::fail({"operator=", here},
                {"the expression on the left is a new tensor of shape ", p->shape_ref(),
                 ", so what is written to it would be lost; index_put_ writes through positions and masks"});
}

TERN_NOINLINE TensorImpl* copied(const DeviceOps& device, const TensorImpl* x) {
  Owned y(device.allocate(x->dtype, x->shape_ref(), x->ordinal));
  device.copy(*y.impl, *x);
  return y.take();
}

}}}  // namespace tern::detail
