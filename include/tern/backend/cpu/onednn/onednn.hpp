// oneDNN through its C API (dnnl.hpp costs half a second of compile time): errors, memory, primitives.
// What differs between oneDNN 2.6 and 3.x is here and nowhere else.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cstring>

#include "../../../core/dtype.hpp"
#include "../../../core/keyed_cache.hpp"
#include "../../../core/shape.hpp"
#include "../../../device/memory.hpp"

namespace tern::inline TERN_BUILD {
namespace detail::onednn {

[[noreturn, gnu::noinline, gnu::cold]] inline void refuse(const char* call, dnnl_status_t status) {
  const char* why = status == dnnl_out_of_memory       ? "out of memory"
                    : status == dnnl_invalid_arguments ? "invalid arguments"
                    : status == dnnl_unimplemented     ? "not implemented for these types, sizes or strides"
                                                       : "failed while running";
  fail(call, {"oneDNN: ", why, " (status ", int(status), ")"});
}

/// Throws unless the call succeeded.
inline void check(const char* call, dnnl_status_t status) {
  if (status != dnnl_success) refuse(call, status);
}

/// Comes before any other call of oneDNN's that computes.
inline void start() {
#if DNNL_VERSION_MAJOR < 3
  // Version 2.6's products of bfloat16 on AMX end the program: they clear tiles that nobody configured.
  static const dnnl_status_t limited = dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);
  static_cast<void>(limited);
#endif
}

/// The process's engine; never destroyed, since primitives may outlive any order of destruction.
inline dnnl_engine_t engine() {
  static const dnnl_engine_t handle = [] {
    start();
    dnnl_engine_t made;
    check("dnnl_engine_create", dnnl_engine_create(&made, dnnl_cpu, 0));
    return made;
  }();
  return handle;
}

/// Whether its kernels for bfloat16 multiply on AMX.
inline bool has_amx() {
  start();
  return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_amx) == dnnl_cpu_isa_avx512_core_amx;
}

/// oneDNN's name of an element type.
constexpr dnnl_data_type_t data_type(DType type) {
  constexpr auto none = dnnl_data_type_undef;
  constexpr dnnl_data_type_t types[dtype_count] = {dnnl_f32, none, dnnl_bf16, dnnl_f16, none, dnnl_s32, dnnl_u8, none};
  return types[int(type)];
}

/// What oneDNN's functions take a description of memory as.
#if DNNL_VERSION_MAJOR >= 3
using Desc = const_dnnl_memory_desc_t;
#else
using Desc = const dnnl_memory_desc_t*;
#endif

/// Type, sizes and strides of an argument.
class MemoryDesc {
 public:
  /// In whatever order suits the primitive.
  [[gnu::noinline, gnu::cold]] MemoryDesc(DType type, const Shape& dims) {
    dnnl_dims_t d;
    std::copy_n(dims.d, dims.n, d);
#if DNNL_VERSION_MAJOR >= 3
    check("dnnl_memory_desc_create_with_tag",
          dnnl_memory_desc_create_with_tag(&desc_, dims.n, d, data_type(type), dnnl_format_tag_any));
#else
    check("dnnl_memory_desc_init_by_tag",
          dnnl_memory_desc_init_by_tag(&desc_, dims.n, d, data_type(type), dnnl_format_tag_any));
#endif
  }
  [[gnu::noinline, gnu::cold]] MemoryDesc(DType type, const Shape& dims, const Shape& strides) {
    const int ndims = dims.n;
    dnnl_dims_t d, s;
    std::copy_n(dims.d, ndims, d);
    std::copy_n(strides.d, ndims, s);
#if DNNL_VERSION_MAJOR >= 3
    check("dnnl_memory_desc_create_with_strides",
          dnnl_memory_desc_create_with_strides(&desc_, ndims, d, data_type(type), s));
#else
    check("dnnl_memory_desc_init_by_strides", dnnl_memory_desc_init_by_strides(&desc_, ndims, d, data_type(type), s));
#endif
  }
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

/// What is fused behind a primitive, in the order of the calls.
class PostOps {
 public:
  [[gnu::noinline, gnu::cold]] PostOps() { check("dnnl_post_ops_create", dnnl_post_ops_create(&ops_)); }
  ~PostOps() { dnnl_post_ops_destroy(ops_); }
  PostOps(const PostOps&) = delete;
  PostOps& operator=(const PostOps&) = delete;

  /// Adds what the destination held before.
  void sum() {
#if DNNL_VERSION_MAJOR >= 3
    check("dnnl_post_ops_append_sum", dnnl_post_ops_append_sum(ops_, 1, 0, dnnl_data_type_undef));
#else
    check("dnnl_post_ops_append_sum", dnnl_post_ops_append_sum(ops_, 1));
#endif
  }
  const_dnnl_post_ops_t get() const { return ops_; }

 private:
  dnnl_post_ops_t ops_;
};

/// A primitive's attributes: its post-ops, and scratch memory that the caller gives, without which a primitive made in
/// one thread crashes in another.
class Attributes {
 public:
  [[gnu::noinline, gnu::cold]] explicit Attributes(const PostOps& ops) {
    check("dnnl_primitive_attr_create", dnnl_primitive_attr_create(&attributes_));
    check("dnnl_primitive_attr_set_scratchpad_mode",
          dnnl_primitive_attr_set_scratchpad_mode(attributes_, dnnl_scratchpad_mode_user));
    check("dnnl_primitive_attr_set_post_ops", dnnl_primitive_attr_set_post_ops(attributes_, ops.get()));
  }
  ~Attributes() { dnnl_primitive_attr_destroy(attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const_dnnl_primitive_attr_t get() const { return attributes_; }

 private:
  dnnl_primitive_attr_t attributes_;
};

/// Everything a primitive was made for: its kind, types, sizes, strides and the number of threads.
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

/// A primitive with the memory objects of its arguments, used by one thread at a time. Without an implementation that
/// is worth running, usable() is false: oneDNN's "ref" kernels are hundreds of times slower than any other way.
class Primitive {
 public:
  /// One argument: its number (DNNL_ARG_…) and what it looks like; null for one that is left out.
  struct Argument {
    int number;
    Desc desc;
  };

  /// Takes the descriptor over; null if there is none for these arguments.
  [[gnu::noinline, gnu::cold]] Primitive(const Key& key, dnnl_primitive_desc_t desc,
                                         std::initializer_list<Argument> arguments)
      : key_(key) {
    if (!desc) return;
    const char* name = "";
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
    dnnl_status_t status = dnnl_success;
    if (!std::strstr(name, "ref")) {
      status = dnnl_primitive_create(&primitive_, desc);
      const auto scratch = dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
      scratch_bytes_ = dnnl_memory_desc_get_size(scratch);
      if (status == dnnl_success && scratch_bytes_) status = add(DNNL_ARG_SCRATCHPAD, scratch);
      for (const Argument& argument : arguments)
        if (status == dnnl_success && argument.desc) status = add(argument.number, argument.desc);
    }
    dnnl_primitive_desc_destroy(desc);
    if (status == dnnl_success) return;
    release();
    check("dnnl_primitive_create", status);
  }
  ~Primitive() { release(); }
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;

  const Key& key() const { return key_; }
  bool usable() const { return primitive_; }
  /// What an argument looks like.
  [[gnu::noinline]] Desc desc(int number) const {
    Desc found = nullptr;
    for (int i = 0; i < count_; ++i)
      if (args_[i].arg == number) check("dnnl_memory_get_memory_desc", dnnl_memory_get_memory_desc(args_[i].memory, &found));
    return found;
  }

  /// Runs on these pointers, one for each argument, in order.
  void run(std::initializer_list<const void*> pointers) {
    thread_local const Stream stream;
    int i = 0;
    const int scratch_class = memory::class_of(scratch_bytes_);
    void* const scratch = scratch_bytes_ ? memory::allocate(scratch_class) : nullptr;
    if (scratch) dnnl_memory_set_data_handle(args_[i++].memory, scratch);
    for (const void* pointer : pointers) dnnl_memory_set_data_handle(args_[i++].memory, const_cast<void*>(pointer));
    const dnnl_status_t status = dnnl_primitive_execute(primitive_, stream.handle, count_, args_);
    if (scratch) memory::deallocate(scratch, scratch_class);
    check("dnnl_primitive_execute", status);
  }

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

/// The process's primitives; never destroyed, as the engine.
inline KeyedCache<Primitive, Key>& cache() {
  static KeyedCache<Primitive, Key>& made = *new KeyedCache<Primitive, Key>;
  return made;
}

/// A primitive for this key while alive: from the cache, or from make(), which returns a new one.
struct Leased : Lease<Primitive, Key> {
  template <class Make>
  Leased(const Key& key, const Make& make) : Lease(cache(), key, make) {}
};

/// The descriptor of a matrix product, or null if oneDNN has none for these types and strides. bias may be null.
inline dnnl_primitive_desc_t matmul_desc(const MemoryDesc& a, const MemoryDesc& b, Desc bias, const MemoryDesc& c,
                                         const Attributes& attributes) {
  dnnl_primitive_desc_t desc = nullptr;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl_status_t status = dnnl_matmul_primitive_desc_create(&desc, engine(), a.get(), b.get(), bias, c.get(),
                                                                 attributes.get());
#else
  dnnl_matmul_desc_t matmul;
  check("dnnl_matmul_desc_init", dnnl_matmul_desc_init(&matmul, a.get(), b.get(), bias, c.get()));
  const dnnl_status_t status = dnnl_primitive_desc_create(&desc, &matmul, attributes.get(), engine(), nullptr);
#endif
  if (status == dnnl_unimplemented) return nullptr;
  check("dnnl_primitive_desc_create", status);
  return desc;
}

}  // namespace detail::onednn
}  // namespace tern
