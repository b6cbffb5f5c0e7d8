// oneDNN's convolutions through its C API, and reorders between memory orders. This file and its .ipp hide the
// differences between oneDNN 2.6 and 3.x.
#pragma once
#include <string_view>
#include <utility>

#include "../../convolution.hpp"
#include "onednn.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::onednn {

using backend::ConvParams;

/// The numbers of a pass's operands in oneDNN.
struct ConvolutionArguments {
  int x, weight, y;
  explicit ConvolutionArguments(ConvolutionPass pass)
      : x(pass == ConvolutionPass::data_gradient ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC),
        weight(pass == ConvolutionPass::weight_gradient ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS),
        y(pass == ConvolutionPass::forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST) {}
};

/// True if the name of a descriptor's kernel begins so: jit:avx512_core, brgconv:avx512_core.
inline bool is_kernel(const_dnnl_primitive_desc_t desc, std::string_view begin) {
  const char* name = "";
  dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
  return std::string_view(name).starts_with(begin);
}

/// The descriptor of a convolution, or null if oneDNN has none for these types and sizes. bias may be null. hint is the
/// forward pass's descriptor, null for the forward pass itself. jit chooses oneDNN's older kernel of that name, if
/// there is one after the first.
TERN_API dnnl_primitive_desc_t convolution_desc(ConvolutionPass pass, const ConvParams& params, Desc x, Desc weight,
                                                Desc bias, Desc y, const Attributes& attributes,
                                                dnnl_primitive_desc_t hint, bool jit);

/// True if both describe the same memory.
inline bool same(Desc a, Desc b) { return dnnl_memory_desc_equal(a, b); }

/// A primitive that copies from one memory order to another.
TERN_API Primitive* make_reorder(const Key& key, Desc from, Desc to);

}  // namespace detail::onednn
}}  // namespace tern

#ifndef TERN_COMPILED
#include "onednn_convolution.ipp"
#endif
