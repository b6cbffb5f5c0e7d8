// expect: masks are given by name: attention(q, k, v, {.key_padding_mask = p, .attn_mask = m, .is_causal = true})
// lines g++: 15
// lines clang++: 14
#include <tern/tern.hpp>
using namespace tern;
void f(const nn::MultiheadAttention<Cpu>& attention, const Tensor<Cpu>& x) { attention(x, x, x, {}, true); }
