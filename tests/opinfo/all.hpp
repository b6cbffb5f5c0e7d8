// The whole table and the runner, for the file that compiles them for a type.
#pragma once
#include "convolutions.hpp"
#include "images.hpp"
#include "indexing.hpp"
#include "layers.hpp"
#include "matrices.hpp"
#include "pointwise.hpp"
#include "reductions.hpp"
#include "resampling.hpp"
#include "run.hpp"
#include "views.hpp"

namespace opinfo {

template <class D, class T>
std::map<std::string, Results (*)(Call<D, T>&)> operators() {
  std::map<std::string, Results (*)(Call<D, T>&)> all;
  const auto add = [&](const Table<D, T>& table) {
    for (const Operator<D, T>& op : table) all[op.name] = op.call;
  };
  for (const auto& family : {views<D, T>, pointwise<D, T>, reductions<D, T>, indexing<D, T>}) add(family());
  if constexpr (tern::detail::is_floating_v<T>)
    for (const auto& family : {floating_pointwise<D, T>, floating_reductions<D, T>, floating_indexing<D, T>,
                               matrices<D, T>, layers<D, T>, images<D, T>, resampling<D, T>, convolutions<D, T>})
      add(family());
  return all;
}

template <class D, class T>
Outcome run(const Bank& bank, const Case& c, Layout layout, std::optional<tern::DType> round_to) {
  static const auto table = operators<D, T>();
  const auto op = table.find(c.op);
  if (op == table.end())
    throw Skip{offered_for_floats(c.op) ? "an element type that its signature excludes" : "operator not offered"};
  Call<D, T> call(bank, c, layout, round_to);
  const Results results = op->second(call);
  call.check_all_asked();
  Outcome outcome;
  for (const tern::AnyTensor& x : results) outcome.outputs.push_back(record(x));
  if constexpr (tern::detail::is_floating_v<T>) outcome.grads = call.gradients(results);
  return outcome;
}

}  // namespace opinfo
