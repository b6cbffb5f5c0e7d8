// The untyped core of a tensor: one block of memory with its shape, reference counts and place on the tape.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <atomic>
#include <new>

#include "../core/array.hpp"
#include "../device/memory.hpp"

namespace tern::inline TERN_BUILD {

struct Node;
struct TensorImpl;

namespace detail {

/// Atomic, but the last owner need not lock the bus to find out that it is the last.
class RefCount {
 public:
  void increase() { count_.fetch_add(1, std::memory_order_relaxed); }
  /// True for the last owner.
  bool decrease() {
    return count_.load(std::memory_order_acquire) == 1 || count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  bool unique() const { return count_.load(std::memory_order_acquire) == 1; }

 private:
  std::atomic<std::uint32_t> count_{1};
};

/// Defined by the tape: gives up one reference to a node. Weak: without the tape there are no nodes, and it is not missed.
[[gnu::weak]] void release_node(Node*);

}  // namespace detail

/// Small tensors keep their elements behind the header, in the same block.
inline constexpr std::size_t inline_bytes = 768;

struct alignas(64) TensorImpl : Array {
  detail::RefCount refs;       // handles
  detail::RefCount block;      // of an owner: one for all handles together, one for each view; a view never holds a graph
  std::uint32_t version;       // of an owner: how often its elements were written since it was made
  std::uint32_t view_version;  // of a view: the version at which its node was right
  TensorImpl* owner;           // itself, or the impl whose block holds the elements
  TensorImpl* base;            // of a differentiable view: the tensor that it is a view of, held
  Node* node;                  // its place on the tape, held; null if no gradient is asked for
  void* storage;               // an owner's elements, where they do not follow the header
  Deleter deleter;             // null: storage is the host allocator's, of class storage_class
  void* deleter_context;
  std::uint8_t header_class, storage_class;
  bool inference;              // made in inference mode: cannot be saved for backward
  bool pinned;                 // in page-locked host memory, which a copy may still be using
};

namespace detail {

/// Set by InferenceMode: what this thread makes can never be saved for a backward pass.
inline constinit thread_local bool inference_mode = false;

/// A header with nothing but the fields of ownership set.
inline TensorImpl* new_header(int size_class) {
  auto* p = static_cast<TensorImpl*>(memory::allocate(size_class));
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
  p->ordinal = 0;
  return p;
}

[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_shape(ShapeRef shape, DType dtype) {
  for (int i = 0; i < shape.n; ++i)
    if (shape.d[i] < 0) fail("empty", {"negative size in ", shape});
  fail("empty", {"out of memory: ", shape, " of ", name_of(dtype), " does not fit in memory"});
}

/// The product of the sizes. Error on a negative size, or on more bytes than there can be.
inline Index checked_numel(ShapeRef shape, DType dtype) {
  Index numel = 1;
  bool wrong = false;
  for (int i = 0; i < shape.n; ++i)
    wrong = wrong || shape.d[i] < 0 || __builtin_mul_overflow(numel, shape.d[i], &numel);
  if (wrong || numel > (Index(1) << 41) / size_of(dtype)) [[unlikely]] refuse_shape(shape, dtype);
  return numel;
}

/// A new dense tensor in host memory, elements not initialised, strides row-major.
[[gnu::noinline]] inline TensorImpl* new_impl(DType dtype, ShapeRef shape) {
  const Index numel = checked_numel(shape, dtype);
  const std::size_t bytes = std::size_t(numel) * std::size_t(size_of(dtype));
  TensorImpl* p;
  if (bytes <= inline_bytes) {
    p = new_header(memory::class_of(sizeof(TensorImpl) + bytes));
    p->data = reinterpret_cast<char*>(p) + sizeof(TensorImpl);
  } else {
    const int storage_class = memory::class_of(bytes);
    void* storage = memory::allocate(storage_class);
    p = new_header(memory::class_of(sizeof(TensorImpl)));
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

/// A tensor over memory that is not the library's; deleter(storage, context) runs with its last owner.
[[gnu::noinline]] inline TensorImpl* new_external(DType dtype, ShapeRef shape, void* data, Deleter deleter, void* context) {
  const Index numel = checked_numel(shape, dtype);
  TensorImpl* p = new_header(memory::class_of(sizeof(TensorImpl)));
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

inline void retain(TensorImpl* p) {
  if (p) p->refs.increase();
}

void release(TensorImpl* p);

[[gnu::noinline]] inline void destroy(TensorImpl* p) {
  if (p->node) release_node(p->node);
  if (p->base) release(p->base);
  TensorImpl* const owner = p->owner;
  if (owner != p) memory::deallocate(p, p->header_class);
  if (!owner->block.decrease()) return;
  if (owner->deleter) owner->deleter(owner->storage, owner->deleter_context);
  else if (owner->storage) memory::deallocate(owner->storage, owner->storage_class);
  memory::deallocate(owner, owner->header_class);
}

[[gnu::noinline]] inline void release(TensorImpl* p) {
  if (p && p->refs.decrease()) destroy(p);
}

/// A header over a's elements, off the tape; the caller sets sizes and strides.
inline TensorImpl* new_alias(const TensorImpl* a) {
  TensorImpl* p = new_header(memory::class_of(sizeof(TensorImpl)));
  p->data = a->data;
  p->numel = a->numel;
  p->dtype = a->dtype;
  p->ordinal = a->ordinal;
  p->owner = a->owner;
  p->inference = a->inference;
  p->pinned = a->pinned;
  a->owner->block.increase();
  return p;
}

/// The same elements with the same sizes and strides, off the tape; the version counter is shared.
[[gnu::noinline]] inline TensorImpl* new_detached(const TensorImpl* a) {
  TensorImpl* p = new_alias(a);
  p->ndim = a->ndim;
  p->contiguous = a->contiguous;
  for (int i = 0; i < a->ndim; ++i) {
    p->dims[i] = a->dims[i];
    p->strides[i] = a->strides[i];
  }
  return p;
}

/// Notes that p's elements were written.
inline void bump_version(TensorImpl* p) { ++p->owner->version; }

/// Makes a tensor on the device of that number.
using Allocate = TensorImpl* (*)(DType, ShapeRef, int ordinal);

/// What code that knows no types asks of a tensor's device.
struct DeviceOps {
  Allocate allocate;                                   // dense, elements not initialised
  void (*copy)(const Array& out, const Array& in);     // in broadcast to out's shape
};

/// Holds one reference.
struct Owned {
  TensorImpl* impl;
  explicit Owned(TensorImpl* p) : impl(p) {}
  ~Owned() { release(impl); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  TensorImpl* take() {
    TensorImpl* const p = impl;
    impl = nullptr;
    return p;
  }
};

/// A dense copy in row-major order, off the tape.
[[gnu::noinline]] inline TensorImpl* copied(const DeviceOps& device, const TensorImpl* x) {
  Owned y(device.allocate(x->dtype, x->shape_ref(), x->ordinal));
  device.copy(*y.impl, *x);
  return y.take();
}

/// Nobody else can see these elements.
inline bool sole_owner(const TensorImpl* p) { return p->owner == p && p->refs.unique() && p->block.unique(); }

}  // namespace detail
}  // namespace tern
