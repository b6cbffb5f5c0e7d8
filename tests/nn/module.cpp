// Modules: fields, conversions, state dicts, freezing and ties. Over 400 lines, because the walk over fields is one
// mechanism with many users.
#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/sgd.hpp>

#include <memory>
#include <set>

#include "tied.hpp"

namespace nn_module {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{3, 4}, out{4, 2};
  nn::Dropout<D, T> dropout{0.5};
  TERN_FIELDS(Net, hidden, out, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(dropout(relu(hidden(x)))); }
};

/// Layers that go by even numbers.
template <Device D, class T = float>
struct Numbered : nn::Module<D, T> {
  std::vector<nn::Linear<D, T>> layers;
  nn::Dropout<D, T> dropout{0.5};

  explicit Numbered(int depth) {
    for (int i = 0; i < depth; ++i) layers.emplace_back(2, 2);
  }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    for (std::size_t i = 0; i < self.layers.size(); ++i)
      visit(detail::text({"steps.", Index(2 * i)}).c_str(), self.layers[i]);
    visit("dropout", self.dropout);
  }
  TERN_NAMED_FIELDS(Numbered, layers, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return dropout(layers.back()(x)); }
};

/// What calls its own methods above TERN_FIELDS, as PyTorch's constructors do, and is no template.
struct Drawn : nn::Module<Cpu> {
  nn::Linear<Cpu> hidden{3, 4}, out{4, 2};
  Drawn() {
    for (auto& [name, p] : named_parameters()) p.dim() > 1 ? nn::init::constant_(p, 0.5) : nn::init::zeros_(p);
  }
  std::size_t count() {
    return parameters().size() + modules().size() + children().size() + named_modules().size() +
           named_children().size();
  }
  Drawn copy() const { return clone(); }
  TERN_FIELDS(Drawn, hidden, out)
  Tensor<Cpu> forward(const Tensor<Cpu>& x) { return out(hidden(x)); }
};

/// A list of layers, plain values, a buffer of each kind, constructors of its own.
template <Device D, class T = float>
struct Stack : nn::Module<D, T> {
  Index width = 0;
  double factor = 1;
  std::vector<nn::Linear<D, T>> blocks;
  nn::Parameter<D, T> gain;
  Tensor<D, T> mean;
  Tensor<D, Index> counts;

  Stack(Index size, int depth, double scale) : width(size), factor(scale), gain(ones<D, T>({size})) {
    for (int i = 0; i < depth; ++i) blocks.emplace_back(size, size);
    mean = full<D, T>({2}, 0.25);
    counts = full<D, Index>({3}, Index(1) << 40);
  }
  TERN_FIELDS(Stack, width, factor, blocks, gain, mean, counts)
  Tensor<D, T> forward(const Tensor<D, T>& x) {
    Tensor<D, T> y = x;
    for (auto& block : blocks) y = block(y) * factor;
    return y * gain;
  }
};

/// Tensors that are no parameters: a plain one, one in a list below, a state, and the weight by another name.
template <Device D, class T = float>
struct Scaled : nn::Module<D, T> {
  nn::Linear<D, T> fc{2, 2};
  Tensor<D, T> scale = ones<D, T>({2});
  std::vector<nn::BatchNorm1d<D, T>> norms;
  Tensor<D, T> state, again = fc.weight;
  Scaled() { norms.emplace_back(2); }
  TERN_FIELDS(Scaled, fc, scale, norms, state, again)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return state = norms[0](fc(x) * scale); }
};

template <Device D, class T = float>
struct ForgottenLayer : nn::Module<D, T> {
  nn::Linear<D, T> listed{2, 2}, forgotten{2, 2};
  TERN_FIELDS(ForgottenLayer, listed)
};

template <Device D, class T = float>
struct ForgottenParameter : nn::Module<D, T> {
  nn::Linear<D, T> listed{2, 2};
  nn::Parameter<D, T> forgotten = zeros<D, T>({2});
  TERN_FIELDS(ForgottenParameter, listed)
};

/// A class with virtual functions, which lie before the module's base.
template <Device D, class T = float>
struct Virtual : nn::Module<D, T> {
  nn::Linear<D, T> fc{2, 2};
  TERN_FIELDS(Virtual, fc)
  virtual ~Virtual() {}
  virtual Tensor<D, T> forward(const Tensor<D, T>& x) const { return fc(x); }
};

/// What it needs of other modules belongs to them.
template <Device D, class T = float>
struct Critic : nn::Module<D, T> {
  const Net<D, T>* judged;
  std::vector<const Net<D, T>*> others;
  nn::Linear<D, T> fc{2, 2};
  explicit Critic(const Net<D, T>& net) : judged(&net), others{&net, &net} {}
  TERN_FIELDS(Critic, fc)
};

template <Device D, class T = float>
struct Outer : nn::Module<D, T> {
  ForgottenLayer<D, T> inner;
  TERN_FIELDS(Outer, inner)
};

template <Device D, class T = float>
struct OuterList : nn::Module<D, T> {
  std::vector<ForgottenParameter<D, T>> inner;
  OuterList() { inner.emplace_back(); }
  TERN_FIELDS(OuterList, inner)
};

/// A module derived from a module with fields, and one derived from that.
template <Device D, class T = float>
struct Wider : Net<D, T> {
  nn::Linear<D, T> head{2, 5};
  nn::Buffer<D, T> shift = ones<D, compute_t<T>>({5});
  double factor = 2;
  TERN_FIELDS(Wider, head, shift, factor)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return head(Net<D, T>::forward(x)) * factor + shift.to(dtype<T>); }
};
template <Device D, class T = float>
struct Widest : Wider<D, T> {
  nn::BatchNorm1d<D, T> norm{5};
  TERN_FIELDS(Widest, norm)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return norm(Wider<D, T>::forward(x)); }
};
template <Device D, class T = float>
struct ForgottenInDerived : Net<D, T> {
  nn::Linear<D, T> listed{2, 2}, forgotten{2, 2};
  TERN_FIELDS(ForgottenInDerived, listed)
};
/// One whose layers have other names, and which is no template.
struct Derived : Numbered<Cpu> {
  nn::Parameter<Cpu> scale = ones<Cpu>({2});
  Derived() : Numbered<Cpu>(2) {}
  TERN_FIELDS(Derived, scale)
};

template <Device D, class T = float>
struct Bilinear : nn::Module<D, T> {
  nn::Parameter<D, T> weight = ones<D, T>({2, 3});
  TERN_FIELDS(Bilinear, weight)
  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, T>& y) const { return matmul(matmul(x, weight), y); }
};

using Names = std::vector<std::string>;
Names names_of(const StateDict& list) {
  Names names;
  for (const NamedTensor& entry : list) names.push_back(entry.name);
  return names;
}

template <class D, class T>
bool same_bits(const Tensor<D, T>& a, const Tensor<D, T>& b) {
  return values_of(a) == values_of(b);
}

}  // namespace

TEST_CASE("a module's methods can be called above TERN_FIELDS", "[nn]") {
  Drawn net;
  CHECK(values_of(net(ones<Cpu>({1, 3}))) == std::vector<double>{3, 3});
  CHECK(net.count() == 4 + 3 + 2 + 3 + 2);
  CHECK(values_of(net.copy()(ones<Cpu>({1, 3}))) == std::vector<double>{3, 3});
}

TEMPLATE_TEST_CASE("parameters() and state_dict() name what a module lists, in its order", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Net<D> net;
  const Names names{"hidden.weight", "hidden.bias", "out.weight", "out.bias"};
  CHECK(names_of(net.parameters()) == names);
  CHECK(names_of(net.state_dict()) == names);
  CHECK(net.parameters()[0].tensor.shape() == detail::Shape{4, 3});
  CHECK(net.parameters()[0].tensor.template as<D>().requires_grad());
  CHECK_FALSE(net.state_dict()[0].tensor.template as<D>().requires_grad());

  const Stack<D> stack(2, 2, 0.5);
  CHECK(names_of(stack.parameters()) ==
        Names{"blocks.0.weight", "blocks.0.bias", "blocks.1.weight", "blocks.1.bias", "gain"});
  CHECK(names_of(stack.state_dict()) ==
        Names{"blocks.0.weight", "blocks.0.bias", "blocks.1.weight", "blocks.1.bias", "gain", "mean", "counts"});
}

TEMPLATE_TEST_CASE("named_parameters() is a list and a dictionary", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Net<D> net;
  const auto named = net.named_parameters();
  CHECK((named[0].key() == "hidden.weight" && named[0].value().impl() == net->hidden->weight.impl()));
  CHECK(named["out.bias"].impl() == net.out.bias.impl());
  CHECK(error_of([&] { named["in.bias"]; }) == "named_parameters: there is no 'in.bias'");
  TERN_TEST_LINE(named["in.bias"]);
  auto all = net.parameters();
  all.extend(Net<D>().parameters());
  CHECK(all.size() == 2 * net.parameters().size());
}

TEMPLATE_TEST_CASE("buffers() are what a module lists and does not learn", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(Net<D>().buffers().empty());
  Stack<D> stack(2, 2, 0.5);
  CHECK(names_of(stack.buffers()) == Names{"mean", "counts"});
  CHECK(names_of(stack.named_buffers()) == Names{"mean", "counts"});
  CHECK(stack.buffers()["mean"].impl() == stack.mean.impl());
  CHECK(names_of(nn::Sequential(nn::Linear<D>(2, 2), nn::BatchNorm1d<D>(2)).buffers()) ==
        Names{"1.running_mean", "1.running_var", "1.num_batches_tracked"});
  const auto shared = zeros<D>({3});
  const nn::Sequential twice{nn::CrossEntropyLoss<D>({.weight = shared}), nn::CrossEntropyLoss<D>({.weight = shared})};
  CHECK(names_of(twice.state_dict()) == Names{"0.weight", "1.weight"});
  CHECK(names_of(twice.buffers()) == Names{"0.weight"});
  stack.gain.requires_grad_(false);
  CHECK(names_of(stack.buffers()) == Names{"mean", "counts"});
}

TEMPLATE_TEST_CASE("state_dict() shares the module's elements", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Net<D> net;
  net.state_dict()[3].tensor.template as<D>().fill_(7);
  CHECK(values_of(net.out.bias) == std::vector<double>{7, 7});
}

TEMPLATE_TEST_CASE("a layer or parameter that is not listed is an Error", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const std::string rule = "is not listed in TERN_FIELDS, so it would not be trained";
  CHECK_THAT(error_of([] { ForgottenLayer<D>().parameters(); }),
             ContainsSubstring("ForgottenLayer: ") && ContainsSubstring(rule));
  CHECK_THAT(error_of([] { ForgottenLayer<D>().state_dict(); }), ContainsSubstring(rule));
  CHECK_THAT(error_of([] { ForgottenLayer<D>().load_state_dict({}); }), ContainsSubstring(rule));
  CHECK_THAT(error_of([] { ForgottenLayer<D>().clone(); }), ContainsSubstring(rule));
  CHECK_THAT(error_of([] { ForgottenParameter<D>().parameters(); }), ContainsSubstring(rule));
  CHECK_THAT(error_of([] { Outer<D>().parameters(); }),
             ContainsSubstring("ForgottenLayer: ") && ContainsSubstring(rule));
  CHECK_THAT(error_of([] { OuterList<D>().parameters(); }),
             ContainsSubstring("ForgottenParameter: ") && ContainsSubstring(rule));
}

TEMPLATE_TEST_CASE("a listed tensor that requires a gradient and is no parameter is an Error", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Scaled<D> net;
  net(ones<D>({3, 2})).sum().backward();  // its state is on the tape, and `again` is trained as fc.weight
  CHECK(net.state.requires_grad());
  CHECK(net.parameters().size() == 4);
  CHECK(net.state_dict().size() == 10);
  const StateDict dict = net.state_dict();
  const auto refused = [&](Tensor<D>& x, const std::string& name) {
    const std::string message = "TERN_FIELDS: " + name +
                                " requires a gradient, but is no nn::Parameter, so it would not be trained: "
                                "declare it as one, or call requires_grad_(false)";
    x.requires_grad_();
    const auto check = [&](const auto& f) { CHECK(error_of(f) == message); };
    check([&] { net.parameters(); });
    check([&] { net.named_parameters(); });
    check([&] { optim::SGD(net.parameters(), {.lr = 1}); });
    check([&] { net.state_dict(); });
    check([&] { net.load_state_dict(dict); });
    check([&] { net.requires_grad_(false); });
    check([&] { net.clone(); });
    check([&] { net.to(f64); });
    check([&] { nn::mixed<bfloat16>(net); });
    check([&] { nn::summary(net); });
    x.requires_grad_(false);
    CHECK(net.parameters().size() == 4);
  };
  refused(net.scale, "scale");
  refused(net.norms[0].running_mean, "norms.0.running_mean");
}

TEMPLATE_TEST_CASE("pointers to other modules and virtual functions are no unlisted layers", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Net<D> net;
  CHECK(Critic<D>(net).parameters().size() == 2);
  Virtual<D> virtual_net;
  CHECK(virtual_net.parameters().size() == 2);
  CHECK(values_of(virtual_net.clone()(ones<D>({1, 2}))) == values_of(virtual_net(ones<D>({1, 2}))));
}

TEMPLATE_TEST_CASE("a const module is called if its forward() is const", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Bilinear<D> net;
  const auto x = ones<D>({1, 2}), y = ones<D>({3, 1});
  int calls = 0;
  const auto hook = net.register_forward_hook([&](Bilinear<D>&, auto&, const auto&) { ++calls; });
  const Bilinear<D>& constant = net;
  CHECK(values_of(constant(x, y)) == values_of(net(x, y)));
  CHECK(calls == 2);
  const nn::Sequential layers(nn::Linear<D>(2, 3), nn::ReLU<D>(), nn::Sequential(nn::BatchNorm1d<D>(3)));
  CHECK(layers(ones<D>({4, 2})).shape() == detail::Shape{4, 3});
}

TEMPLATE_TEST_CASE("tied weights come once in parameters(), by both names in state_dict()", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Tied<D> net;
  CHECK(names_of(net.parameters()) == Names{"encoder.weight", "encoder.bias", "decoder.bias"});
  CHECK(names_of(net.state_dict()) == Names{"encoder.weight", "encoder.bias", "decoder.weight", "decoder.bias"});
  sum(net(ones<D>({1, 3}))).backward();
  CHECK(net.encoder.weight.grad().impl() == net.decoder.weight.grad().impl());
}

TEMPLATE_TEST_CASE("a tied weight's gradient is the sum of its uses, and it is stepped once", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Tied<D, double> net;
  const auto x = spread_tensor<D>({2, 3});
  const auto encoder = net.encoder.weight.detach().clone().requires_grad_(),
             decoder = net.encoder.weight.detach().clone().requires_grad_();
  sum(square(linear(linear(x, encoder, net.encoder.bias.detach()), decoder, net.decoder.bias.detach()))).backward();
  sum(square(net(x))).backward();
  const auto both = encoder.grad() + decoder.grad();
  check_close(values_of(net.decoder.weight.grad()), values_of(both));
  optim::SGD sgd(net.parameters(), {.lr = 0.01});
  CHECK(sgd.state_slots().size() == 3);
  sgd.step();
  check_close(values_of(net.decoder.weight), values_of(encoder.detach() - 0.01 * both));
  CHECK(same_bits(net.encoder.weight, net.decoder.weight));

  Tied<D, double> other;  // as from a checkpoint
  other.load_state_dict(net.state_dict());
  CHECK(other.encoder.weight.impl() == other.decoder.weight.impl());
  CHECK(same_bits(other.decoder.weight, net.decoder.weight.detach()));
}

namespace {

/// The nodes of a graph that are no leaves, by their ops' names.
std::multiset<std::string> ops_of(detail::Node* root) {
  std::set<detail::Node*> seen;
  std::vector<detail::Node*> open{root};
  std::multiset<std::string> names;
  while (!open.empty()) {
    detail::Node* const node = open.back();
    open.pop_back();
    if (!node || !seen.insert(node).second || node->leaf) continue;
    names.insert(node->site.name());
    for (int i = 0; i < node->edge_count; ++i) open.push_back(node->edges()[i].next);
  }
  return names;
}

}  // namespace

TEMPLATE_TEST_CASE("what is frozen costs no gradient and is not stepped", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D, double> net;
  net.eval();
  const auto x = spread_tensor<D>({4, 3});
  const auto whole = ops_of(sum(net(x)).impl()->node);
  CHECK(whole.size() == 4);  // two layers, relu, sum
  net.hidden.requires_grad_(false);
  const auto loss = sum(net(x));
  CHECK(ops_of(loss.impl()->node).size() == 2);
  loss.backward();
  CHECK_FALSE(net.hidden.weight.grad().defined());
  CHECK(names_of(net.parameters()).size() == 4);
  const auto frozen = values_of(net.hidden.weight), moving = values_of(net.out.weight);
  optim::SGD sgd(net.parameters(), {.lr = 0.1, .weight_decay = 0.1});
  sgd.step();
  CHECK(values_of(net.hidden.weight) == frozen);
  CHECK(values_of(net.out.weight) != moving);
  sgd.zero_grad();
  CHECK_FALSE(net.clone().hidden.weight.requires_grad());

  net.requires_grad_();
  CHECK(ops_of(sum(net(x)).impl()->node) == whole);
  sum(net(x)).backward();
  sgd.step();
  CHECK(values_of(net.hidden.weight) != frozen);
  net.requires_grad_(false);
  CHECK_FALSE(net(x).requires_grad());
  Stack<D> stack(2, 1, 1.0);
  stack.requires_grad_();
  CHECK_FALSE(stack.mean.requires_grad());  // a buffer
}

TEMPLATE_TEST_CASE("to() and clone() keep weights, ties, requires_grad and mode, and share nothing", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check_tied = [](Tied<D>& net, auto copy, bool trained) {
    using T = typename decltype(copy)::value_type;
    CHECK(copy.encoder.weight.impl() == copy.decoder.weight.impl());
    CHECK(names_of(copy.parameters()).size() == 3);
    CHECK(copy.encoder.weight.requires_grad() == trained);
    CHECK(copy.encoder.bias.requires_grad());
    const auto expected = net.encoder.weight.detach().to(dtype<T>);
    CHECK(same_bits(copy.encoder.weight, expected));
    CHECK(copy.is_training() == net.is_training());
    copy.encoder.weight.detach().fill_(0);
    CHECK_FALSE(same_bits(copy.encoder.weight, expected));
    CHECK(same_bits(net.encoder.weight.detach().to(dtype<T>), expected));
  };
  for (const bool trained : {true, false}) {
    Tied<D> net;
    net.encoder.weight.requires_grad_(trained);
    net.train(trained);
    check_tied(net, net.clone(), trained);
    check_tied(net, net.to(f64), trained);
    check_tied(net, net.to(bf16), trained);
    check_tied(net, net.to(f16), trained);
    check_tied(net, net.to(f32), trained);
    check_tied(net, net.to(tern::detail::current_device<D>()), trained);
  }
}

TEMPLATE_TEST_CASE("cpu(), cuda() and to<Device>() make a network of another type, with the same weights", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  Tied<D> net;
  const auto check = [&](const auto& copy) {
    CHECK(values_of(copy.encoder.weight) == values_of(net.encoder.weight));
    CHECK(copy.encoder.weight.impl() == copy.decoder.weight.impl());
    CHECK(static_cast<const void*>(copy.encoder.weight.impl()) != net.encoder.weight.impl());
  };
  const Tied<Cpu> on_host = net.cpu();
  const Tied<D> here = net.template to<D>(), again = on_host.template to<D>();
  check(on_host), check(here), check(again);
  if constexpr (std::is_same_v<D, Cuda>) {
    const Tied<D> sent = on_host.cuda(), numbered = on_host.cuda(0);
    check(sent), check(numbered);
  }
}

TEMPLATE_TEST_CASE("to() rebuilds lists, plain values and buffers; whole numbers keep their type", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const Stack<D> net(2, 3, 0.75);
  auto wide = net.to(f64);
  static_assert(std::is_same_v<decltype(wide), Stack<D, double>>);
  CHECK(wide.width == 2);
  CHECK(wide.factor == 0.75);
  REQUIRE(wide.blocks.size() == 3);
  CHECK(values_of(wide.blocks[2].weight) == values_of(net.blocks[2].weight));
  CHECK(wide.blocks[2].in_features == 2);
  CHECK(values_of(wide.mean) == std::vector<double>{0.25, 0.25});
  CHECK_FALSE(wide.mean.requires_grad());
  CHECK(wide.counts.cpu()(1) == Index(1) << 40);
  CHECK_FALSE(wide.counts.impl()->owner == net.counts.impl()->owner);
  CHECK_NOTHROW(wide(ones<D, double>({1, 2})).sum().backward());
  CHECK(wide.blocks[0].weight.grad().defined());
  CHECK_FALSE(net.blocks[0].weight.grad().defined());
}

TEST_CASE("to() takes a module to another device and back") {
  const Net<Cpu> net;
  const auto there = net.to(Naive{});
  static_assert(std::is_same_v<std::remove_const_t<decltype(there)>, Net<Naive>>);
  CHECK(values_of(there.hidden.weight) == values_of(net.hidden.weight));
  CHECK(there.hidden.weight.requires_grad());
  CHECK(values_of(there.to(Cpu{}).out.bias) == values_of(net.out.bias));
}

TEMPLATE_TEST_CASE("train() and eval() reach all modules", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  CHECK(net.is_training());
  CHECK(net.dropout.is_training());
  net.eval();
  CHECK_FALSE(net.is_training());
  CHECK_FALSE(net.dropout.is_training());
  CHECK_FALSE(net.clone().dropout.is_training());
  net.train();
  CHECK(net.dropout.is_training());
  Stack<D> stack(2, 2, 1);
  stack.eval();
  CHECK_FALSE(stack.blocks[1].is_training());
  CHECK(&net.requires_grad_(false).eval() == &net);
  CHECK_FALSE(net.train().eval().dropout.is_training());
  CHECK_FALSE(net.parameters()[0].requires_grad());
}

TEMPLATE_TEST_CASE("load_state_dict() takes another module's weights of any floating-point type", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(3);
  const Net<D> from;
  const Net<D> net;
  REQUIRE_FALSE(same_bits(net.hidden.weight, from.hidden.weight));
  net.load_state_dict(from.state_dict());
  CHECK(same_bits(net.hidden.weight, from.hidden.weight));
  CHECK(same_bits(net.out.bias, from.out.bias));
  CHECK(net.hidden.weight.requires_grad());
  CHECK(net.hidden.weight.is_leaf());

  const Net<D> other;
  const auto wide = other.to(f64);
  net.load_state_dict(wide.state_dict());
  CHECK(same_bits(net.hidden.weight, other.hidden.weight));
  wide.load_state_dict(from.state_dict());
  CHECK(values_of(wide.hidden.weight) == values_of(from.hidden.weight));
  const auto narrow = other.to(bf16);
  narrow.load_state_dict(from.state_dict());
  CHECK(same_bits(narrow.hidden.weight, from.hidden.weight.detach().to(bf16)));
  net.load_state_dict(narrow.state_dict());
  CHECK(values_of(net.hidden.weight) == values_of(narrow.hidden.weight));

  const Net<Cpu> on_cpu;
  net.load_state_dict(on_cpu.state_dict());
  CHECK(values_of(net.hidden.weight) == values_of(on_cpu.hidden.weight));
  on_cpu.load_state_dict(from.state_dict());
  CHECK(values_of(on_cpu.hidden.weight) == values_of(from.hidden.weight));
}

TEMPLATE_TEST_CASE("load_state_dict() refuses what does not fit, and then changes nothing", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Net<D> net, from;
  const std::vector<double> before = values_of(net.hidden.weight);
  StateDict dict = from.state_dict();
  dict.erase(dict.begin() + 1, dict.begin() + 3);
  dict.push_back({"extra", zeros<D>({1})});
  CHECK_THAT(error_of([&] { net.load_state_dict(dict); }),
             ContainsSubstring("load_state_dict: missing: hidden.bias, out.weight; unexpected: extra"));
  CHECK_THAT(error_of([&] { net.load_state_dict({}); }),
             ContainsSubstring("missing: hidden.weight, hidden.bias, out.weight, out.bias"));
  dict = from.state_dict();
  dict[2].tensor = zeros<D>({2, 5});
  CHECK_THAT(error_of([&] { net.load_state_dict(dict); }),
             ContainsSubstring("load_state_dict: out.weight has shape [2, 4], the loaded one [2, 5]"));
  dict[2].tensor = zeros<D, std::int64_t>({2, 4});
  CHECK_THAT(error_of([&] { net.load_state_dict(dict); }),
             ContainsSubstring("out.weight is float32, the loaded one int64"));
  TERN_TEST_LINE(net.load_state_dict(dict));
  TERN_TEST_LINE(net.load_state_dict(dict, false));
  TERN_TEST_LINE(net.load_state_dict({}));
  dict[2].tensor = {};
  CHECK_THROWS_AS(net.load_state_dict(dict), Error);
  CHECK(values_of(net.hidden.weight) == before);

  dict.erase(dict.begin() + 1, dict.end());
  dict.push_back({"extra", zeros<D>({1})});
  const auto [missing, unexpected] = net.load_state_dict(dict, false);
  CHECK(missing == std::vector<std::string>{"hidden.bias", "out.weight", "out.bias"});
  CHECK(unexpected == std::vector<std::string>{"extra"});
  CHECK(same_bits(net.hidden.weight, from.hidden.weight));
  const auto all = net.load_state_dict(from.state_dict());
  CHECK((all.missing_keys.empty() && all.unexpected_keys.empty()));
}

TEMPLATE_TEST_CASE("a module can be moved", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  const auto weight = net.hidden.weight.impl();
  Net<D> moved = std::move(net);
  CHECK(moved.hidden.weight.impl() == weight);
  CHECK(names_of(moved.parameters()).size() == 4);
  Net<D> assigned;
  assigned = std::move(moved);
  CHECK(assigned.hidden.weight.impl() == weight);
  CHECK(names_of(assigned.parameters()).size() == 4);
  CHECK_NOTHROW(assigned(ones<D>({2, 3})));
  std::vector<Net<D>> nets;
  for (int i = 0; i < 5; ++i) nets.emplace_back();
  for (const Net<D>& each : nets) CHECK(names_of(each.parameters()).size() == 4);
  static_assert(!std::is_copy_constructible_v<Net<D>> && !std::is_copy_assignable_v<Net<D>>);
}

TEMPLATE_TEST_CASE("zero_grad() drops all gradients", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Stack<D> net(2, 2, 1);
  sum(net(ones<D>({1, 2}))).backward();
  REQUIRE(net.blocks[1].weight.grad().defined());
  net.zero_grad();
  for (const auto& p : net.parameters()) CHECK_FALSE(p.tensor.template as<D>().grad().defined());
}

TEMPLATE_TEST_CASE("a module derived from a module has the fields of both", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  Widest<D> net;
  const Names learned{"hidden.weight", "hidden.bias", "out.weight",  "out.bias",
                      "head.weight",   "head.bias",   "norm.weight", "norm.bias"};
  CHECK(names_of(net.parameters()) == learned);
  CHECK(names_of(net.state_dict()) == Names{"hidden.weight", "hidden.bias", "out.weight", "out.bias", "head.weight",
                                            "head.bias", "shift", "norm.weight", "norm.bias", "norm.running_mean",
                                            "norm.running_var", "norm.num_batches_tracked"});
  net.eval();
  CHECK_FALSE(net.dropout.is_training());
  CHECK_FALSE(net.norm.is_training());
  net.factor = 3;
  const auto x = spread_tensor<D, float>({4, 3});
  const std::vector<double> y = values_of(net(x));
  CHECK(values_of(net.clone()(x)) == y);
  auto wide = net.to(f64);
  static_assert(std::is_same_v<decltype(wide), Widest<D, double>>);
  CHECK_FALSE(wide.dropout.is_training());
  check_close(values_of(wide(x.to(f64))), y, 1e-5, 1e-5);
  CHECK(values_of(net.to(Cpu{})(x.cpu())).size() == y.size());
  Widest<D> other;
  other.eval();
  other.factor = 3;
  other.load_state_dict(net.state_dict());
  CHECK(values_of(other(x)) == y);
  CHECK(values_of(nn::mixed<bfloat16>(net)(x)).size() == y.size());
  net.train();
  optim::SGD sgd(net.parameters(), {.lr = 0.1});
  sum(square(net(x))).backward();
  const std::vector<double> before = values_of(net.out.weight);
  sgd.step();
  CHECK(values_of(net.out.weight) != before);
  net.requires_grad_(false);
  CHECK_FALSE(net.hidden.weight.requires_grad());
  int modules = 0;
  net.apply([&](nn::ModuleRef) { ++modules; });
  CHECK(modules == 6);  // itself once
  int calls = 0;
  Wider<D>& base = net;
  auto hook = base.register_forward_hook([&](Wider<D>& m, auto&, const auto&) { calls += m.factor == 3; });
  net(x);
  CHECK(calls == 1);
  CHECK_THAT(error_of([&] { net(ones<D>({1, 4})); }), ContainsSubstring("hidden: linear: input [1, 4]"));
  CHECK_THAT(error_of([] { ForgottenInDerived<D>().parameters(); }),
             ContainsSubstring("ForgottenInDerived: ") && ContainsSubstring("is not listed"));
  CHECK(names_of(Derived().parameters()) ==
        Names{"steps.0.weight", "steps.0.bias", "steps.2.weight", "steps.2.bias", "scale"});
  CHECK(names_of(Derived().clone().parameters()) == names_of(Derived().parameters()));
}

TEMPLATE_TEST_CASE("a module that is made in inference mode infers and is trained as any", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({4, 3});
  const auto trained = [&](auto& net) {
    net.train();
    optim::SGD sgd(net.parameters(), {.lr = 0.1});
    sum(square(net(x))).backward();
    for (const auto& p : net.parameters()) CHECK(p.grad().defined());
    sgd.step();
    net.eval();
    sum(square(net(x))).backward();  // which saves the running statistics
  };
  const auto make = [](const auto& f) {
    const InferenceMode inference;
    return f();
  };
  Widest<D> plain;
  auto net = make([] { return Widest<D>(); });
  auto copy = make([&] { return plain.clone(); });
  auto wide = make([&] { return plain.to(f64); });
  auto mixed = make([&] { return nn::mixed<bfloat16>(plain); });
  CHECK(net.parameters()[0].requires_grad());
  {
    const InferenceMode inference;
    CHECK_FALSE(net(x).requires_grad());
  }
  trained(net);
  trained(copy);
  trained(mixed);
  sum(wide(x.to(f64))).backward();
  CHECK(wide.head.weight.grad().defined());
}

TEMPLATE_TEST_CASE("parameters are frozen, counted and trained again one by one", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  for (auto& p : net.parameters()) p.requires_grad_(false);
  CHECK_FALSE(net.hidden.weight.requires_grad());
  for (auto& p : net.out.parameters()) p.requires_grad_();
  Index learned = 0, all = 0;
  for (const auto& p : net.parameters()) {
    all += p.numel();
    if (p.requires_grad()) learned += p.numel();
    CHECK(p.dim() == p.shape().n);
  }
  CHECK(all == 3 * 4 + 4 + 4 * 2 + 2);
  CHECK(learned == 4 * 2 + 2);
  net(ones<D>({1, 3})).sum().backward();
  CHECK(net.out.weight.grad().defined());
  CHECK_FALSE(net.hidden.weight.grad().defined());
  CHECK(net.parameters()[2].grad().defined());
  const std::string line = " (module.cpp:" + std::to_string(__LINE__ + 1) + ")";
  const std::string said = whole_error_of([&] { net.state_dict()[0].requires_grad_(); });
  CHECK(said ==
        "requires_grad_: the tensor is no parameter: as<D, T>() gives a Tensor, which has requires_grad_(), too" +
            line);
}

TEMPLATE_TEST_CASE("a module may give its layers other names", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Numbered<D> net(2), other(2);
  CHECK(names_of(net.parameters()) == Names{"steps.0.weight", "steps.0.bias", "steps.2.weight", "steps.2.bias"});
  other.load_state_dict(net.state_dict());
  CHECK(values_of(other.layers[1].weight) == values_of(net.layers[1].weight));
  net.eval();
  CHECK_FALSE(net.dropout.is_training());
  auto wide = net.to(f64);
  CHECK(wide.layers.size() == 2);
  CHECK_FALSE(wide.layers[1].is_training());
  CHECK(names_of(wide.parameters()) == names_of(net.parameters()));
}

TEST_CASE("training is readable under PyTorch's name", "") {
  nn::Dropout<Cpu> layer(0.5);
  CHECK(layer.training);
  layer.eval();
  CHECK_FALSE(layer.training);
  layer.training = true;
  CHECK(layer.is_training());
}

}  // namespace nn_module
