// The untyped core of a tensor: a block of memory with its shape, reference counts and node on the tape.
#pragma once
#include <atomic>
#include <new>

#include "../core/array.hpp"
#include "../device/memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

struct GradOps;
struct Node;
struct TensorImpl;

/// An atomic count. The last owner finds out that it is the last without a locked instruction.
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

/// Gives up one reference to a node. The tape defines it. It is weak, because a program without the tape has no nodes
/// and does not need it.
[[gnu::weak]] void release_node(Node*);

/// A small tensor stores its elements in the same block, behind the header.
inline constexpr std::size_t inline_bytes = 768;

struct alignas(64) TensorImpl : Array {
  RefCount refs;          // handles
  RefCount block;         // of an owner: one for all handles together, one for each view. A view never holds a graph
  std::uint32_t version;  // of an owner: how often its elements were written
  std::uint32_t view_version;  // of a view: the version that its node belongs to
  TensorImpl* owner;           // itself, or the impl whose block holds the elements
  TensorImpl* base;            // of a differentiable view: the tensor that it views, held
  Node* node;                  // its node on the tape, held; null if it needs no gradient
  void* storage;               // an owner's elements, if they are not behind the header
  Deleter deleter;             // null: storage comes from the host allocator, with class storage_class
  void* deleter_context;
  std::uint8_t header_class, storage_class;
  bool inference;  // made in inference mode: cannot be saved for backward
  bool pinned;     // in page-locked host memory, which a copy may still use
  bool read_only;  // the caller's memory, which must not be written
};

/// Set by InferenceMode. Tensors that this thread makes while it is set can never be saved for a backward pass.
extern TERN_API constinit thread_local bool inference_mode;

/// A header of which only the ownership fields are set.
TERN_API TensorImpl* new_header(int size_class);

/// Fails because a handle is empty.
[[noreturn]] TERN_API void refuse_undefined(CallSite op);

/// The number of elements of a new tensor. Error if a size is negative, or if the bytes exceed the address space.
TERN_API Index new_numel(ShapeRef shape, DType dtype);

/// A new dense tensor in host memory with row-major strides. Its elements are not initialised.
TERN_API TensorImpl* new_impl(DType dtype, ShapeRef shape);

/// A tensor over foreign memory. deleter(storage, context) runs when its last owner is gone.
TERN_API TensorImpl* new_external(DType dtype, ShapeRef shape, void* data, Deleter deleter, void* context);

/// The ndim of a tensor whose elements have not been read: x[mask], until it is used.
inline constexpr std::uint8_t unread = 255;

/// Replaces a reference to an unread tensor by one to the tensor with its elements, which the first call makes.
TERN_API TensorImpl* read_once(TensorImpl* p);

/// Outlives the other objects of a full expression, and then reads the unread tensor of the expression, if that is
/// still referred to, as in `auto y = x[mask];`: what is written to x later must not change y.
class TERN_API ExpressionEnd {
 public:
  ExpressionEnd() = default;
  ExpressionEnd(const ExpressionEnd&) = delete;
  ExpressionEnd& operator=(const ExpressionEnd&) = delete;
  ~ExpressionEnd() noexcept(false) {
    if (unread_) read_if_kept();
  }

 private:
  friend TensorImpl* new_unread(void*, TensorImpl* (*)(const void*), Deleter, const ExpressionEnd&);
  void read_if_kept();

  mutable TensorImpl* unread_ = nullptr;
};

/// An unread tensor. read(source) makes the tensor with the elements; drop(source, null) frees the source.
TERN_API TensorImpl* new_unread(void* source, TensorImpl* (*read)(const void*), Deleter drop, const ExpressionEnd& end);

inline void retain(TensorImpl* p) {
  if (p) p->refs.increase();
}

void release(TensorImpl* p);

TERN_API void destroy(TensorImpl* p);

TERN_API void release(TensorImpl* p);

/// A header over a's elements, not on the tape. The caller sets sizes and strides.
TERN_API TensorImpl* new_alias(const TensorImpl* a);

/// The same elements with the same sizes and strides, not on the tape. The version counter is shared.
TERN_API TensorImpl* new_detached(const TensorImpl* a);

/// Counts a write to p's elements.
inline void bump_version(TensorImpl* p) { ++p->owner->version; }

/// Makes a tensor on the device with that number.
using Allocate = TensorImpl* (*)(DType, ShapeRef, int ordinal);

/// Operations of a device, for code that does not know the tensor's type.
struct DeviceOps {
  Allocate allocate;                                // dense, elements not initialised
  void (*copy)(const Array& out, const Array& in);  // in broadcast to out's shape
};

/// The first `columns` of each row of a new tensor, which then has gaps between its rows.
TERN_API TensorImpl* without_last_columns(TensorImpl* p, Index columns);

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

/// True if two tensors of one owner may share elements at different indices.
TERN_API bool differ_in_shared_memory(const TensorImpl& a, const TensorImpl& b);

/// True if the tensors share memory and are not the same view of it.
inline bool partly_overlaps(const TensorImpl& a, const TensorImpl& b) {
  return a.owner == b.owner && &a != &b && differ_in_shared_memory(a, b);
}

/// A dense copy in row-major order, not on the tape.
TERN_API TensorImpl* copied(const DeviceOps& device, const TensorImpl* x);

/// True if nothing else can see these elements.
inline bool sole_owner(const TensorImpl* p) { return p->owner == p && p->refs.unique() && p->block.unique(); }

/// Error if the left side of an assignment, a temporary handle of p, is undefined or its elements would be lost.
TERN_API void check_assigned(const TensorImpl* p, CallSite here);

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "impl.ipp"
#endif
