// One call of an operator: its recorded arguments as tensors and numbers of the library's types.
#pragma once
#include <tern/tensor/any_tensor.hpp>
#include <tern/tensor/creation.hpp>

#include "case.hpp"
#include "ops.hpp"

namespace opinfo {

using tern::Index;
using tern::Tensor;
using tern::detail::Dims;

template <class D, class T>
class Call {
 public:
  using X = Tensor<D, T>;
  using Scalar = tern::detail::scalar_t<T>;

  Call(const Bank& bank, const Case& c, Layout layout, std::optional<tern::DType> round_to)
      : case_(c), bank_(bank), layout_(layout), round_to_(round_to) {}

  const std::string& variant() const { return case_.variant; }
  int count() const { return int(case_.args.size()); }

  /// The argument of a name, or at a position; null if it was not given.
  const Json& arg(int position, const char* name = "") const {
    static const Json none;
    if (case_.kwargs.contains(name)) {
      asked_.insert(name);
      return case_.kwargs[name];
    }
    if (position >= count()) return none;
    asked_.insert(std::to_string(position));
    return case_.args[std::size_t(position)];
  }
  const Json& arg(const char* name) const { return arg(named, name); }
  bool has(int position, const char* name = "") const { return !arg(position, name).is_null(); }
  bool has(const char* name) const { return has(named, name); }
  /// A skip if an argument was given that nobody asked for: the library's signature lacks it.
  void check_all_asked() const {
    for (const auto& [name, value] : case_.kwargs.items())
      if (!value.is_null() && !asked_.count(name)) throw Skip{"no argument " + name};
    for (int i = 0; i < count(); ++i)
      if (!case_.args[std::size_t(i)].is_null() && !asked_.count(std::to_string(i)))
        throw Skip{"no argument " + std::to_string(i)};
  }

  /// The tensors, by position or name.
  X x(int position, const char* name = "") { return tensor<T>(arg(position, name)); }
  X x(const char* name) { return x(named, name); }
  Tensor<D, Index> ints(int position, const char* name = "") { return tensor<Index>(arg(position, name)); }
  Tensor<D, double> doubles(int position, const char* name = "") { return tensor<double>(arg(position, name)); }
  /// f(positions), in the integer type that they have.
  template <class F>
  auto with_positions(int position, F f) {
    const Json& j = arg(position, "index");
    const tern::DType type = is_tensor(j) ? bank_.tensors.at(j["tensor"]).dtype : tern::DType::int64;
    if (type == tern::DType::int32) return f(tensor<std::int32_t>(j));
    if (type == tern::DType::uint8) return f(tensor<std::uint8_t>(j));
    return f(tensor<Index>(j));
  }
  Tensor<D, bool> bools(int position, const char* name = "") { return tensor<bool>(arg(position, name)); }
  /// An undefined tensor where none was given.
  X optional_x(int position, const char* name) { return has(position, name) ? x(position, name) : X(); }
  /// Running statistics, which are kept in what is calculated with; a copy, since they are written.
  Tensor<D, tern::compute_t<T>> statistics(int position, const char* name) {
    if (!has(position, name)) return {};
    return tern::clone(x(position, name).detach().to(tern::detail::Type<tern::compute_t<T>>{}));
  }
  std::vector<X> list(int position, const char* name = "") {
    std::vector<X> xs;
    for (const Json& j : elements(arg(position, name))) xs.push_back(j.is_null() ? X() : tensor<T>(j));
    return xs;
  }
  /// The tensors of a list, or all arguments.
  std::vector<X> tensors() {
    if (is_list(0)) return list(0);
    std::vector<X> xs;
    for (int i = 0; i < count(); ++i) xs.push_back(x(i));
    return xs;
  }
  bool is_tensor(int position, const char* name = "") const { return is_tensor(arg(position, name)); }
  static bool is_tensor(const Json& j) { return j.is_object() && j.contains("tensor"); }
  bool is_floating_tensor(int position, const char* name = "") const {
    return is_tensor(position, name) &&
           tern::detail::is_floating(bank_.tensors.at(arg(position, name)["tensor"]).dtype);
  }
  bool is_list(int position, const char* name = "") const { return elements(arg(position, name)).is_array(); }

  double number(int position, const char* name, double otherwise) const {
    return has(position, name) ? to_number(arg(position, name)) : otherwise;
  }
  double number(const char* name, double otherwise) const { return number(named, name, otherwise); }
  /// A number that stands where a tensor could.
  Scalar scalar(int position, const char* name = "") const {
    const double value = to_number(arg(position, name));
    if (value != double(Scalar(value))) throw Skip{"mixed element types"};
    return Scalar(value);
  }
  Scalar scalar(const char* name) const { return scalar(named, name); }
  Index integer(int position, const char* name, Index otherwise) const {
    return has(position, name) ? integer(position, name) : otherwise;
  }
  std::optional<Index> optional_integer(int position, const char* name) const {
    return has(position, name) ? std::optional(integer(position, name)) : std::nullopt;
  }
  /// An integer, which may stand in a tensor.
  Index integer(int position, const char* name = "") const {
    const Json& j = arg(position, name);
    if (!is_tensor(j)) return j.get<Index>();
    const Recorded& r = bank_.tensors.at(j["tensor"]);
    if (!r.shape.empty() || tern::detail::is_floating(r.dtype) || r.dtype == tern::DType::bool_)
      throw Skip{"a tensor where an integer belongs"};
    return Index(r.values[0]);
  }
  bool flag(int position, const char* name, bool otherwise) const {
    return has(position, name) ? arg(position, name).template get<bool>() : otherwise;
  }
  bool flag(const char* name, bool otherwise) const { return flag(named, name, otherwise); }
  std::string text(int position, const char* name, const char* otherwise) const {
    return has(position, name) ? arg(position, name).template get<std::string>() : otherwise;
  }
  std::string text(const char* name, const char* otherwise) const { return text(named, name, otherwise); }
  /// PyTorch's name of a reduction as the library's.
  tern::Reduction reduction() const {
    const std::string name = text("reduction", "mean");
    if (name == "none") return tern::Reduction::none;
    if (name == "sum") return tern::Reduction::sum;
    if (name != "mean") throw Skip{"a reduction that its type excludes"};
    return tern::Reduction::mean;
  }
  /// A list of integers, or one.
  tern::detail::Dims dims(int position, const char* name, tern::detail::Dims otherwise = {}) const {
    return has(position, name) ? to_dims(arg(position, name)) : otherwise;
  }
  /// The integers from a position on, given one by one or as a list.
  tern::detail::Dims rest(int position) const {
    if (is_list(position)) return to_dims(arg(position));
    tern::detail::Dims out;
    for (; position < count(); ++position) out.push_back(integer(position));
    return out;
  }

  /// The sizes of an adaptive pooling's result; null stands for the input's.
  tern::detail::Dims output_size(int position) const {
    const Json& given = elements(arg(position, "output_size"));
    if (given.is_number()) return to_dims(given);
    tern::detail::Dims out;
    for (const Json& e : given) out.push_back(e.is_null() ? tern::same_size : e.get<Index>());
    return out;
  }
  tern::MaxPoolOptions max_pool_options() const {
    return {.stride = dims(2, "stride"),
            .padding = dims(3, "padding", 0),
            .dilation = dims(4, "dilation", 1),
            .ceil_mode = flag(5, "ceil_mode", false)};
  }
  tern::AvgPoolOptions avg_pool_options() const {
    tern::AvgPoolOptions options{.stride = dims(2, "stride"),
                                 .padding = dims(3, "padding", 0),
                                 .ceil_mode = flag(4, "ceil_mode", false),
                                 .count_include_pad = flag(5, "count_include_pad", true)};
    if (has(6, "divisor_override")) options.divisor_override = integer(6, "divisor_override");
    return options;
  }

  /// return_inverse, return_counts and dim, from a position on.
  tern::UniqueOptions unique_options(int position) const {
    return {flag(position, "return_inverse", false), flag(position + 1, "return_counts", false),
            optional_integer(position + 2, "dim")};
  }

  std::vector<tern::detail::Dims> dims_list(int position, const char* name) const {
    std::vector<tern::detail::Dims> out;
    for (const Json& e : elements(arg(position, name))) out.push_back(to_dims(e));
    return out;
  }
  /// What stands between the brackets of x[...]: a tuple is several entries.
  tern::detail::IndexList<D> index_list(int position) {
    const Json& j = arg(position);
    if (!j.is_object() || !j.contains("tuple")) return {index_entry(j)};
    tern::detail::IndexList<D> entries;
    for (const Json& e : j["tuple"]) entries.push_back(index_entry(e));
    return entries;
  }

  /// f(x, number) or f(x, other): whichever the second argument is.
  template <class F>
  auto binary(F f) {
    return is_tensor(1, "other") ? f(x(0), x(1, "other")) : f(x(0), scalar(1, "other"));
  }
  /// f(x) in the type that dtype names, if it is given; the result comes back in T.
  template <class F>
  X in_dtype(F f) {
    const Json& dtype = arg("dtype");
    if (dtype.is_null()) return f(x(0));
    if (dtype["dtype"] != "float32" && dtype["dtype"] != "float64")
      throw Skip{"an element type that its signature excludes"};
    if (dtype["dtype"] == "float64") return f(x(0).to(tern::f64)).to(tern::detail::Type<T>{});
    return f(x(0).to(tern::f32)).to(tern::detail::Type<T>{});
  }

  /// f(type) for the type that dtype names: T, or an integer type.
  template <class F>
  auto with_dtype(F f) {
    arg("device");  // the library's functions take it from the tensor
    const Json& dtype = arg("dtype");
    if (dtype.is_object() && dtype["dtype"] == "int64") return f(tern::i64);
    if (dtype.is_object() && dtype["dtype"] == "bool") return f(tern::bool_);
    return f(tern::detail::Type<T>{});
  }

  /// The gradients asked for, of inputs in the order of the case's; an input that was not used has none.
  std::vector<std::optional<Recorded>> gradients(const std::vector<tern::AnyTensor>& results) {
    std::vector<X> outputs, cotangents, inputs;
    for (std::size_t i = 0; i < case_.cotangents.size() && i < results.size(); ++i) {
      if (!case_.cotangents[i] || !results[i].template as<D, T>().requires_grad()) continue;
      outputs.push_back(results[i].template as<D, T>());
      cotangents.push_back(dense<T>(bank_.tensors.at(*case_.cotangents[i])));
    }
    std::vector<std::optional<Recorded>> gradients;
    for (const auto& [name, unused] : case_.grads) inputs.push_back(tensor<T>(Json{{"tensor", name}}));
    for (const X& g : tern::grad<D, T>(outputs, inputs, cotangents, {.allow_unused = true}))
      gradients.push_back(g.defined() ? std::optional(record(g)) : std::nullopt);
    return gradients;
  }

 private:
  static constexpr int named = 99;  // no position

  static const Json& elements(const Json& j) { return j.is_object() && j.contains("tuple") ? j["tuple"] : j; }
  static double to_number(const Json& j) {
    if (j.is_object() && j.contains("float")) return std::stod(j["float"].get<std::string>());
    return j.is_boolean() ? j.get<bool>() : j.get<double>();
  }
  static tern::detail::Dims to_dims(const Json& j) {
    if (j.is_number()) return tern::detail::Dims(j.get<Index>());
    tern::detail::Dims out;
    for (const Json& e : elements(j)) out.push_back(e.get<Index>());
    return out;
  }

  tern::detail::TensorIndex<D> index_entry(const Json& j) {
    if (j.is_null()) return tern::None;
    if (j.is_boolean()) return j.get<bool>();
    if (j.is_number()) return j.get<Index>();
    if (j.contains("ellipsis")) return tern::Ellipsis;
    if (j.contains("slice")) {
      const Json& s = j["slice"];
      const auto bound = [&](std::size_t k) {
        return s[k].is_null() ? tern::Slice::open : std::optional(s[k].get<Index>());
      };
      return tern::Slice(bound(0), bound(1), bound(2).value_or(1));
    }
    if (!is_tensor(j)) {
      const std::vector<Index> positions = j.get<std::vector<Index>>();
      return tern::from_vector<D, Index>(positions, Index(positions.size()));
    }
    if (bank_.tensors.at(j["tensor"]).dtype == tern::DType::bool_) return tensor<bool>(j);
    return tensor<Index>(j);
  }

  /// The tensor of an argument, made once, in the layout asked for.
  template <class U>
  Tensor<D, U> tensor(const Json& j) {
    if (!is_tensor(j)) throw Skip{"a bare number where a tensor belongs"};
    const std::string name = j["tensor"];
    const Recorded& r = bank_.tensors.at(name);
    if (tern::detail::is_floating(r.dtype) != tern::detail::is_floating_v<U> ||
        (!tern::detail::is_floating(r.dtype) && r.dtype != tern::dtype_of<U>))
      throw Skip{"mixed element types"};
    tern::AnyTensor& made = made_[name];
    if (!made.defined()) {
      auto t = lay_out<U>(r);
      if constexpr (tern::detail::is_floating_v<U>)
        if (case_.grads.count(name)) t.requires_grad_();
      made = t;
    }
    return made.template as<D, U>();
  }

  template <class U>
  Tensor<D, U> dense(const Recorded& r) const {
    const auto t = tern::empty<tern::Cpu, U>(tern::detail::Shape(r.shape.data(), int(r.shape.size())));
    for (std::size_t i = 0; i < r.values.size(); ++i) {
      double value = r.values[i];
      if (tern::detail::is_floating(r.dtype) && round_to_ == tern::DType::bfloat16)
        value = tern::bfloat16(float(value));
      if (tern::detail::is_floating(r.dtype) && round_to_ == tern::DType::float16) value = tern::half(float(value));
      t.data()[i] = static_cast<U>(static_cast<tern::compute_t<U>>(value));
    }
    return to_device(t, tern::detail::current_device<D>());
  }

  template <class U>
  Tensor<D, U> lay_out(const Recorded& r) const {
    const auto t = dense<U>(r);
    const tern::NoGradGuard off;
    if (layout_ == Layout::transposed && t.dim() >= 2) return t.transpose(0, -1).contiguous().transpose(0, -1);
    if (layout_ == Layout::strided && t.dim() >= 1) {
      tern::detail::Shape wide = t.shape();
      wide[wide.n - 1] = 2 * wide.back() + 1;
      const auto view = tern::full<D, U>(wide, 1).slice(-1, {1, tern::Slice::open, 2});
      view.copy_(t);
      return view;
    }
    return t;
  }

  const Case& case_;
  const Bank& bank_;
  Layout layout_;
  std::optional<tern::DType> round_to_;
  mutable std::set<std::string> asked_;
  std::map<std::string, tern::AnyTensor> made_;
};

}  // namespace opinfo
