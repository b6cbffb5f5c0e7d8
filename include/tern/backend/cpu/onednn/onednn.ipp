// The functions of onednn.hpp that are not templates.
#pragma once
#include <cstdlib>
#include <cstring>

#include "onednn.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::onednn {

TERN_COLD void refuse(const char* call, dnnl_status_t status) {
  const char* why = status == dnnl_out_of_memory       ? "out of memory"
                    : status == dnnl_invalid_arguments ? "invalid arguments"
                    : status == dnnl_unimplemented     ? "not implemented for these types, sizes or strides"
                                                       : "failed while running";
  Error::fail(call, {"oneDNN: ", why, " (status ", int(status), ")"});
}

TERN_INLINE void start() {
#if DNNL_VERSION_MAJOR < 3
  // Version 2.6's products of bfloat16 on AMX crash, because they clear tiles that nothing has configured. A call would
  // undo a lower limit that the user has set in the environment.
  static const bool limited = [] {
    const char* wanted = std::getenv("ONEDNN_MAX_CPU_ISA");
    if (!wanted) wanted = std::getenv("DNNL_MAX_CPU_ISA");
    const bool lower =
        wanted && (wanted[0] == 'S' || wanted[0] == 'A') && !std::strstr(wanted, "AMX") && !std::strstr(wanted, "ALL");
    return lower || dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16) == dnnl_success;
  }();
  static_cast<void>(limited);
#endif
}

TERN_INLINE dnnl_engine_t engine() {
  static const dnnl_engine_t handle = [] {
    start();
    dnnl_engine_t made;
    check("dnnl_engine_create", dnnl_engine_create(&made, dnnl_cpu, 0));
    return made;
  }();
  return handle;
}

TERN_COLD MemoryDesc::MemoryDesc(DType type, const Shape& dims) {
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

TERN_COLD MemoryDesc::MemoryDesc(DType type, const Shape& dims, const Shape& strides) {
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

TERN_COLD PostOps::PostOps() { check("dnnl_post_ops_create", dnnl_post_ops_create(&ops_)); }

TERN_INLINE void PostOps::sum() {
#if DNNL_VERSION_MAJOR >= 3
  check("dnnl_post_ops_append_sum", dnnl_post_ops_append_sum(ops_, 1, 0, dnnl_data_type_undef));
#else
  check("dnnl_post_ops_append_sum", dnnl_post_ops_append_sum(ops_, 1));
#endif
}

TERN_COLD Attributes::Attributes(const PostOps& ops) {
  check("dnnl_primitive_attr_create", dnnl_primitive_attr_create(&attributes_));
  check("dnnl_primitive_attr_set_scratchpad_mode",
        dnnl_primitive_attr_set_scratchpad_mode(attributes_, dnnl_scratchpad_mode_user));
  check("dnnl_primitive_attr_set_post_ops", dnnl_primitive_attr_set_post_ops(attributes_, ops.get()));
}

TERN_COLD Primitive::Primitive(const Key& key, dnnl_primitive_desc_t desc, std::initializer_list<Argument> arguments)
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

TERN_NOINLINE Desc Primitive::desc(int number) const {
  Desc found = nullptr;
  for (int i = 0; i < count_; ++i)
    if (args_[i].arg == number)
      check("dnnl_memory_get_memory_desc", dnnl_memory_get_memory_desc(args_[i].memory, &found));
  return found;
}

TERN_INLINE void Primitive::run(std::initializer_list<const void*> pointers) {
  thread_local const Stream stream;
  if (may_start_team() && openmp_threads() > 1) yield_to_openmp();
  int i = 0;
  const int scratch_class = memory::class_of(scratch_bytes_);
  void* const scratch = scratch_bytes_ ? memory::allocate(scratch_class, scratch_bytes_) : nullptr;
  if (scratch) dnnl_memory_set_data_handle(args_[i++].memory, scratch);
  for (const void* pointer : pointers) dnnl_memory_set_data_handle(args_[i++].memory, const_cast<void*>(pointer));
  const dnnl_status_t status = dnnl_primitive_execute(primitive_, stream.handle, count_, args_);
  if (scratch) memory::deallocate(scratch, scratch_class);
  check("dnnl_primitive_execute", status);
}

TERN_INLINE dnnl_primitive_desc_t matmul_desc(const MemoryDesc& a, const MemoryDesc& b, Desc bias, const MemoryDesc& c,
                                              const Attributes& attributes) {
  dnnl_primitive_desc_t desc = nullptr;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl_status_t status =
      dnnl_matmul_primitive_desc_create(&desc, engine(), a.get(), b.get(), bias, c.get(), attributes.get());
#else
  dnnl_matmul_desc_t matmul;
  check("dnnl_matmul_desc_init", dnnl_matmul_desc_init(&matmul, a.get(), b.get(), bias, c.get()));
  const dnnl_status_t status = dnnl_primitive_desc_create(&desc, &matmul, attributes.get(), engine(), nullptr);
#endif
  if (status == dnnl_unimplemented) return nullptr;
  check("dnnl_primitive_desc_create", status);
  return desc;
}

}}}  // namespace tern::detail::onednn
