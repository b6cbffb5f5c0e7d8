// The functions of onednn_convolution.hpp that are not templates.
#pragma once
#include "onednn_convolution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::onednn {

TERN_COLD dnnl_primitive_desc_t convolution_desc(ConvolutionPass pass, const ConvParams& params, Desc x, Desc weight,
                                                 Desc bias, Desc y, const Attributes& attributes,
                                                 dnnl_primitive_desc_t hint, bool jit) {
  dnnl_dims_t stride, padding, dilation;
  for (int i = 0; i < params.dims; ++i) {
    stride[i] = params.stride[i], padding[i] = params.padding[i];
    dilation[i] = params.dilation[i] - 1;  // oneDNN counts the elements in between
  }
  constexpr dnnl_alg_kind_t algorithm = dnnl_convolution_direct;
  dnnl_primitive_desc_t desc = nullptr, other = nullptr;
  dnnl_status_t status;
#if DNNL_VERSION_MAJOR >= 3
  if (pass == ConvolutionPass::forward)
    status =
        dnnl_convolution_forward_primitive_desc_create(&desc, engine(), dnnl_forward_training, algorithm, x, weight,
                                                       bias, y, stride, dilation, padding, padding, attributes.get());
  else if (pass == ConvolutionPass::data_gradient)
    status = dnnl_convolution_backward_data_primitive_desc_create(&desc, engine(), algorithm, x, weight, y, stride,
                                                                  dilation, padding, padding, hint, attributes.get());
  else
    status = dnnl_convolution_backward_weights_primitive_desc_create(
        &desc, engine(), algorithm, x, weight, bias, y, stride, dilation, padding, padding, hint, attributes.get());
  if (jit && status == dnnl_success && dnnl_primitive_desc_clone(&other, desc) == dnnl_success)
    while (is_kernel(other, "brgconv") && dnnl_primitive_desc_next_impl(other) == dnnl_success) continue;
#else
  dnnl_convolution_desc_t c;
  if (pass == ConvolutionPass::forward)
    status = dnnl_dilated_convolution_forward_desc_init(&c, dnnl_forward_training, algorithm, x, weight, bias, y,
                                                        stride, dilation, padding, padding);
  else if (pass == ConvolutionPass::data_gradient)
    status = dnnl_dilated_convolution_backward_data_desc_init(&c, algorithm, x, weight, y, stride, dilation, padding,
                                                              padding);
  else
    status = dnnl_dilated_convolution_backward_weights_desc_init(&c, algorithm, x, weight, bias, y, stride, dilation,
                                                                 padding, padding);
  if (status == dnnl_success) status = dnnl_primitive_desc_create(&desc, &c, attributes.get(), engine(), hint);
  dnnl_primitive_desc_iterator_t kernels;
  if (jit && status == dnnl_success &&
      dnnl_primitive_desc_iterator_create(&kernels, &c, attributes.get(), engine(), hint) == dnnl_success) {
    do {
      if (other) dnnl_primitive_desc_destroy(other);
      other = dnnl_primitive_desc_iterator_fetch(kernels);
    } while (is_kernel(other, "brgconv") && dnnl_primitive_desc_iterator_next(kernels) == dnnl_success);
    dnnl_primitive_desc_iterator_destroy(kernels);
  }
#endif
  if (status == dnnl_unimplemented) return nullptr;
  check("dnnl_convolution_desc", status);
  if (other && is_kernel(other, "jit")) std::swap(desc, other);
  if (other) dnnl_primitive_desc_destroy(other);
  return desc;
}

TERN_COLD Primitive* make_reorder(const Key& key, Desc from, Desc to) {
  dnnl_primitive_desc_t desc = nullptr;
  const Attributes attributes{PostOps()};
  check("dnnl_reorder_primitive_desc_create",
        dnnl_reorder_primitive_desc_create(&desc, from, engine(), to, engine(), attributes.get()));
  auto* const made = new Primitive(key, desc, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  if (made->usable()) return made;
  delete made;
  refuse("dnnl_reorder_primitive_desc_create", dnnl_unimplemented);
}

}}}  // namespace tern::detail::onednn
