// The vision transformer (Dosovitskiy and others: "An image is worth 16x16 words", 2020).
#pragma once
#include "../nn/attention.hpp"
#include "../nn/convolution.hpp"
#include "../nn/dropout.hpp"
#include "../nn/init.hpp"
#include "../nn/layer_norm.hpp"
#include "../ops/activations.hpp"
#include "../ops/cat.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models {

/// x ← x + attention(ln_1(x)), then x ← x + fc2(gelu(fc1(ln_2(x)))). Dropout follows each part and gelu.
template <Device D, Element T = float>
struct VitLayer : nn::Module<D, T> {
  nn::LayerNorm<D, T> ln_1, ln_2;
  nn::MultiheadAttention<D, T> self_attention;
  nn::Linear<D, T> fc1, fc2;
  double p = 0;  // of the dropout

  VitLayer(Index size, Index heads, Index hidden, double dropout, double attention_dropout)
      : ln_1(size, {.eps = 1e-6}), ln_2(size, {.eps = 1e-6}),
        self_attention(size, heads, {.dropout = attention_dropout, .batch_first = true}), fc1(size, hidden),
        fc2(hidden, size), p(dropout) {
    for (auto* const layer : {&fc1, &fc2}) {
      nn::init::xavier_uniform_(layer->weight);
      nn::init::normal_(layer->bias, 0, 1e-6);
    }
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("ln_1", self.ln_1), visit("self_attention", self.self_attention);
    visit("ln_2", self.ln_2), visit("mlp.0", self.fc1), visit("mlp.3", self.fc2);
  }
  TERN_NAMED_FIELDS(VitLayer, ln_1, ln_2, self_attention, fc1, fc2, p)

  Tensor<D, T> forward(const Tensor<D, T>& x) const {
    const auto dropped = [&](const Tensor<D, T>& v) { return dropout(v, p, this->is_training()); };
    const Tensor<D, T> normal = ln_1(x);
    const Tensor<D, T> y = x + dropped(self_attention(normal, normal, normal));
    return y + dropped(fc2(dropped(gelu(fc1(ln_2(y))))));
  }
};

struct VitOptions {
  Index num_classes = 1000, image_size = 224;
  double dropout = 0, attention_dropout = 0;
};

/// An image is cut into patches, which are embedded. A token for the class comes before them, and the layers' output
/// for it gives the scores.
template <Device D, Element T = float>
struct VisionTransformer : nn::Module<D, T> {
  Index image_size = 0;
  nn::Parameter<D, T> class_token, pos_embedding;
  nn::Conv2d<D, T> conv_proj;
  nn::Dropout<D, T> dropout;
  std::vector<VitLayer<D, T>> layers;
  nn::LayerNorm<D, T> ln;
  nn::Linear<D, T> head;

  struct Plan {
    Index patch_size, num_layers, num_heads, hidden_dim, mlp_dim;
  };
  VisionTransformer(const Plan& plan, const VitOptions& o)
      : image_size(o.image_size), class_token(zeros<D, T>({1, 1, plan.hidden_dim})),
        conv_proj(3, plan.hidden_dim, plan.patch_size, {.stride = plan.patch_size}), dropout(o.dropout),
        ln(plan.hidden_dim, {.eps = 1e-6}), head(plan.hidden_dim, o.num_classes) {
    if (image_size < 1 || image_size % plan.patch_size != 0)
      Error::fail("VisionTransformer",
                  {"an image of ", image_size, " pixels cannot be cut into patches of ", plan.patch_size});
    const Index patches = image_size / plan.patch_size;
    pos_embedding = normal<D, T>(0, 0.02, {1, patches * patches + 1, plan.hidden_dim});
    for (Index i = 0; i < plan.num_layers; ++i)
      layers.emplace_back(plan.hidden_dim, plan.num_heads, plan.mlp_dim, o.dropout, o.attention_dropout);
    nn::init::trunc_normal_(conv_proj.weight, 0, 1 / std::sqrt(double(3 * plan.patch_size * plan.patch_size)));
    for (const Tensor<D, T>& start : {conv_proj.bias, head.weight, head.bias}) nn::init::zeros_(start);
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("class_token", self.class_token), visit("conv_proj", self.conv_proj);
    visit("encoder.pos_embedding", self.pos_embedding), visit("encoder.dropout", self.dropout);
    for (std::size_t i = 0; i < self.layers.size(); ++i)
      visit(tern::detail::text({"encoder.layers.encoder_layer_", Index(i)}).c_str(), self.layers[i]);
    visit("encoder.ln", self.ln), visit("heads.head", self.head);
  }
  TERN_NAMED_FIELDS(VisionTransformer, image_size, class_token, pos_embedding, conv_proj, dropout, layers, ln, head)

  /// Images [N, 3, image_size, image_size] to scores [N, classes].
  Tensor<D, T> forward(const Tensor<D, T>& images) const {
    if (images.checked("VisionTransformer")->ndim != 4 || images.size(2) != image_size || images.size(3) != image_size)
      Error::fail("VisionTransformer",
                  {"images must be [N, 3, ", image_size, ", ", image_size, "], not ", images.shape()});
    const Tensor<D, T> patches = conv_proj(images).flatten(2).transpose(1, 2);
    const Tensor<D, T> first = class_token.expand({images.size(0), 1, class_token.size(2)});
    Tensor<D, T> x = dropout(cat<D, T>({first, patches}, 1) + pos_embedding);
    for (const VitLayer<D, T>& layer : layers) x = layer(x);
    return head(ln(x).select(1, 0));
  }
};

/// 12 layers for patches of 16 x 16 pixels. Parameters have torchvision's names.
template <Device D, Element T = float>
VisionTransformer<D, T> vit_b_16(VitOptions options = {}, CallSite here = {}) {
  const CallScope scope(here);
  return VisionTransformer<D, T>(
      {.patch_size = 16, .num_layers = 12, .num_heads = 12, .hidden_dim = 768, .mlp_dim = 3072}, options);
}

}}}  // namespace tern::models
