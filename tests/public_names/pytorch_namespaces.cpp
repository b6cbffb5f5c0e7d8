// The namespaces in which PyTorch has functions, after using-directives of those around them.
#include <tern/tern.hpp>
using namespace tern;
using namespace tern::nn;
namespace F = tern::nn::functional;

double use() {
  const auto x = ones<Cpu>({2, 3}).requires_grad_();
  const auto special = functional::relu(x) + F::softmax(x, 1) + special::expit(x) + special::gammaln(x) +
                       special::psi(x) + special::erf(x) + special::log_softmax(x, 1) + relu(x);
  const auto loss = F::cross_entropy(special, zeros<Cpu, Index>({2}));
  nn::Linear<Cpu> net(3, 2);
  Linear<Cpu> again(3, 2);
  nn::utils::vector_to_parameters(utils::parameters_to_vector(net.parameters()), again.parameters());
  utils::clip_grad_norm_(net.parameters(), 1.0);
  nn::utils::clip_grad_value_({x}, 1.0);
  nn::utils::weight_norm(Linear<Cpu>(3, 2)), nn::utils::spectral_norm(Linear<Cpu>(3, 2));
  utils::parametrizations::weight_norm(Linear<Cpu>(3, 2)), utils::parametrizations::spectral_norm(Linear<Cpu>(3, 2));
  const nn::utils::rnn::PackedSequence<Cpu, float> packed = nn::utils::rnn::pack_padded_sequence(x, {2, 2, 1});
  utils::rnn::pad_packed_sequence(packed, true);
  nn::utils::rnn::pack_sequence({nn::utils::rnn::pad_sequence({x, x}, true, 0.0)});
  utils::rnn::unpack_sequence(packed), utils::rnn::unpad_sequence(x, {2, 2, 1});
  const auto exp = [](const auto& v) { return v.exp(); };
  const auto total = [](const auto& v) { return v.exp().sum(); };
  autograd::functional::jacobian(exp, x), autograd::functional::vjp(exp, x, x), autograd::functional::jvp(exp, x, x);
  autograd::functional::hessian(total, x), autograd::functional::hvp(total, x, x),
      autograd::functional::vhp(total, x, x);
  autograd::gradcheck(exp, std::tuple{ones<Cpu, double>({2}).requires_grad_()});
  return autograd::grad(loss, x).sum().item();
}
