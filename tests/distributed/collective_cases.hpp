// What the collectives must give, whatever carries them. Each rank makes the tensors of all, and joins them by itself.
#pragma once
#include <algorithm>
#include <cstring>

#include <tern/distributed/collectives.hpp>
#include <tern/distributed/parallel_device.hpp>
#include <tern/tern.hpp>

namespace tern_test {

using namespace tern;
using distributed::Communicator;
using distributed::ReduceOp;

inline void expect(bool right, const char* what, CallSite here = {}) {
  if (!right) throw std::runtime_error(detail::text({what, " is wrong (", here.file(), ":", Index(here.line()), ")"}));
}

/// Rank r's element i: a small whole number, which every type holds, so that sums and products are exact.
template <class T>
T element(int rank, Index i) {
  if constexpr (std::is_same_v<T, bool>) return (i * 7 + rank * 3) % 5 < 2;
  else return static_cast<T>(float((i * 31 + rank * 17 + 5) % 7 - (std::is_same_v<T, std::uint8_t> ? 0 : 3)));
}

/// f(i) for the elements of a shape, where f repeats itself as element<T> does. Ranks make such tensors of millions of
/// elements by loops that no optimiser has seen.
template <class T, class F>
Tensor<Cpu, T> repeated(const detail::Shape& shape, const F& f) {
  constexpr Index period = 35;
  const Tensor<Cpu, T> y = empty<Cpu, T>(shape);
  T* const to = y.data();
  const Index n = y.numel();
  for (Index i = 0; i < std::min(n, period); ++i) to[i] = f(i);
  for (Index done = period; done < n; done *= 2)
    std::memcpy(to + done, to, std::size_t(std::min(done, n - done)) * sizeof(T));
  return y;
}

template <class T>
Tensor<Cpu, T> of_rank(int rank, const detail::Shape& shape) {
  return repeated<T>(shape, [&](Index i) { return element<T>(rank, i); });
}

/// The same tensor on the device on which this thread makes new ones.
template <Device D, class T>
Tensor<D, T> on(const Tensor<Cpu, T>& x) {
  if constexpr (HostDevice<D>) return x;
  else return to_device(x, tern::detail::current_device<D>());
}

template <Device D, class T>
bool is_same(const Tensor<D, T>& x, const Tensor<Cpu, T>& b) {
  const Tensor<Cpu, T> a = x.cpu();
  return a.shape() == b.shape() &&
         (a.numel() == 0 || std::memcmp(a.data(), b.data(), std::size_t(a.numel()) * sizeof(T)) == 0);
}

/// All ranks' tensors joined in a naive loop.
template <class T>
Tensor<Cpu, T> joined(int ranks, const detail::Shape& shape, ReduceOp op) {
  using C = compute_t<T>;
  return repeated<T>(shape, [&](Index i) -> T {
    double sum = double(static_cast<C>(element<T>(0, i)));
    for (int rank = 1; rank < ranks; ++rank) {
      const double x = double(static_cast<C>(element<T>(rank, i)));
      if (op == ReduceOp::min) sum = std::min(sum, x);
      else if (op == ReduceOp::max) sum = std::max(sum, x);
      else if (op == ReduceOp::product) sum *= x;
      else sum += x;
    }
    if constexpr (std::is_same_v<T, bool>) return sum != 0;
    else if constexpr (detail::is_floating_v<T>)
      return static_cast<T>(op == ReduceOp::avg ? static_cast<C>(sum) / static_cast<C>(ranks) : static_cast<C>(sum));
    else return static_cast<T>(std::int64_t(sum));
  });
}

/// As is_same, for averages: NCCL divides before it adds.
template <Device D, class T>
bool near(const Tensor<D, T>& a, const Tensor<Cpu, T>& b) {
  if constexpr (HostDevice<D>) return is_same(a, b);
  const auto difference = (a.cpu().to(f64) - b.to(f64)).abs();
  constexpr double unit = sizeof(T) == 2   ? (std::is_same_v<T, half> ? 0x1p-10 : 0x1p-7)
                          : sizeof(T) == 4 ? 0x1p-22
                                           : 0x1p-51;
  return a.shape() == b.shape() && (a.numel() == 0 || difference.max().item() <= 8 * unit);
}

/// Elements of this type over sizes of nothing, one, odd ones, a buffer's and more.
template <Device D, class T>
void check_type(const Communicator& c) {
  const int ranks = c.size(), me = c.rank();
  for (const Index n : {Index(0), Index(1), Index(7), Index(1000), Index(300001)}) {
    const Tensor<D, T> x = on<D>(of_rank<T>(me, {n}));
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::min, ReduceOp::max, ReduceOp::product}) {
      if (op == ReduceOp::avg && !detail::is_floating_v<T>) continue;
      if (n > 1000 && op != ReduceOp::sum && op != ReduceOp::avg) continue;
      const auto y = distributed::all_reduce(x, c, op);
      expect(op == ReduceOp::avg ? near(y, joined<T>(ranks, {n}, op)) : is_same(y, joined<T>(ranks, {n}, op)),
             "all_reduce");
    }
    const int root = ranks / 2;
    expect(is_same(distributed::broadcast(x, c, root), of_rank<T>(root, {n})), "broadcast");
    std::vector<Tensor<Cpu, T>> all, parts;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(of_rank<T>(rank, {n}));
    expect(is_same(distributed::all_gather(x, c), cat(all)), "all_gather");
    const Tensor<D, T> wide = on<D>(of_rank<T>(me, {n * ranks}));
    expect(is_same(distributed::reduce_scatter(wide, c),
                   joined<T>(ranks, {n * ranks}, ReduceOp::sum).slice(0, {me * n, (me + 1) * n}).contiguous()),
           "reduce_scatter");
    for (int rank = 0; rank < ranks; ++rank)
      parts.push_back(of_rank<T>(rank, {n * ranks}).slice(0, {me * n, (me + 1) * n}));
    expect(is_same(distributed::all_to_all(wide, c), cat(parts)), "all_to_all");
    if (ranks > 1) {
      if (me == 0) distributed::send(x, c, ranks - 1);
      if (me == ranks - 1) expect(is_same(distributed::recv<D, T>({n}, c, 0), of_rank<T>(0, {n})), "recv");
    }
  }
}

/// Tensors of two types that go together, each from a rank of its own: of nothing, within a buffer and beyond it.
template <Device D>
void check_broadcast_together(const Communicator& c) {
  std::vector<Tensor<D>> floats;
  std::vector<Tensor<D, std::uint8_t>> bytes;
  std::vector<distributed::detail::TensorFromRoot> all;
  const auto root = [&](std::size_t i) { return int(i * 5 % 7) % c.size(); };
  const std::vector<Index> sizes{0, 1, 100'003, 7, 65'536, 1000};
  for (const Index n : sizes) {
    floats.push_back(on<D>(of_rank<float>(c.rank(), {n})));
    bytes.push_back(on<D>(of_rank<std::uint8_t>(c.rank(), {n})));
    all.push_back({floats.back().impl(), root(all.size())});
    all.push_back({bytes.back().impl(), root(all.size())});
  }
  distributed::detail::parallel_device<D>(c)->broadcast_together(all);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    expect(is_same(floats[i], of_rank<float>(root(2 * i), {sizes[i]})), "broadcast_together of floats");
    expect(is_same(bytes[i], of_rank<std::uint8_t>(root(2 * i + 1), {sizes[i]})), "broadcast_together of bytes");
  }
}

template <Device D = Cpu>
void check_collectives(const Communicator& c) {
  check_type<D, float>(c);
  check_type<D, double>(c);
  check_type<D, bfloat16>(c);
  check_type<D, half>(c);
  check_type<D, std::int64_t>(c);
  check_type<D, std::int32_t>(c);
  check_type<D, std::uint8_t>(c);
  check_type<D, bool>(c);
  check_broadcast_together<D>(c);
  c.barrier();

  // Strides, and a tensor without dimensions.
  const auto whole = on<D>(of_rank<float>(c.rank(), {6, 4}));
  expect(
      is_same(distributed::all_reduce(whole.t(), c), joined<float>(c.size(), {6, 4}, ReduceOp::sum).t().contiguous()),
      "all_reduce of a transposed tensor");
  expect(distributed::all_gather(scalar_tensor<D, Index>(c.rank()), c).shape() == detail::Shape({c.size()}),
         "all_gather of numbers");

  // Parts, in reverse order.
  const Communicator part = c.split(c.rank() % 2, -c.rank());
  expect(part.size() == (c.size() + 1 - c.rank() % 2) / 2, "the size of a part");
  const auto ranks = distributed::all_gather(scalar_tensor<D, Index>(c.rank()), part).cpu();
  for (Index i = 1; i < ranks.numel(); ++i) expect(ranks.data()[i] == ranks.data()[i - 1] - 2, "the order of a part");
}

/// Elements in memory that ranks share are joined where they lie. No rank has such memory where one of them cannot have
/// it.
inline void check_shared(const Communicator& c) {
  constexpr Index petabyte = Index(1) << 50;
  expect(!c.ranks().share(petabyte), "a petabyte of shared memory");
  expect(!c.ranks().share(0), "no byte of shared memory");
  // Nothing for the last ranks, a part that no other rank needs, parts of several blocks.
  for (const Index n : {1, 65, 200'000}) {
    const std::shared_ptr<char> memory = c.ranks().share(n * Index(sizeof(float)));
    expect(bool(memory) == (c.size() > 1 && c.local_size() == c.size()), "which ranks share memory");
    if (!memory) continue;
    const auto x = from_blob<Cpu, float>(reinterpret_cast<float*>(memory.get()), {n});
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max}) {
      x.copy_(of_rank<float>(c.rank(), {n}));
      c.ranks().all_reduce_shared(*x.impl(), op);
      expect(is_same(x, joined<float>(c.size(), {n}, op)), "an element in shared memory");
    }
  }
}

}  // namespace tern_test
