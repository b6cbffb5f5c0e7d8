// The line in Errors about tensors: that of the user's call, also where a kernel finds the fault.
#include "support/tensors.hpp"

#include <tern/tern.hpp>

namespace tensor_lines {
using namespace tern_test;

TEMPLATE_TEST_CASE("an Error of a tensor's properties ends with the user's line", "[tensor][refusal]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({2, 3});
  Tensor<D> none;
  TERN_TEST_LINE(none.shape());
  TERN_TEST_LINE(none.sizes());
  TERN_TEST_LINE(none.size(0));
  TERN_TEST_LINE(none.strides());
  TERN_TEST_LINE(none.stride(0));
  TERN_TEST_LINE(none.dim());
  TERN_TEST_LINE(none.numel());
  TERN_TEST_LINE(none.is_contiguous());
  TERN_TEST_LINE(none.is_contiguous(channels_last));
  TERN_TEST_LINE(none.is_pinned());
  TERN_TEST_LINE(none.device());
  TERN_TEST_LINE(none.version());
  TERN_TEST_LINE(none.item());
  TERN_TEST_LINE(none.to_vector());
  TERN_TEST_LINE(none.new_zeros({2}));
  TERN_TEST_LINE(none.type_as(x));
  TERN_TEST_LINE(x.size(2));
  TERN_TEST_LINE(x.stride(-3));
  TERN_TEST_LINE(x.shape()[5]);
  TERN_TEST_LINE(x.sum().shape().back());
  TERN_TEST_LINE(zeros<D>({1, 1, 1, 1, 1, 1, 1, 1, 1}));
  TERN_TEST_LINE(zeros<D>(std::vector<Index>(9, 1)));
  if constexpr (HostDevice<D>) {
    TERN_TEST_LINE(none.data());
    TERN_TEST_LINE(none(0));
    TERN_TEST_LINE(x());
    TERN_TEST_LINE(x(1));
    TERN_TEST_LINE(x(0, 3));
  }
}

TEMPLATE_TEST_CASE("an Error of a tensor's gradient ends with the user's line", "[tensor][refusal]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({2, 3}), w = ones<D>({2, 3}).requires_grad_();
  Tensor<D> none;
  const auto hook = [](const Tensor<D>&) {};
  TERN_TEST_LINE(none.requires_grad_());
  TERN_TEST_LINE(none.is_leaf());
  TERN_TEST_LINE(none.grad());
  TERN_TEST_LINE(none.detach());
  TERN_TEST_LINE(none.backward());
  TERN_TEST_LINE(x.backward());
  TERN_TEST_LINE(w.backward());
  TERN_TEST_LINE(none.set_grad(x));
  TERN_TEST_LINE(x.set_grad(x));
  TERN_TEST_LINE(w.set_grad(ones<D>({3})));
  TERN_TEST_LINE(none.retain_grad());
  TERN_TEST_LINE(x.retain_grad());
  TERN_TEST_LINE(none.register_hook(hook));
  TERN_TEST_LINE(x.register_hook(hook));
  TERN_TEST_LINE(none.register_post_accumulate_grad_hook(hook));
  TERN_TEST_LINE((w * 2).register_post_accumulate_grad_hook(hook));
}

TEMPLATE_TEST_CASE("an Error of a tensor of any type ends with the user's line", "[tensor][refusal]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const AnyTensor x = ones<D>({2, 3}), none;
  const NamedTensor named{"x", x}, unnamed{"none", none};
  TERN_TEST_LINE(none.dtype());
  TERN_TEST_LINE(none.shape());
  TERN_TEST_LINE(none.sizes());
  TERN_TEST_LINE(none.size(0));
  TERN_TEST_LINE(none.strides());
  TERN_TEST_LINE(none.stride(0));
  TERN_TEST_LINE(none.dim());
  TERN_TEST_LINE(none.numel());
  TERN_TEST_LINE(none.is_contiguous());
  TERN_TEST_LINE(none.device_name());
  TERN_TEST_LINE(none.cpu());
  TERN_TEST_LINE(none.detach());
  TERN_TEST_LINE(none.grad());
  TERN_TEST_LINE(none.template as<D>());
  TERN_TEST_LINE(x.size(2));
  TERN_TEST_LINE(x.stride(-3));
  TERN_TEST_LINE(x.template as<D, double>());
  TERN_TEST_LINE(unnamed.grad());
  TERN_TEST_LINE(unnamed.dtype());
  TERN_TEST_LINE(unnamed.shape());
  TERN_TEST_LINE(unnamed.sizes());
  TERN_TEST_LINE(unnamed.dim());
  TERN_TEST_LINE(unnamed.numel());
  TERN_TEST_LINE(named.size(2));
  TERN_TEST_LINE(named.template as<D, double>());
}

TEMPLATE_TEST_CASE("an Error of a device's name, a number of threads or a gradcheck ends with the user's line",
                   "[tensor][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D, double>({2});
  TERN_TEST_LINE(with_device("gpu", [](auto) {}));
  TERN_TEST_LINE(with_device("cuda:999", [](auto) {}));
  TERN_TEST_LINE(set_num_threads(0));
  TERN_TEST_LINE(gradcheck([](const auto& v) { return v * v; }, std::tuple{x}));
}

TEMPLATE_TEST_CASE("an Error of an index ends with the user's line", "[tensor][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({2, 3});
  const Tensor<D, Index> none;
  const Tensor<D, std::int32_t> none_of_32_bits;
  const Tensor<D, bool> no_mask;
  TERN_TEST_LINE(x[2]);
  TERN_TEST_LINE(x[{0, 3}]);
  TERN_TEST_LINE(x["…"]);
  TERN_TEST_LINE(x[none]);
  TERN_TEST_LINE(x[none_of_32_bits]);
  TERN_TEST_LINE(x[no_mask]);
  TERN_TEST_LINE(x[{none, 0}]);
  TERN_TEST_LINE(x.index({none}));
  TERN_TEST_LINE(x.index({"…"}));
  TERN_TEST_LINE(x.gather(0, none_of_32_bits));
  TERN_TEST_LINE(x[ones<D, bool>({3})]);
}

// On a device the Error comes where the host waits, here in TERN_TEST_LINE.
TEMPLATE_TEST_CASE("an Error of an element that a kernel refuses ends with the line of the op", "[tensor][refusal]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({2, 3}), row = ones<D>({2}), large = full<D>({2, 3}, 7);
  const auto bad = tensor<D, Index>({0, 9}), one = tensor<D, Index>({1, 1}), zero = zeros<D, Index>({2});
  const auto bad_row = bad.view({2, 1}).expand({2, 3}).contiguous();
  TERN_TEST_LINE(x[bad]);
  TERN_TEST_LINE(x[{0, bad}]);
  TERN_TEST_LINE(x[bad] = 0);
  TERN_TEST_LINE(x[bad] += 1);
  TERN_TEST_LINE(x.index({bad, zero}));
  TERN_TEST_LINE(x.index_put_({bad}, 0));
  TERN_TEST_LINE(x.index_select(0, bad));
  TERN_TEST_LINE(x.index_add(0, bad, x));
  TERN_TEST_LINE(x.index_add_(0, bad, x));
  TERN_TEST_LINE(x.index_copy(0, bad, x));
  TERN_TEST_LINE(x.index_fill(0, bad, 1));
  TERN_TEST_LINE(x.index_reduce(0, bad, x, "prod"));
  TERN_TEST_LINE(x.gather(0, bad_row));
  TERN_TEST_LINE(x.scatter(0, bad_row, x));
  TERN_TEST_LINE(x.scatter(0, bad_row, 1));
  TERN_TEST_LINE(x.scatter_add(0, bad_row, x));
  TERN_TEST_LINE(x.scatter_add_(0, bad_row, x));
  TERN_TEST_LINE(x.scatter_reduce(0, bad_row, x, "amax"));
  TERN_TEST_LINE(x.take(bad));
  TERN_TEST_LINE(x.put(bad, row));
  TERN_TEST_LINE(x.take_along_dim(bad_row, 0));
  TERN_TEST_LINE(embedding(bad, x));
  TERN_TEST_LINE(embedding_bag(bad, x, zeros<D, Index>({1})));
  TERN_TEST_LINE(one_hot(bad, 3));
  TERN_TEST_LINE(cross_entropy(x, bad));
  TERN_TEST_LINE(nll_loss(x, bad));
  TERN_TEST_LINE(multi_margin_loss(x, bad));
  TERN_TEST_LINE(ctc_loss(x.view({2, 1, 3}), bad, tensor<Cpu, Index>({2}), tensor<Cpu, Index>({2})));
  TERN_TEST_LINE(binary_cross_entropy(large, x));
  TERN_TEST_LINE(bernoulli(large));
  TERN_TEST_LINE(one % zero);
  TERN_TEST_LINE(fmod(one, 0));
  TERN_TEST_LINE(floor_divide(one, zero));
}

TEMPLATE_TEST_CASE("an Error of an element names the op that the user called", "[tensor][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Embedding<D> table(3, 2);
  const auto bad = full<D, Index>({2}, 9);
  const std::string error = whole_error_of([&] { table(bad); });
  CHECK(line_of(error) == " (lines.cpp:" + std::to_string(__LINE__ - 1) + ")");
  CHECK(error.starts_with("embedding: index 9 is out of range for a dimension of size 3"));
}

}  // namespace tensor_lines
