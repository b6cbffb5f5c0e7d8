// The untyped core of a tensor: one block of memory with its shape, reference counts and place on the tape.
#pragma once
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
extern TERN_API constinit thread_local bool inference_mode;

/// A header with nothing but the fields of ownership set.
TERN_API TensorImpl* new_header(int size_class);

[[noreturn]] TERN_API void refuse_shape(ShapeRef shape, DType dtype);

/// The product of the sizes. Error on a negative size, or on more bytes than there can be.
TERN_API Index checked_numel(ShapeRef shape, DType dtype);

/// A new dense tensor in host memory, elements not initialised, strides row-major.
TERN_API TensorImpl* new_impl(DType dtype, ShapeRef shape);

/// A tensor over memory that is not the library's; deleter(storage, context) runs with its last owner.
TERN_API TensorImpl* new_external(DType dtype, ShapeRef shape, void* data, Deleter deleter, void* context);

inline void retain(TensorImpl* p) {
  if (p) p->refs.increase();
}

void release(TensorImpl* p);

TERN_API void destroy(TensorImpl* p);

TERN_API void release(TensorImpl* p);

/// A header over a's elements, off the tape; the caller sets sizes and strides.
TERN_API TensorImpl* new_alias(const TensorImpl* a);

/// The same elements with the same sizes and strides, off the tape; the version counter is shared.
TERN_API TensorImpl* new_detached(const TensorImpl* a);

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
TERN_API TensorImpl* copied(const DeviceOps& device, const TensorImpl* x);

/// Nobody else can see these elements.
inline bool sole_owner(const TensorImpl* p) { return p->owner == p && p->refs.unique() && p->block.unique(); }

}  // namespace detail
}  // namespace tern

#ifndef TERN_COMPILED
#include "impl.ipp"
#endif
