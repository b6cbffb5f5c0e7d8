// The line in Errors of constructors and of forward(): that of the user's call, in a module's member the line of the
// module's constructor.
#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>

namespace nn_lines {
using namespace tern_test;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> fc;
  static constexpr int line = __LINE__ + 1;
  explicit Net(Index width) : fc(width, 0) {}
  TERN_FIELDS(Net, fc)
};

}  // namespace

TEMPLATE_TEST_CASE("an Error of a layer's constructor ends with the user's line", "", TERN_TEST_DEVICES) {
  using D = TestType;
  TERN_TEST_LINE(nn::Linear<D>(3, 0));
  TERN_TEST_LINE(nn::Linear<D>(1, Index(1) << 60));  // of the op below
  TERN_TEST_LINE(nn::Linear<D>(3, 0, false));
  TERN_TEST_LINE(nn::Bilinear<D>(1, 0, 3));
  TERN_TEST_LINE(nn::Bilinear<D>(1, 0, 3, false));
  TERN_TEST_LINE(nn::Conv1d<D>(0, 2, 3));
  TERN_TEST_LINE(nn::Conv2d<D>(2, 2, 0));
  TERN_TEST_LINE(nn::Conv2d<D>(2, 2, 3, {.padding = "full"}));
  TERN_TEST_LINE(nn::Conv2d<D>(2, 2, 3, 1, "full"));
  TERN_TEST_LINE(nn::Conv2d<D>(2, 2, 3, {.stride = 2, .padding = "same"}));
  TERN_TEST_LINE(nn::Conv3d<D>(2, 3, 3, {.groups = 2}));
  TERN_TEST_LINE(nn::ConvTranspose2d<D>(0, 2, 3));
  TERN_TEST_LINE(nn::Conv2d<D>(2, 3, 3, 1, 0, 1, 2));
  TERN_TEST_LINE(nn::ConvTranspose2d<D>(2, 3, 3, 1, 0, 0, 2));
  TERN_TEST_LINE(nn::BatchNorm1d<D>(-1));
  TERN_TEST_LINE(nn::BatchNorm1d<D>(-1, 1e-3));
  TERN_TEST_LINE(nn::GroupNorm<D>(0, 4));
  TERN_TEST_LINE(nn::GroupNorm<D>(0, 4, 1e-3));
  TERN_TEST_LINE(nn::InstanceNorm2d<D>(-1, 1e-3, 0.1, true));
  TERN_TEST_LINE(nn::InstanceNorm2d<D>(-1, {.affine = true}));
  TERN_TEST_LINE(nn::LayerNorm<D>(-1));
  TERN_TEST_LINE(nn::RMSNorm<D>(-1));
  TERN_TEST_LINE(nn::LayerNorm<D>({2, -1}));
  TERN_TEST_LINE(nn::LayerNorm<D>({2, -1}, 1e-3));
  TERN_TEST_LINE(nn::RMSNorm<D>({2, -1}));
  TERN_TEST_LINE(nn::RMSNorm<D>({2, -1}, 1e-3));
  TERN_TEST_LINE(nn::Embedding<D>(0, 2));
  TERN_TEST_LINE(nn::Embedding<D>(2, 2, {.padding_idx = 7}));
  TERN_TEST_LINE(nn::Embedding<D>(2, 2, 7));
  TERN_TEST_LINE(nn::EmbeddingBag<D>(0, 2));
  TERN_TEST_LINE(nn::Dropout<D>(2));
  TERN_TEST_LINE(nn::Dropout2d<D>(-1));
  TERN_TEST_LINE(nn::AlphaDropout<D>(2));
  TERN_TEST_LINE(nn::FeatureAlphaDropout<D>(2));
  TERN_TEST_LINE(nn::GELU<D>("sigmoid"));
  TERN_TEST_LINE(nn::Hardtanh<D>(2, 1));
  TERN_TEST_LINE(nn::RReLU<D>(0.4, 0.3));
  TERN_TEST_LINE(nn::PReLU<D>({.num_parameters = -1}));
  TERN_TEST_LINE(nn::PReLU<D>(-1));
  TERN_TEST_LINE(nn::ZeroPad2d<D>({1, 2, 3}));
  TERN_TEST_LINE(nn::ConstantPad1d<D>({1, 2, 3}, 4));
  TERN_TEST_LINE(nn::RNN<D>(0, 2));
  TERN_TEST_LINE(nn::GRU<D>(2, 2, {.num_layers = 0}));
  TERN_TEST_LINE(nn::LSTM<D>(2, 2, {.dropout = 2}));
  TERN_TEST_LINE(nn::RNN<D>(2, 2, 0));
  TERN_TEST_LINE(nn::GRU<D>(2, 2, 0));
  TERN_TEST_LINE(nn::LSTM<D>(2, 2, 0));
  TERN_TEST_LINE(nn::RNNCell<D>(0, 2));
  TERN_TEST_LINE(nn::RNNCell<D>(0, 2, false));
  TERN_TEST_LINE(nn::GRUCell<D>(0, 2, false));
  TERN_TEST_LINE(nn::LSTMCell<D>(0, 2, false));
  TERN_TEST_LINE(nn::GRUCell<D>(0, 2));
  TERN_TEST_LINE(nn::LSTMCell<D>(0, 2));
  TERN_TEST_LINE(nn::MultiheadAttention<D>(4, 3));
  TERN_TEST_LINE(nn::MultiheadAttention<D>(-4, 2));
  TERN_TEST_LINE(nn::MultiheadAttention<D>(4, 3, 0.1));
  TERN_TEST_LINE(nn::TransformerEncoderLayer<D>(4, 3));
  TERN_TEST_LINE(nn::TransformerDecoderLayer<D>(4, 2, {.dim_feedforward = -1}));
  TERN_TEST_LINE(nn::TransformerEncoderLayer<D>(4, 2, -1));
  TERN_TEST_LINE(nn::TransformerDecoderLayer<D>(4, 2, -1));
  TERN_TEST_LINE(nn::Transformer<D>(4, 2, 0));
  TERN_TEST_LINE(nn::TransformerEncoder<D>(nn::TransformerEncoderLayer<D>(4, 2), 0));
  TERN_TEST_LINE(nn::TransformerDecoder<D>(nn::TransformerDecoderLayer<D>(4, 2), 0));
  const Tensor<D> none, row = ones<D>({2});
  TERN_TEST_LINE(nn::init::constant_(none, 1));
  TERN_TEST_LINE(nn::init::uniform_(row, 2, 1));
  TERN_TEST_LINE(nn::init::normal_(row, 0, -1));
  TERN_TEST_LINE(nn::init::trunc_normal_(row, 0, 1, 2, 1));
  TERN_TEST_LINE(nn::init::eye_(row));
  TERN_TEST_LINE(nn::init::xavier_uniform_(row));
  TERN_TEST_LINE(nn::init::xavier_normal_(row));
  TERN_TEST_LINE(nn::init::kaiming_uniform_(row));
  TERN_TEST_LINE(nn::init::kaiming_normal_(row));
  TERN_TEST_LINE(nn::init::orthogonal_(row));
  TERN_TEST_LINE(nn::ModuleList<nn::Linear<D>>()[0]);
  TERN_TEST_LINE(nn::Sequential<D>()[-1]);
  TERN_TEST_LINE(nn::ModuleDict<nn::Linear<D>>()["a"]);
  TERN_TEST_LINE(nn::ModuleDict<nn::Linear<D>>()[std::string("a")]);
  TERN_TEST_LINE(nn::weight_norm(nn::Linear<D>(2, 2), {.dim = 5}));
  TERN_TEST_LINE(nn::spectral_norm(nn::Linear<D>(2, 2), {.dim = 5}));
  CHECK(line_of(whole_error_of([] { Net<D>(3); })) == " (lines.cpp:" + std::to_string(Net<D>::line) + ")");
}

TEMPLATE_TEST_CASE("an Error of a layer's forward() ends with the user's line", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({2, 5});
  const Tensor<D> none;
  TERN_TEST_LINE(nn::Linear<D>(3, 2).forward(x));
  TERN_TEST_LINE(nn::Bilinear<D>(3, 2, 2).forward(x, x));
  TERN_TEST_LINE(nn::Conv2d<D>(3, 2, 3).forward(x));
  TERN_TEST_LINE(nn::ConvTranspose2d<D>(3, 2, 3).forward(x));
  TERN_TEST_LINE(nn::BatchNorm1d<D>(3).forward(x));
  TERN_TEST_LINE(nn::LayerNorm<D>(3).forward(x));
  TERN_TEST_LINE(nn::GroupNorm<D>(2, 4).forward(x));
  TERN_TEST_LINE(nn::RMSNorm<D>(3).forward(x));
  TERN_TEST_LINE(nn::Embedding<D>(3, 2).forward(full<D, Index>({1}, 9)));
  TERN_TEST_LINE(nn::Dropout<D>(0.5).forward(none));
  TERN_TEST_LINE(nn::ReLU<D>().forward(none));
  TERN_TEST_LINE(nn::GELU<D>().forward(none));
  TERN_TEST_LINE(nn::Softmax<D>(4).forward(x));
  TERN_TEST_LINE(nn::Softmin<D>(4).forward(x));
  TERN_TEST_LINE(nn::Flatten<D>(3).forward(x));
  TERN_TEST_LINE(nn::MaxPool2d<D>(2).forward(x));
  TERN_TEST_LINE(nn::AvgPool2d<D>(2).forward(x));
  TERN_TEST_LINE(nn::AdaptiveAvgPool2d<D>(2).forward(x));
  TERN_TEST_LINE(nn::ZeroPad2d<D>(2).forward(none));
  TERN_TEST_LINE(nn::PixelShuffle<D>(2).forward(x));
  TERN_TEST_LINE(nn::LSTM<D>(3, 2).forward(x));
  TERN_TEST_LINE(nn::GRUCell<D>(3, 2).forward(x));
  TERN_TEST_LINE(nn::MultiheadAttention<D>(4, 2).forward(x, x, x));
  TERN_TEST_LINE(nn::TransformerEncoderLayer<D>(4, 2).forward(x));
  TERN_TEST_LINE(nn::Sequential(nn::Linear<D>(3, 2), nn::ReLU<D>()).forward(x));
  TERN_TEST_LINE(nn::CrossEntropyLoss<D>().forward(x, zeros<D, Index>({3})));
}

}  // namespace nn_lines
