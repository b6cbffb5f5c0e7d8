// Parameter and Buffer: a module's tensors. In a mixed network (mixed.hpp) a 16-bit parameter has a float original,
// which is what is learned.
#pragma once
#include <limits>
#include <memory>

#include "../backend/update.hpp"
#include "../device/capture.hpp"
#include "../ops/copy.hpp"
#include "children.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {

/// A tensor of a network, which outlives the InferenceMode that it may be made in: a backward pass may save it.
template <class X>
const X& outliving(const X& x) {
  x.impl()->inference = false;
  return x;
}

/// A float tensor that a mixed network learns, and the same in 16 bits, which its layers compute with. Tied parameters
/// share one.
class TERN_API Original {
 public:
  /// What depends on the device and on the 16-bit type.
  struct Ops {
    void (*round)(const Original* const* originals, std::size_t count);  // sets all of rounded, of each
    void (*record)(const Original& original);                            // gives rounded a new node on the tape
  };

  /// rounded has learned's shape, and the elements NaN until use_rounded().
  Original(const AnyTensor& learned, const AnyTensor& rounded, const Ops& ops);

  const AnyTensor& learned() const { return learned_; }
  const AnyTensor& rounded() const { return rounded_; }

  /// Says that a layer computes with rounded. Otherwise it is never converted: the elements stay NaN, so that whoever
  /// reads them all the same, instead of promoted(), notices.
  void use_rounded();

  /// Before a forward pass, for all originals of a network: converts learned if it was written since the last
  /// conversion, and records that its gradient is rounded's. A captured graph always converts, because replays write
  /// learned unseen. Error if rounded was written.
  static void refresh(const std::vector<std::shared_ptr<Original>>& all);

 private:
  /// Converts originals of one table.
  static void convert(const std::vector<Original*>& originals);
  /// Whether learned is to be converted.
  bool is_stale() const;
  void record() const;

  AnyTensor learned_, rounded_;
  const Ops& ops_;
  std::uint32_t learned_version_, rounded_version_;  // after the last conversion
  bool is_current_ = true;                           // false if the last conversion was only captured
  bool is_used_ = false;
};

template <class D, class T>
struct OriginalOps {
  static void round(const Original* const* originals, std::size_t count) {
    const auto unchanged = [](auto v) { return v; };
    std::vector<const tern::detail::Array*> together;  // on a device for which a call costs more than what it is told
    for (std::size_t i = 0; i < count; ++i) {
      const Original& o = *originals[i];
      tern::detail::TensorImpl *const to = o.rounded().impl(), *const from = o.learned().impl();
      if (HostDevice<D> || !tern::detail::is_dense(*from) || !tern::detail::same_order(*from, *to)) {
        tern::detail::map_into({"to", CallSite::unknown}, o.rounded().as<D, T>(), unchanged,
                               o.learned().as<D, float>());
      } else {
        together.insert(together.end(), {to, from});
        tern::detail::bump_version(to);
      }
    }
    if constexpr (!HostDevice<D>)
      if (!together.empty())
        tern::detail::backend::run<D, T, const float>(tern::detail::backend::Update(
            [](auto& to, auto from) { to = from; }, together.data(), int(together.size() / 2)));
  }
  static void record(const Original& o) {
    tern::record({"to", CallSite::unknown}, o.rounded().as<D, T>(),
                 wrt(o.learned().as<D, float>(), [](const Tensor<D, T>& g) { return to_type(g, f32); }));
  }
  static constexpr Original::Ops table{&round, &record};
};

/// The original of a parameter with elements T.
template <class D, class T>
std::shared_ptr<Original> new_original(const Tensor<D, float>& learned) {
  const NoGradGuard off;
  const Tensor<D, T> rounded = outliving(to_type(learned.detach(), tern::detail::Type<T>{}));  // for its memory order
  tern::detail::backend::run<D>(
      tern::detail::backend::Fill<T>{*rounded.impl(), std::numeric_limits<double>::quiet_NaN()});
  return std::make_shared<Original>(learned, rounded, OriginalOps<D, T>::table);
}

}  // namespace detail

namespace detail {
/// Error if others hold the parameter that a tensor is to replace.
TERN_API void check_replaced(const tern::detail::TensorImpl* parameter);
}  // namespace detail

// A tensor in a parameter's place. What else holds the parameter would go on with the one before: an optimiser would
// never move the new one.
#define TERN_PARAMETER_ASSIGNMENT_        \
  template <std::same_as<Tensor<D, T>> X> \
  Parameter& operator=(const X& x) {      \
    detail::check_replaced(this->impl()); \
    return *this = Parameter(x);          \
  }

/// A learned tensor: a module's member, and a leaf that requires a gradient. parameters() lists it, and the module's
/// requires_grad_() freezes it. It is made of any tensor, `nn::Parameter<D, T> scale{ones<D, T>({3})}`, and is used as
/// one. A member that is a plain Tensor is a buffer: in state_dict(), to() and clone(), but never trained, so one that
/// requires a gradient is an Error.
template <class D, class T>
class Parameter : public Tensor<D, T>, public tern::detail::Registered {
 public:
  Parameter() = default;
  /// Takes ownership of the tensor. An undefined one stays undefined (a layer without bias).
  Parameter(Tensor<D, T> x) : Tensor<D, T>(std::move(x)) {
    if (this->defined()) detail::outliving(*this), this->requires_grad_();
  }
  TERN_PARAMETER_ASSIGNMENT_

  /// The elements in the type that T is calculated in, compute_t<T>.
  const Tensor<D, T>& promoted() const { return *this; }
};

/// In a mixed network, the conversion of a float tensor, which is the leaf.
template <class D, class T>
  requires tern::detail::is_half_v<T>
class Parameter<D, T> : public Tensor<D, T>, public tern::detail::Registered {
 public:
  Parameter() = default;
  Parameter(Tensor<D, T> x) : Tensor<D, T>(std::move(x)) {
    if (this->defined()) detail::outliving(*this), this->requires_grad_();
  }
  TERN_PARAMETER_ASSIGNMENT_
  explicit Parameter(std::shared_ptr<detail::Original> original)
      : Tensor<D, T>(original->rounded().template as<D, T>()), original_(std::move(original)) {}

  Tensor<D, float> promoted() const {
    if (original_) return original_->learned().template as<D, float>();
    return this->defined() ? to_type(*this, f32) : Tensor<D, float>();
  }
  /// Null outside of a mixed network.
  const std::shared_ptr<detail::Original>& original() const { return original_; }

 private:
  std::shared_ptr<detail::Original> original_;
};

#undef TERN_PARAMETER_ASSIGNMENT_

/// A module's tensor that is not learned, such as running statistics: PyTorch's register_buffer(). It is in
/// state_dict(), to() and clone(), but not in parameters(). Its elements are of type compute_t<T>, so those of a 16-bit
/// network are floats; those of a plain Tensor<D, T> are of type T.
template <class D, class T>
class Buffer : public Tensor<D, compute_t<T>> {
 public:
  Buffer() = default;
  Buffer(Tensor<D, compute_t<T>> x) : Tensor<D, compute_t<T>>(std::move(x)) {
    if (this->defined()) detail::outliving(*this);
  }
};

}}}  // namespace tern::nn

#ifndef TERN_COMPILED
#include "parameter.ipp"
#endif
