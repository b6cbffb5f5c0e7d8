// x.index({Slice(1, 5), None, Ellipsis, 3, positions, mask}), writing through such an index, and masks. Numbers,
// slices, None and Ellipsis give views. Tensors of positions and masks give copies; they are broadcast against each
// other. As in PyTorch, their dimensions take the place of the first such tensor, or come first if other entries lie
// between such tensors. The file has over 400 lines, because reading, writing and x[…] = … share the class Indexed.
#pragma once
#include <concepts>
#include <cstring>
#include <memory>

#include "../backend/rows.hpp"
#include "comparison.hpp"
#include "gather.hpp"
#include "views.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// One entry of an index.
template <class D>
struct TensorIndex {
  enum class Kind { position, slice, none, ellipsis, positions, mask, whole_mask } kind;
  Index position = 0;
  Slice slice{};
  Tensor<D, Index> positions{};
  Tensor<D, bool> mask{};

  /// One position of a dimension; the dimension is removed. true and false are masks without dimensions.
  template <std::integral I>
  TensorIndex(I i) : kind(Kind::position), position(Index(i)) {
    if constexpr (std::is_same_v<I, bool>) kind = Kind::whole_mask;
  }
  TensorIndex(Slice s) : kind(Kind::slice), slice(s) {}
  TensorIndex(NoneType) : kind(Kind::none) {}
  TensorIndex(EllipsisType) : kind(Kind::ellipsis) {}
  /// "...", which is Ellipsis. Error for other texts.
  TensorIndex(const char* text, CallSite here = {}) : kind(Kind::ellipsis) {
    if (std::strcmp(text, "...") != 0)
      Error::fail({"index", here}, {"of texts only \"...\" can stand in an index, not \"", text, "\""});
  }
  /// Positions of a dimension; negative ones count from the end.
  TensorIndex(const Tensor<D, Index>& at, CallSite here = {}) : kind(Kind::positions), positions(at) {
    at.checked({"index", here});
  }
  template <class I>
    requires(std::is_integral_v<I> && !std::is_same_v<I, bool>)
  TensorIndex(const Tensor<D, I>& at, CallSite here = {}) : TensorIndex(as_positions(at, here), here) {}
  /// The positions where the mask is true, in as many dimensions as the mask has. The host waits for their number.
  TensorIndex(const Tensor<D, bool>& where, CallSite here = {}) : kind(Kind::mask), mask(where) {
    where.checked({"index", here});
  }

  /// How many dimensions of x the entry covers.
  int dims() const {
    if (kind == Kind::mask) return mask.dim();
    return kind == Kind::none || kind == Kind::ellipsis || kind == Kind::whole_mask ? 0 : 1;
  }
};

template <class D>
using IndexList = std::vector<TensorIndex<D>>;

template <class D, class T>
Tensor<D, T> add_at(const Tensor<D, T>& x, int lead, const Tensor<D, Index>& at, const Shape& shape);

/// y[i..., r...] = x[at[i...], r...], where `at` numbers the positions in the first `lead` dimensions of x.
template <class D, class T>
Tensor<D, T> take_at(const CallSite& op, const Tensor<D, T>& x, int lead, const Tensor<D, Index>& at) {
  const Shape from = x.shape();
  Shape to = at.shape();
  for (int i = lead; i < from.n; ++i) to.push_back(from[i]);
  const Tensor<D, T> y = empty<D, T>(to, x.device());
  backend::run<D>(
      backend::CopyRows{{*y.impl(), at.dim()}, {*x.impl(), lead}, {.count = at.numel(), .from = at.impl()}});
  record(op, y,
         wrt(x, saved(at), [lead, from](const Tensor<D, T>& g, const auto& p) { return add_at(g, lead, p, from); }));
  return y;
}

/// The adjoint of take_at: zeros of a shape, with x[i..., r...] added at [at[i...], r...].
template <class D, class T>
Tensor<D, T> add_at(const Tensor<D, T>& x, int lead, const Tensor<D, Index>& at, const Shape& shape) {
  const Tensor<D, compute_t<T>> sums = zeros<D, compute_t<T>>(shape, x.device());
  backend::run<D, T>(
      backend::AddRows{{*sums.impl(), lead}, {*x.impl(), at.dim()}, {.count = at.numel(), .to = at.impl()}});
  const Tensor<D, T> y = to_type(sums, Type<T>{});
  record({"add_at", CallSite::unknown}, y, wrt(x, saved(at), [lead](const Tensor<D, T>& g, const auto& p) {
           return take_at({"take_at", CallSite::unknown}, g, lead, p);
         }));
  return y;
}

/// x with [at[i...], r...] set to values[i..., r...]. If a position gets several values, the last one counts.
template <class D, class T>
Tensor<D, T> put_at(const CallSite& op, const Tensor<D, T>& x, int lead, const Tensor<D, Index>& at,
                    const Tensor<D, T>& values) {
  const Tensor<D, T> y = dense_copy(x);
  backend::run<D>(
      backend::CopyRows{{*y.impl(), lead}, {*values.impl(), at.dim()}, {.count = at.numel(), .to = at.impl()}});
  const Shape shape = values.shape();
  record(op, y,
         wrt(x, saved(at),
             [lead, shape](const Tensor<D, T>& g, const auto& p) {
               return put_at({"put_at", CallSite::unknown}, g, lead, p, expand(zeros<D, T>({}, g.device()), shape));
             }),
         wrt(values, saved(at), [lead](const Tensor<D, T>& g, const auto& p) {
           return take_at({"take_at", CallSite::unknown}, g, lead, p);
         }));
  return y;
}

/// The row-major positions where a mask is true.
template <class D>
Tensor<D, Index> positions_of(const Tensor<D, bool>& mask) {
  const Tensor<D, bool> dense = contiguous(mask);
  Index count;
  backend::run<D>(backend::CountTrue{*dense.impl(), count});
  const Tensor<D, Index> at = empty<D, Index>(count, mask.device());
  backend::run<D>(backend::TruePositions{*at.impl(), *dense.impl()});
  return at;
}

/// An index in two parts: a view by its numbers and slices, and what its tensors choose from that view.
template <class D, class T>
class Indexed {
 public:
  Indexed(const CallSite& op, const Tensor<D, T>& x, const TensorIndex<D>* entries, std::size_t count, CallSite here)
      : view_(x) {
    using Kind = typename TensorIndex<D>::Kind;
    int named = 0, ellipses = 0;
    for (std::size_t k = 0; k < count; ++k) named += entries[k].dims(), ellipses += entries[k].kind == Kind::ellipsis;
    if (ellipses > 1) Error::fail(op, {"only one Ellipsis can stand in an index"});
    if (named > x.checked(op)->ndim)
      Error::fail(op, {"too many indices, ", named, ", for a tensor of shape ", x.shape()});
    const int missing = x.dim() - named;
    int dim = 0, source = 0;  // the entry's dimensions of the view and of x
    for (std::size_t k = 0; k < count; ++k) {
      const TensorIndex<D>& entry = entries[k];
      switch (entry.kind) {
        case Kind::position: {
          const Index size = view_.size(dim), at = entry.position < 0 ? entry.position + size : entry.position;
          if (at < 0 || at >= size)
            Error::fail(op, {"position ", entry.position, " is outside dimension ", source, " of size ", size});
          view_ = select(view_, dim, at, here);
          break;
        }
        case Kind::slice: view_ = slice(view_, dim++, entry.slice, here); break;
        case Kind::none: view_ = unsqueeze(view_, dim++, here); break;
        case Kind::ellipsis: dim += missing; break;
        case Kind::positions: choose(dim++, 1, entry.positions, entry.positions.dim() > 0); break;
        case Kind::mask: dim += choose_by_mask(op, dim, entry.mask, here); break;
        case Kind::whole_mask: dim += choose_by_mask(op, dim, full<D, bool>({}, entry.position != 0, x.device()), here);
      }
      source += entry.kind == Kind::ellipsis ? missing : entry.dims();
    }
    if (!has_tensors()) return;
    order_dims();
    if (!is_one_mask()) number_rows(op);
  }

  /// Without tensors in the index, the view is the result.
  bool has_tensors() const { return chosen_count_ > 0; }
  const Tensor<D, T>& view() const { return view_; }

  /// The view with the lead() chosen dimensions first. at() has the numbers of the chosen rows.
  Tensor<D, T> rows(CallSite here) const { return permuted_ ? permute(view_, order_, here) : view_; }
  int lead() const { return lead_; }
  const Tensor<D, Index>& at() const {
    if (!at_.defined()) at_ = positions_of(chosen_[0].mask);
    return at_;
  }

  /// The mask with the view's number of dimensions, if it is the index's only tensor; else undefined. Through it
  /// numbers are written without its positions.
  Tensor<D, bool> mask(CallSite here) const {
    if (!is_one_mask()) return {};
    Tensor<D, bool> mask = chosen_[0].mask;
    for (int i = chosen_[0].dim + chosen_[0].dims; i < view_.dim(); ++i) mask = unsqueeze(mask, -1, here);
    return mask;
  }

  /// Moves the dimensions of take_at's result to their final places. as_rows does the reverse.
  Tensor<D, T> placed(const Tensor<D, T>& y, CallSite here) const {
    if (before_ == 0) return y;
    const int n = at().dim();
    Dims dims;
    for (int i = 0; i < y.dim(); ++i) dims.push_back(i < before_ ? n + i : i < before_ + n ? i - before_ : i);
    return permute(y, dims, here);
  }
  /// Values, broadcast to the shape of the placed result, as rows.
  Tensor<D, T> as_rows(const CallSite& op, const Tensor<D, T>& values, CallSite here) const {
    const int n = at().dim();
    Shape shape;
    for (int i = lead_; i < lead_ + before_; ++i) shape.push_back(view_.size(int(order_[i])));
    for (int i = 0; i < n; ++i) shape.push_back(at_.size(i));
    for (int i = lead_ + before_; i < view_.dim(); ++i) shape.push_back(view_.size(int(order_[i])));
    Tensor<D, T> fitting = values;
    while (fitting.dim() > shape.n && fitting.size(0) == 1) fitting = select(fitting, 0, 0, here);
    bool fits = fitting.dim() <= shape.n;
    for (int i = 1; fits && i <= fitting.dim(); ++i)
      fits = fitting.size(-i) == 1 || fitting.size(-i) == shape[shape.n - i];
    if (!fits) Error::fail(op, {"values of shape ", values.shape(), " do not broadcast to the indexed shape ", shape});
    fitting = expand(fitting, shape, here);
    if (before_ == 0) return fitting;
    Dims dims;
    for (int i = 0; i < shape.n; ++i) dims.push_back(i < n ? before_ + i : i < n + before_ ? i - n : i);
    return permute(fitting, dims, here);
  }

 private:
  struct Chosen {
    int dim = 0, dims = 0;   // the dimensions that it covers
    Tensor<D, Index> index;  // of a mask: undefined until its positions are needed
    bool shaped = false;     // it adds dimensions to the result; a 0-d tensor acts like a number
    Tensor<D, bool> mask{};
  };

  void choose(int dim, int dims, const Tensor<D, Index>& index, bool shaped, const Tensor<D, bool>& mask = {}) {
    if (chosen_count_ == max_dims) Error::fail("index", {"at most ", max_dims, " tensors can stand in an index"});
    chosen_[chosen_count_++] = {dim, dims, index, shaped, mask};
  }
  bool is_one_mask() const { return chosen_count_ == 1 && chosen_[0].mask.defined(); }

  /// Adds a mask. Returns the number of dimensions that it covers in the view.
  int choose_by_mask(const CallSite& op, int dim, const Tensor<D, bool>& mask, CallSite here) {
    if (mask.dim() == 0) {
      view_ = unsqueeze(view_, dim, here);
      choose(dim, 1, {}, true, mask);
      return 1;
    }
    for (int i = 0; i < mask.dim(); ++i)
      if (mask.size(i) != view_.size(dim + i))
        Error::fail(op, {"a mask of shape ", mask.shape(), " does not fit dimension ", dim + i, " of ", view_.shape()});
    choose(dim, mask.dim(), {}, true, mask);
    return mask.dim();
  }

  void order_dims() {
    unsigned mask = 0;
    int first = -1, end = 0;
    bool adjacent = true;
    for (int k = 0; k < chosen_count_; ++k) {
      const Chosen& c = chosen_[k];
      for (int i = c.dim; i < c.dim + c.dims; ++i) order_.push_back(i), mask |= 1u << i;
      if (!c.shaped) continue;
      for (int i = end; first >= 0 && i < c.dim; ++i) adjacent = adjacent && (mask >> i & 1);
      if (first < 0) first = c.dim;
      end = c.dim + c.dims;
    }
    lead_ = order_.n;
    for (int i = 0; i < view_.dim(); ++i) {
      if (mask >> i & 1) continue;
      order_.push_back(i);
      before_ += adjacent && i < first;
    }
    for (int i = 0; i < order_.n; ++i) permuted_ = permuted_ || order_[i] != i;
  }

  void number_rows(const CallSite& op) {
    const CallScope scope(op);  // of a position out of range
    backend::RowIndex terms[max_dims];
    Shape shape;
    for (int k = 0; k < chosen_count_; ++k) {
      Chosen& c = chosen_[k];
      if (c.mask.defined()) c.index = positions_of(c.mask);
      Index size = 1;
      for (int i = c.dim; i < c.dim + c.dims; ++i) size *= view_.size(i);
      for (int before = 0; before < k; ++before) terms[before].step *= size;
      terms[k] = {c.index.impl(), size, 1, true};
      shape = broadcast_shapes(op, shape, c.index.shape());
    }
    at_ = empty<D, Index>(shape, view_.device());
    backend::run<D>(backend::RowNumbers{op.name(), *at_.impl(), terms, chosen_count_});
  }

  Tensor<D, T> view_;
  Chosen chosen_[max_dims];
  int chosen_count_ = 0, lead_ = 0, before_ = 0;
  Dims order_;
  bool permuted_ = false;
  mutable Tensor<D, Index> at_;  // of one mask alone: undefined until it is needed
};

/// The elements that were chosen; without tensors in the index, the view.
template <class D, class T>
Tensor<D, T> elements_of(const Indexed<D, T>& indexed, CallSite here) {
  if (!indexed.has_tensors()) return indexed.view();
  return indexed.placed(take_at({"index", here}, indexed.rows(here), indexed.lead(), indexed.at()), here);
}

template <class D, class T>
Tensor<D, T> index_by(const Tensor<D, T>& x, const TensorIndex<D>* entries, std::size_t count, CallSite here) {
  return elements_of(Indexed<D, T>({"index", here}, x, entries, count, here), here);
}

/// Reads x[…] later, in the modes of the time when it was made.
template <class D, class T>
struct LaterRead {
  std::shared_ptr<const Indexed<D, T>> indexed;
  CallSite here;
  bool grad = GradMode::is_enabled(), inference = inference_mode;

  static TensorImpl* read(const void* later) {
    const auto& [indexed, here, grad, inference] = *static_cast<const LaterRead*>(later);
    const GradMode mode(grad);
    const struct Inference {
      bool before;
      ~Inference() { inference_mode = before; }
    } outer{std::exchange(inference_mode, inference)};
    return elements_of(*indexed, here).release();
  }
  static void drop(void* later, void*) { delete static_cast<LaterRead*>(later); }

  /// The tensor, unread until it is used or the expression ends.
  static Tensor<D, T> tensor(std::shared_ptr<const Indexed<D, T>> indexed, CallSite here, const ExpressionEnd& end) {
    std::unique_ptr<LaterRead> later(new LaterRead{std::move(indexed), here});
    Tensor<D, T> x(new_unread(later.get(), &read, &drop, end));
    later.release();
    return x;
  }
};

inline constexpr auto filling_where = [](auto x, auto mask, auto value) { return where(mask != 0, value, x); };

/// Writes x's elements where the mask is true: the values of the same place, or the value in a 0-d tensor.
template <class D, class T>
void fill_from(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, bool>& mask, const Tensor<D, T>& values) {
  map_into(op, x, filling_where, x, mask, values);
}

/// Writes the values, or with accumulate adds them, to the elements that were chosen.
template <class D, class T>
void put(const CallSite& op, const Indexed<D, T>& indexed, const Tensor<D, T>& values, bool accumulate) {
  const CallSite here = op;
  if (!indexed.has_tensors()) {
    if (accumulate) add_(indexed.view(), values, here);
    else copy_(indexed.view(), values, here);
    return;
  }
  if (!accumulate && values.dim() == 0)
    if (const Tensor<D, bool> mask = indexed.mask(here); mask.defined()) {
      masked_fill_(indexed.view(), mask, values, here);
      return;
    }
  const Tensor<D, T> target = indexed.rows(here), rows = indexed.as_rows(op, values, here);
  if (accumulate) {
    add_(target, add_at(rows, indexed.lead(), indexed.at(), target.shape()), here);
  } else if (records(target, values)) {
    check_writable(op, target.impl());
    assign(op, target, put_at(op, target, indexed.lead(), indexed.at(), rows));
  } else {
    check_writable(op, target.impl());
    const bool same_memory = values.impl()->owner == target.impl()->owner;
    const Tensor<D, T> source = same_memory ? rows.clone() : rows;
    backend::run<D>(backend::CopyRows{{*target.impl(), indexed.lead()},
                                      {*source.impl(), indexed.at().dim()},
                                      {.count = indexed.at().numel(), .to = indexed.at().impl()}});
    bump_version(target.impl());
  }
}
template <class D, class T>
void put(const CallSite& op, const Indexed<D, T>& indexed, number_t<T> value, bool accumulate = false) {
  const Tensor<D, bool> mask = accumulate ? Tensor<D, bool>() : indexed.mask(op);
  if (mask.defined()) masked_fill_(indexed.view(), mask, value, op);
  else put(op, indexed, full<D, T>({}, value, indexed.view().device()), accumulate);
}

template <class D, class T>
const Tensor<D, T>& index_put_by(const Tensor<D, T>& x, const TensorIndex<D>* entries, std::size_t count,
                                 const Tensor<D, T>& values, bool accumulate, CallSite here) {
  const CallSite op{"index_put_", here};
  const CallScope scope(op);
  values.checked(op);
  put(op, Indexed<D, T>(op, x, entries, count, here), values, accumulate);
  return x;
}

}  // namespace detail

/// The elements that the index names. Error that names position and dimension if a position is outside its dimension.
template <Device D, Element T>
Tensor<D, T> index(const Tensor<D, T>& x, std::initializer_list<std::type_identity_t<detail::TensorIndex<D>>> indices,
                   CallSite here = {}) {
  return detail::index_by(x, indices.begin(), indices.size(), here);
}
template <Device D, Element T>
Tensor<D, T> index(const Tensor<D, T>& x, const detail::IndexList<D>& indices, CallSite here = {}) {
  return detail::index_by(x, indices.data(), indices.size(), here);
}

/// Sets the elements that the index names to the values, which are broadcast. With accumulate the values are added, as
/// often as a position is named.
template <Device D, Element T>
const Tensor<D, T>& index_put_(const Tensor<D, T>& x,
                               std::initializer_list<std::type_identity_t<detail::TensorIndex<D>>> indices,
                               const Tensor<D, T>& values, bool accumulate = false, CallSite here = {}) {
  return detail::index_put_by(x, indices.begin(), indices.size(), values, accumulate, here);
}
template <Device D, Element T>
const Tensor<D, T>& index_put_(const Tensor<D, T>& x, const detail::IndexList<D>& indices, const Tensor<D, T>& values,
                               bool accumulate = false, CallSite here = {}) {
  return detail::index_put_by(x, indices.data(), indices.size(), values, accumulate, here);
}
template <Device D, Element T>
const Tensor<D, T>& index_put_(const Tensor<D, T>& x,
                               std::initializer_list<std::type_identity_t<detail::TensorIndex<D>>> indices,
                               detail::number_t<T> value, bool accumulate = false, CallSite here = {}) {
  const CallSite op{"index_put_", here};
  const CallScope scope(op);
  detail::put(op, detail::Indexed<D, T>(op, x, indices.begin(), indices.size(), here), value, accumulate);
  return x;
}

namespace detail {
/// The entry of x[entry], with its source line.
template <class D>
struct TensorIndexAt {
  TensorIndex<D> entry;
  CallSite here;
  ExpressionEnd end{};
  template <class E>
    requires((!std::is_arithmetic_v<E> || std::is_same_v<E, bool>) && std::constructible_from<TensorIndex<D>, const E&>)
  TensorIndexAt(const E& e, CallSite h = {}) : entry(entry_at(e, h)), here(h) {}

 private:
  template <class E>
  static TensorIndex<D> entry_at(const E& e, const CallSite& here) {
    const CallScope scope(here);
    return e;
  }
};

/// The entries of x[entries] in a std::vector, such as where(condition) returns, with their source line.
template <class D>
struct IndexListAt {
  IndexList<D> entries;
  CallSite here;
  ExpressionEnd end{};
  template <class E>
    requires(!std::is_arithmetic_v<E> && std::constructible_from<TensorIndex<D>, const E&>)
  IndexListAt(const std::vector<E>& list, CallSite h = {}) : here(h) {
    const CallScope scope(here);
    entries.assign(list.begin(), list.end());
  }
};
}  // namespace detail

/// x[index]: the tensor that index() returns. What is assigned to the expression is written to x, as by index_put_: x[y
/// > 0] = 0, x[positions] += 1. If a position is named twice, the last value counts. Positions and masks are read when
/// the tensor is first used, at the latest at the end of the full expression; an assignment reads nothing. It holds x
/// while it lives.
template <class D, class T>
class Selected : public Tensor<D, T> {
  using X = Tensor<D, T>;
  using Indexed = detail::Indexed<D, T>;

 public:
  Selected(const X& x, const detail::TensorIndex<D>* entries, std::size_t count, CallSite here,
           const detail::ExpressionEnd& end)
      : here_(here) {
    Indexed indexed({"index", here}, x, entries, count, here);
    if (!indexed.has_tensors()) {
      X::operator=(indexed.view());
      return;
    }
    indexed_ = std::make_shared<const Indexed>(std::move(indexed));
    X::operator=(detail::LaterRead<D, T>::tensor(indexed_, here, end));
  }
  /// A copy is a handle of the elements. Assignments to it write nothing.
  Selected(const Selected& other) : X(other) {}
  Selected& operator=(const Selected& other) & { return *this = X(other); }
  Selected& operator=(X other) & {
    X::operator=(std::move(other));
    indexed_.reset();
    return *this;
  }

  X operator=(const X& values) && {
    if (indexed_) write(values);
    else copy_(tensor(), this->without_leading_ones(values), here_);
    return *this;
  }
  X operator=(detail::number_t<T> value) && {
    const CallSite op{"operator=", here_};
    const CallScope scope(op);
    if (indexed_) detail::put(op, *indexed_, value);
    else fill_(tensor(), value, here_);
    return *this;
  }
  template <class D2, class T2>
    requires(!std::is_same_v<Tensor<D2, T2>, X>)
  detail::Refusal<X, Tensor<D2, T2>> operator=(const Tensor<D2, T2>&) TERN_REFUSED(D, D2);

#define TERN_SELECTED_OPERATOR(symbol, name)                                              \
  template <class B>                                                                      \
    requires requires(const X& x, const B& b) { name##_(x, b); }                          \
  void operator symbol(const B& b) && {                                                   \
    if (!indexed_) name##_(tensor(), b, here_);                                           \
    else update([&](const X& x) { return name(x, b, here_); }, !std::is_arithmetic_v<B>); \
  }
  TERN_SELECTED_OPERATOR(+=, add)
  TERN_SELECTED_OPERATOR(-=, sub)
  TERN_SELECTED_OPERATOR(*=, mul)
  TERN_SELECTED_OPERATOR(/=, div)
  TERN_SELECTED_OPERATOR(%=, remainder)
#undef TERN_SELECTED_OPERATOR
  void operator&=(const X& b) && { std::move(*this) = bitwise_and(tensor(), b, here_); }
  void operator|=(const X& b) && { std::move(*this) = bitwise_or(tensor(), b, here_); }
  void operator^=(const X& b) && { std::move(*this) = bitwise_xor(tensor(), b, here_); }

 private:
  const X& tensor() const { return *this; }
  void write(const X& values) const {
    const CallSite op{"operator=", here_};
    const CallScope scope(op);
    values.checked(op);
    detail::put(op, *indexed_, values, false);
  }
  /// Writes f of the elements. Where a mask chooses them and f takes each alone, it is computed of all.
  template <class F>
  void update(const F& f, bool takes_tensor) const {
    const CallSite op{"operator=", here_};
    const X& view = indexed_->view();
    const Tensor<D, bool> mask = takes_tensor || detail::records(view) ? Tensor<D, bool>() : indexed_->mask(here_);
    if (!mask.defined()) return write(f(tensor()));
    detail::check_writable(op, view.impl());
    detail::fill_from(op, view, mask, f(view));
  }

  std::shared_ptr<const Indexed> indexed_;  // null for a view, which is written itself
  CallSite here_;
};

/// A copy of x with the elements that the index names replaced or added to.
template <Device D, Element T>
Tensor<D, T> index_put(const Tensor<D, T>& x, const detail::IndexList<D>& indices, const Tensor<D, T>& values,
                       bool accumulate = false, CallSite here = {}) {
  const CallScope scope({"index_put", here});
  const Tensor<D, T> y = clone(x, here);
  return index_put_(y, indices, values, accumulate, here);
}

namespace detail {
template <class S>
auto fill_where(S value) {
  return [value](auto x, auto mask) { return where(mask != 0, decltype(x)(value), x); };
}
inline void check_filling(const CallSite& op, const Array& value) {
  if (value.ndim != 0) Error::fail(op, {"the value must be a 0-d tensor, not of shape ", value.shape()});
}
}  // namespace detail

/// value where the mask is true, x elsewhere. x and the mask are broadcast. Error if T does not hold the value.
template <Device D, Element T>
Tensor<D, T> masked_fill(const Tensor<D, T>& x, const Tensor<D, bool>& mask, detail::number_t<T> value,
                         CallSite here = {}) {
  const Tensor<D, T> y = detail::map<T>({"masked_fill", here},
                                        detail::fill_where(detail::element<T>({"masked_fill", here}, value)), x, mask);
  record({"masked_fill", here}, y,
         wrt(x, saved(mask), [](const auto& g, const auto& m) { return masked_fill(g, m, 0); }));
  return y;
}
/// The same with the value in a 0-d tensor.
template <Device D, Element T>
Tensor<D, T> masked_fill(const Tensor<D, T>& x, const Tensor<D, bool>& mask, const Tensor<D, T>& value,
                         CallSite here = {}) {
  detail::check_filling({"masked_fill", here}, *value.checked({"masked_fill", here}));
  const Tensor<D, T> y = detail::map<T>({"masked_fill", here}, detail::filling_where, x, mask, value);
  record({"masked_fill", here}, y,
         wrt(x, saved(mask), [](const auto& g, const auto& m) { return masked_fill(g, m, 0); }),
         wrt(value, saved(mask), [](const auto& g, const auto& m) { return masked_fill(g, eq(m, false), 0); }));
  return y;
}
template <Device D, Element T>
const Tensor<D, T>& masked_fill_(const Tensor<D, T>& x, const Tensor<D, bool>& mask, detail::number_t<T> value,
                                 CallSite here = {}) {
  return detail::pointwise_(
      {"masked_fill_", here}, detail::fill_where(detail::element<T>({"masked_fill_", here}, value)),
      [&] { return masked_fill(x, mask, value, here); }, x, mask);
}
template <Device D, Element T>
const Tensor<D, T>& masked_fill_(const Tensor<D, T>& x, const Tensor<D, bool>& mask, const Tensor<D, T>& value,
                                 CallSite here = {}) {
  const CallScope scope({"masked_fill_", here});
  detail::check_filling({"masked_fill_", CallSite::unknown}, *value.checked("masked_fill_"));
  return detail::pointwise_(
      {"masked_fill_", here}, detail::filling_where, [&] { return masked_fill(x, mask, value, here); }, x, mask, value);
}

/// x with the elements where the mask is true replaced by the first ones of source, in order. x and the mask are
/// broadcast; in place the mask alone. The host waits for their number. Error if the source has fewer.
template <Device D, Element T>
const Tensor<D, T>& masked_scatter_(const Tensor<D, T>& x, const Tensor<D, bool>& mask, const Tensor<D, T>& source,
                                    CallSite here = {}) {
  const CallScope scope({"masked_scatter_", here});
  const Tensor<D, bool> places = contiguous(expand(mask, x.checked("masked_scatter_")->shape(), here), here);
  Index count;
  detail::backend::run<D>(detail::backend::CountTrue{*places.impl(), count});
  if (count > source.checked("masked_scatter_")->numel)
    Error::fail("masked_scatter_", {"a source of ", source.numel(), " elements for ", count, " places"});
  return index_put_(x, {places}, narrow(reshape(source, -1, here), 0, 0, count, here), false, here);
}
template <Device D, Element T>
Tensor<D, T> masked_scatter(const Tensor<D, T>& x, const Tensor<D, bool>& mask, const Tensor<D, T>& source,
                            CallSite here = {}) {
  const CallScope scope({"masked_scatter", here});
  const detail::Shape shape =
      detail::broadcast_shapes({"masked_scatter", CallSite::unknown}, x.checked("masked_scatter")->shape_ref(),
                               mask.checked("masked_scatter")->shape_ref());
  const Tensor<D, T> y = clone(expand(x, shape, here), here);
  return masked_scatter_(y, mask, source, here);
}

/// The elements where the mask is true, as a vector. x and the mask are broadcast. The host waits for their number.
template <Device D, Element T>
Tensor<D, T> masked_select(const Tensor<D, T>& x, const Tensor<D, bool>& mask, CallSite here = {}) {
  const detail::Shape shape =
      detail::broadcast_shapes({"masked_select", here}, x.checked({"masked_select", here})->shape_ref(),
                               mask.checked({"masked_select", here})->shape_ref());
  return index(expand(x, shape, here), {expand(mask, shape, here)}, here);
}

}}  // namespace tern
