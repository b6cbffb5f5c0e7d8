// One call of an operator: its recorded arguments as tensors and numbers of the library's types.
#pragma once
#include <tern/tern.hpp>

#include <functional>

#include "case.hpp"

namespace opinfo {

using tern::Index;

template <class D, class T>
class Call {
 public:
  using X = tern::Tensor<D, T>;
  using Ints = tern::Tensor<D, Index>;
  using Bools = tern::Tensor<D, bool>;

  Call(const Bank& bank, const Case& c, Layout layout, std::optional<tern::DType> round_to)
      : case_(c), bank_(bank), layout_(layout), round_to_(round_to) {}

  const Case& info() const { return case_; }

  /// The argument at a position or of a name; null if it was not given.
  const Json& arg(std::size_t position, const char* name) const {
    static const Json none;
    if (case_.kwargs.contains(name)) return case_.kwargs[name];
    return position < case_.args.size() ? case_.args[position] : none;
  }
  bool has(std::size_t position, const char* name) const { return !arg(position, name).is_null(); }
  const Json& arg(const char* name) const { return arg(99, name); }
  bool has(const char* name) const { return has(99, name); }
  /// A skip where an argument was given that the library's signature lacks.
  void refuse(const char* name) const {
    if (case_.kwargs.contains(name) && !case_.kwargs[name].is_null()) throw Skip{std::string("no argument ") + name};
  }

  /// The tensors, by position or name.
  X x(std::size_t position, const char* name = "") { return tensor<T>(arg(position, name)); }
  X x(const char* name) { return x(99, name); }
  Ints ints(std::size_t position, const char* name = "") { return tensor<Index>(arg(position, name)); }
  Bools bools(std::size_t position, const char* name = "") { return tensor<bool>(arg(position, name)); }
  bool is_tensor(std::size_t position, const char* name = "") const { return is_tensor(arg(position, name)); }
  static bool is_tensor(const Json& j) { return j.is_object() && j.contains("tensor"); }
  bool is_null(std::size_t position, const char* name = "") const { return arg(position, name).is_null(); }
  /// An undefined tensor where none was given.
  X optional_x(std::size_t position, const char* name) {
    return has(position, name) ? tensor<T>(arg(position, name)) : X();
  }
  std::vector<X> list(std::size_t position, const char* name = "") {
    std::vector<X> xs;
    for (const Json& j : elements(arg(position, name))) xs.push_back(tensor<T>(j));
    return xs;
  }
  tern::DType dtype_of(const Json& j) const { return bank_.tensors.at(j["tensor"]).dtype; }

  double number(std::size_t position, const char* name, double otherwise) const {
    return has(position, name) ? to_number(arg(position, name)) : otherwise;
  }
  double number(const char* name, double otherwise) const { return number(99, name, otherwise); }
  Index integer(std::size_t position, const char* name, Index otherwise) const {
    const Json& j = arg(position, name);
    if (is_tensor(j)) return Index(bank_.tensors.at(j["tensor"]).values.at(0));
    return has(position, name) ? j.get<Index>() : otherwise;
  }
  bool flag(std::size_t position, const char* name, bool otherwise) const {
    return has(position, name) ? arg(position, name).template get<bool>() : otherwise;
  }
  bool flag(const char* name, bool otherwise) const { return flag(99, name, otherwise); }
  std::string text(const char* name, const char* otherwise) const {
    return has(name) ? arg(name).template get<std::string>() : otherwise;
  }
  /// A list of integers, or one.
  tern::Dims dims(std::size_t position, const char* name, tern::Dims otherwise = {}) const {
    return has(position, name) ? to_dims(arg(position, name)) : otherwise;
  }
  static tern::Dims to_dims(const Json& j) {
    if (j.is_number()) return tern::Dims(j.get<Index>());
    tern::Dims out;
    for (const Json& e : elements(j)) out.push_back(e.get<Index>());
    return out;
  }
  /// The integers from a position on, given one by one or as a list.
  tern::Dims rest(std::size_t position) const {
    if (position < case_.args.size() && !case_.args[position].is_number()) return to_dims(case_.args[position]);
    tern::Dims out;
    for (std::size_t i = position; i < case_.args.size(); ++i) out.push_back(case_.args[i].get<Index>());
    return out;
  }
  static const Json& elements(const Json& j) { return j.is_object() && j.contains("tuple") ? j["tuple"] : j; }
  static double to_number(const Json& j) {
    if (j.is_object() && j.contains("float")) return std::stod(j["float"].get<std::string>());
    if (j.is_boolean()) return j.get<bool>();
    if (!j.is_number()) throw Skip{"a number of another kind: " + j.dump()};
    return j.get<double>();
  }

  /// The tensor of an argument, made once, in the layout asked for.
  template <class U>
  tern::Tensor<D, U> tensor(const Json& j) {
    if (!is_tensor(j)) throw Skip{"a bare number where a tensor belongs"};
    const std::string name = j["tensor"];
    for (const auto& [known, made] : made_)
      if (known == name) return made.template as<D, U>();
    const Recorded& r = bank_.tensors.at(name);
    const bool floating = r.dtype == tern::DType::float32 || r.dtype == tern::DType::float64;
    if (floating != tern::is_floating_v<U> || (!floating && r.dtype != tern::dtype_of<U>))
      throw Skip{"mixed element types"};
    auto t = lay_out<U>(r);
    if constexpr (tern::is_floating_v<U>)
      if (case_.grads.contains(name)) t.requires_grad_();
    made_.emplace_back(name, t);
    return t;
  }
  /// The made inputs, for their gradients.
  const std::vector<std::pair<std::string, tern::AnyTensor>>& made() const { return made_; }

  template <class U>
  tern::Tensor<D, U> dense(const Recorded& r) const {
    auto t = tern::empty<D, U>(r.shape);
    for (std::size_t i = 0; i < r.values.size(); ++i) t.data()[i] = convert<U>(r.values[i]);
    return t;
  }

 private:
  template <class U>
  U convert(double value) const {
    if constexpr (tern::is_floating_v<U>) {
      if (round_to_ == tern::DType::bfloat16) value = double(float(tern::bfloat16(float(value))));
      if (round_to_ == tern::DType::float16) value = double(float(tern::half(float(value))));
    }
    return U(static_cast<tern::compute_t<U>>(value));
  }

  template <class U>
  tern::Tensor<D, U> lay_out(const Recorded& r) const {
    const auto t = dense<U>(r);
    const tern::NoGradGuard off;
    if (layout_ == Layout::transposed && r.shape.n >= 2) return t.transpose(0, -1).contiguous().transpose(0, -1);
    if (layout_ == Layout::strided && r.shape.n >= 1) {
      tern::Shape wide = r.shape;
      wide[wide.n - 1] = 2 * wide[wide.n - 1] + 1;
      const auto buffer = tern::full<D, U>(wide, 7);
      const auto view = buffer.slice(-1, {1, tern::Slice::open, 2});
      view.copy_(t);
      return view;
    }
    return t;
  }

  const Case& case_;
  const Bank& bank_;
  Layout layout_;
  std::optional<tern::DType> round_to_;
  std::vector<std::pair<std::string, tern::AnyTensor>> made_;
};

/// A list of results of any types.
using Results = std::vector<tern::AnyTensor>;

template <class D, class T>
using Operator = std::function<Results(Call<D, T>&)>;
template <class D, class T>
using Table = std::map<std::string, Operator<D, T>>;

template <class X>
Results results(const std::vector<X>& xs) {
  return Results(xs.begin(), xs.end());
}

}  // namespace opinfo
