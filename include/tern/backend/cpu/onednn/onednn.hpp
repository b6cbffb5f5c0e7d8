// oneDNN through its C API: errors, memory, primitives. dnnl.hpp would cost half a second of compile time. This file
// and its .ipp hide the differences between oneDNN 2.6 and 3.x.
#pragma once
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cstring>

#include "../../../core/dtype.hpp"
#include "../../../core/keyed_cache.hpp"
#include "../../../core/parallel.hpp"
#include "../../../core/shape.hpp"
#include "../../../device/memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::onednn {

[[noreturn]] TERN_API void refuse(const char* call, dnnl_status_t status);

/// Throws unless the call succeeded.
inline void check(const char* call, dnnl_status_t status) {
  if (status != dnnl_success) refuse(call, status);
}

/// Call it before any other call of oneDNN that computes.
TERN_API void start();

/// The process's engine. Never destroyed, because primitives may be destroyed later than any static object.
TERN_API dnnl_engine_t engine();

/// True if oneDNN's kernels use these instructions.
inline bool uses(dnnl_cpu_isa_t instructions) {
  start();
  return (dnnl_get_effective_cpu_isa() & instructions) == instructions;
}
/// True if its kernels for bfloat16 use AMX.
inline bool has_amx() { return uses(dnnl_cpu_isa_avx512_core_amx); }
/// True if they use AVX512-BF16, which each processor with AMX has.
inline bool has_bfloat16() { return uses(dnnl_cpu_isa_avx512_core_bf16); }

/// oneDNN's name of an element type.
constexpr dnnl_data_type_t data_type(DType type) {
  constexpr auto none = dnnl_data_type_undef;
  constexpr dnnl_data_type_t types[dtype_count] = {dnnl_f32, none, dnnl_bf16, dnnl_f16, none, dnnl_s32, dnnl_u8, none};
  return types[int(type)];
}

/// The type in which oneDNN's functions take a memory descriptor.
#if DNNL_VERSION_MAJOR >= 3
using Desc = const_dnnl_memory_desc_t;
#else
using Desc = const dnnl_memory_desc_t*;
#endif

/// Type, sizes and strides of an argument.
class TERN_API MemoryDesc {
 public:
  /// A descriptor that leaves the order to the primitive.
  MemoryDesc(DType type, const Shape& dims);
  MemoryDesc(DType type, const Shape& dims, const Shape& strides);
#if DNNL_VERSION_MAJOR >= 3
  ~MemoryDesc() { dnnl_memory_desc_destroy(desc_); }
  Desc get() const { return desc_; }
#else
  Desc get() const { return &desc_; }
#endif
  MemoryDesc(const MemoryDesc&) = delete;
  MemoryDesc& operator=(const MemoryDesc&) = delete;

 private:
  dnnl_memory_desc_t desc_;
};

/// The operations fused after a primitive, in the order of the calls.
class TERN_API PostOps {
 public:
  PostOps();
  ~PostOps() { dnnl_post_ops_destroy(ops_); }
  PostOps(const PostOps&) = delete;
  PostOps& operator=(const PostOps&) = delete;

  /// Adds the previous content of the destination.
  void sum();
  const_dnnl_post_ops_t get() const { return ops_; }

 private:
  dnnl_post_ops_t ops_;
};

/// The attributes of a primitive: its post-ops, and that the caller provides the scratchpad. Without the latter, a
/// primitive made in one thread crashes in another.
class TERN_API Attributes {
 public:
  explicit Attributes(const PostOps& ops);
  ~Attributes() { dnnl_primitive_attr_destroy(attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const_dnnl_primitive_attr_t get() const { return attributes_; }

 private:
  dnnl_primitive_attr_t attributes_;
};

/// Everything that a primitive was made for: its kind, types, sizes, strides and number of threads.
struct Key {
  static constexpr int capacity = 40;
  int n = 0;
  Index value[capacity];

  template <class... Values>
  explicit Key(Values... values) : n(sizeof...(values)), value{Index(values)...} {
    static_assert(sizeof...(values) <= capacity);
  }
  void add(const Shape& sizes) {
    for (Index size : sizes) value[n++] = size;
  }
  std::uint64_t hash() const { return hash_words(value, std::size_t(n)); }
  friend bool operator==(const Key& a, const Key& b) {
    return a.n == b.n && std::memcmp(a.value, b.value, sizeof(Index) * std::size_t(a.n)) == 0;
  }
};

/// A primitive with the memory objects of its arguments, used by one thread at a time. usable() is false if oneDNN has
/// only a "ref" kernel, because those are hundreds of times slower than any other way.
class TERN_API Primitive {
 public:
  /// One argument: its number (DNNL_ARG_…) and its memory descriptor, which is null if the argument is left out.
  struct Argument {
    int number;
    Desc desc;
  };

  /// Takes ownership of the descriptor, which is null if oneDNN has no primitive for these arguments.
  Primitive(const Key& key, dnnl_primitive_desc_t desc, std::initializer_list<Argument> arguments);
  ~Primitive() { release(); }
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;

  const Key& key() const { return key_; }
  bool usable() const { return primitive_; }
  /// The memory descriptor of an argument.
  Desc desc(int number) const;

  /// Runs on these pointers, one for each argument, in order.
  void run(std::initializer_list<const void*> pointers);

 private:
  struct Stream {
    dnnl_stream_t handle;
    Stream() { check("dnnl_stream_create", dnnl_stream_create(&handle, engine(), dnnl_stream_in_order)); }
    ~Stream() { dnnl_stream_destroy(handle); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
  };

  template <class Desc>
  dnnl_status_t add(int which, Desc desc) {
    args_[count_].arg = which;
    const dnnl_status_t status = dnnl_memory_create(&args_[count_].memory, desc, engine(), DNNL_MEMORY_NONE);
    count_ += status == dnnl_success;
    return status;
  }
  void release() {
    while (count_) dnnl_memory_destroy(args_[--count_].memory);
    if (primitive_) dnnl_primitive_destroy(primitive_);
    primitive_ = nullptr;
  }

  Key key_;
  dnnl_primitive_t primitive_ = nullptr;
  std::size_t scratch_bytes_ = 0;
  dnnl_exec_arg_t args_[8];
  int count_ = 0;
};

/// The process's primitives. Never destroyed, like the engine.
inline KeyedCache<Primitive, Key>& cache() {
  static KeyedCache<Primitive, Key>& made = *new KeyedCache<Primitive, Key>;
  return made;
}

/// Exclusive use of the primitive for a key, from the cache or from make(), which returns a new one.
struct Leased : Lease<Primitive, Key> {
  template <class Make>
  Leased(const Key& key, const Make& make) : Lease(cache(), key, make) {}
};

/// The descriptor of a matrix product, or null if oneDNN has none for these types and strides. bias may be null.
TERN_API dnnl_primitive_desc_t matmul_desc(const MemoryDesc& a, const MemoryDesc& b, Desc bias, const MemoryDesc& c,
                                           const Attributes& attributes);

}  // namespace detail::onednn
}}  // namespace tern

#ifndef TERN_COMPILED
#include "onednn.ipp"
#endif
