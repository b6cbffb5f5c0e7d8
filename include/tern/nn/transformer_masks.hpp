// The masks of a call of transformers and their layers, with PyTorch's names. They have the form of
// MultiheadAttention's.
#pragma once
#include "attention.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

template <Device D>
struct TransformerEncoderLayerMasks {
  tern::detail::ByName by_name{};
  AnyTensor src_mask = {};
  Tensor<D, bool> src_key_padding_mask = {};
  bool is_causal = false;
};
template <Device D>
struct TransformerEncoderMasks {
  tern::detail::ByName by_name{};
  AnyTensor mask = {};
  Tensor<D, bool> src_key_padding_mask = {};
  bool is_causal = false;
};
/// tgt_… are of the attention within tgt, memory_… of that to memory.
template <Device D>
struct TransformerDecoderMasks {
  tern::detail::ByName by_name{};
  AnyTensor tgt_mask = {}, memory_mask = {};
  Tensor<D, bool> tgt_key_padding_mask = {}, memory_key_padding_mask = {};
  bool tgt_is_causal = false, memory_is_causal = false;
};
/// src_… are of the attention within src.
template <Device D>
struct TransformerMasks {
  tern::detail::ByName by_name{};
  AnyTensor src_mask = {}, tgt_mask = {}, memory_mask = {};
  Tensor<D, bool> src_key_padding_mask = {}, tgt_key_padding_mask = {}, memory_key_padding_mask = {};
  bool src_is_causal = false, tgt_is_causal = false, memory_is_causal = false;
};

namespace detail {
/// A decoder's masks by position.
template <class D>
TransformerDecoderMasks<D> decoder_masks(const AnyTensor& tgt_mask, const AnyTensor& memory_mask,
                                         const Tensor<D, bool>& tgt_key_padding_mask,
                                         const Tensor<D, bool>& memory_key_padding_mask, bool tgt_is_causal,
                                         bool memory_is_causal) {
  return {.tgt_mask = tgt_mask,
          .memory_mask = memory_mask,
          .tgt_key_padding_mask = tgt_key_padding_mask,
          .memory_key_padding_mask = memory_key_padding_mask,
          .tgt_is_causal = tgt_is_causal,
          .memory_is_causal = memory_is_causal};
}
}  // namespace detail

}}}  // namespace tern::nn
