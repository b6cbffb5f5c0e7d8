// Data sets whose images are transformed when they are read, in the thread that makes the batch.
#pragma once
#include <cstring>

#include "collate.hpp"
#include "image.hpp"
#include "transforms/of_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace transforms {

/// How often a transform replaces the image. The default is 0: it changes the image in place.
template <class T>
inline constexpr int replacements_of = 0;
template <class T>
  requires requires { T::replacements; }
inline constexpr int replacements_of<T> = T::replacements;

/// A transform that needs only a window of the picture, whose pixels it resizes.
template <class T>
concept WindowTransform = requires(const T& transform, Index side, Random& random) {
  { transform.window(side, side, random) } -> std::same_as<ImageWindow>;
};

}  // namespace transforms

/// A transform of an image: a function of the image and of the sample's own random numbers.
template <class T>
concept ImageTransform = requires(const T& transform, Image& image, Random& random) { transform(image, random); };

/// A transform of a batch: a function of the batch and of the batch's own random numbers.
template <class T, class Batch>
concept BatchTransform = requires(const T& transform, const Batch& batch, Random& random) { transform(batch, random); };

namespace transforms {

/// Applies transforms one after the other.
template <class... T>
class Compose : public detail::OfTensor<Compose<T...>> {
  static_assert((ImageTransform<T> && ...),
                "a transform of images is called with (data::Image&, data::Random&); MixUp and CutMix take batches: "
                "transformed(transformed(set, ...), MixUp(...))");

 public:
  using detail::OfTensor<Compose<T...>>::operator();
  static constexpr bool draws = (false || ... || draws_of<T>);
  static constexpr int replacements = (0 + ... + replacements_of<T>);
  /// True if the first transform's work can be done where the picture is read.
  static constexpr bool begins_with_window = false;

  explicit Compose(const T&... transforms) : transforms_(transforms...) {}

  void operator()(Image& image, Random& random) const {
    std::apply([&](const T&... transform) { (transform(image, random), ...); }, transforms_);
  }

 private:
  std::tuple<T...> transforms_;
};

template <WindowTransform First, class... T>
class Compose<First, T...> : public detail::OfTensor<Compose<First, T...>> {
 public:
  using detail::OfTensor<Compose<First, T...>>::operator();
  static constexpr bool draws = draws_of<First> || Compose<T...>::draws;
  static constexpr int replacements = (replacements_of<First> + ... + replacements_of<T>);
  static constexpr bool begins_with_window = true;
  static constexpr int replacements_after_window = (0 + ... + replacements_of<T>);

  explicit Compose(const First& first, const T&... rest) : first_(first), rest_(rest...) {}

  void operator()(Image& image, Random& random) const {
    first_(image, random);
    rest_(image, random);
  }
  ImageWindow window(Index height, Index width, Random& random) const { return first_.window(height, width, random); }
  void after_window(Image& image, Random& random) const { rest_(image, random); }

 private:
  First first_;
  Compose<T...> rest_;
};

}  // namespace transforms

namespace detail {

/// A batch to which each image is written directly.
class TERN_API ImageBatch {
 public:
  /// `op` is what an Error names.
  ImageBatch(const char* op, Index n) : op_(op), n_(n) {}

  /// The memory of image i; null until the size of the images is known.
  float* place(Index i) const { return x_.defined() ? x_.data() + i * elements_ : nullptr; }
  Index elements() const { return elements_; }

  void put(const Image& image, Index i);

  Tensor<Cpu> take() { return x_.defined() ? x_ : empty<Cpu>({n_, 0, 0, 0}); }

 private:
  const char* op_;
  Index n_, elements_ = 0;
  Tensor<Cpu> x_;
};

/// Copies image i of [n, C, H, W] to `image`. It is a copy, because the tensor may belong to the data set.
TERN_API void read_image(Image& image, const Tensor<Cpu>& x, Index i);

/// Copies a sample's picture to `image`, and returns the rest of the sample.
TERN_API std::tuple<> read_sample(Image& image, const Tensor<Cpu>& x);
TERN_API std::tuple<> read_sample(Image& image, const Image& x);
template <template <class...> class Sample, class Picture, class... Rest>
  requires(std::tuple_size<Sample<Picture, Rest...>>::value == sizeof...(Rest) + 1)
std::tuple<Rest...> read_sample(Image& image, const Sample<Picture, Rest...>& sample) {
  static_assert(std::is_same_v<Picture, Tensor<Cpu>> || std::is_same_v<Picture, Image>,
                "a sample to transform begins with its picture, a Tensor<Cpu> [C, H, W] of floats or a data::Image");
  return std::apply(
      [&](const Picture& picture, const Rest&... rest) {
        read_sample(image, picture);
        return std::tuple<Rest...>(rest...);
      },
      sample);
}

}  // namespace detail

/// A set that is transformed sample by sample before its pictures are stacked, so that they may differ in size.
template <class S>
concept PictureSamples = SampleSet<S> && !ImageDataset<S> && (!Dataset<S> || requires { requires S::stacks_samples; });

/// A data set with transformed images. Their random numbers belong to the sample: they depend on seed, epoch and
/// sample, not on the thread. batch() without a key draws new ones each time.
template <class Set, class Transform>
class Transformed {
 public:
  Transformed(Set&& set, const Transform& transform, const char* op = "transformed")
      : set_(std::forward<Set>(set)), transform_(transform), op_(op) {}

  Index size() const { return Index(set_.size()); }

  auto batch(std::span<const Index> samples, CallSite here = {}) const {
    const CallScope scope(here);
    return batch(samples, RandomKey::next());
  }
  auto batch(std::span<const Index> samples, const RandomKey& key) const {
    detail::check_samples({op_, CallSite::unknown}, samples, size());
    const Index n = Index(samples.size());
    Image image;
    detail::ImageBatch images(op_, n);
    constexpr int replacements = transforms::replacements_of<Transform> + 1;  // plus one for reading
    if constexpr (ImageDataset<std::remove_cvref_t<Set>>) {
      const Tensor<Cpu, Index> labels = empty<Cpu, Index>({n});
      for (Index i = 0; i < n; ++i) {
        const Index sample = samples[std::size_t(i)];
        if constexpr (WindowedDataset<std::remove_cvref_t<Set>> && Transform::begins_with_window) {
          image.start(images.place(i), images.elements(), Transform::replacements_after_window + 1);
          Random random(key, i, sample);
          set_.read(sample, image, [&](Index height, Index width) { return transform_.window(height, width, random); });
          transform_.after_window(image, random);
        } else {
          image.start(images.place(i), images.elements(), replacements);
          set_.read(sample, image);
          transform(image, key, i, sample);
        }
        images.put(image, i);
        labels.data()[i] = set_.label(sample);
      }
      return std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>>(images.take(), labels);
    } else if constexpr (PictureSamples<std::remove_cvref_t<Set>>) {
      std::vector<decltype(detail::read_sample(image, sample(0)))> rest;
      for (Index i = 0; i < n; ++i) {
        image.start(images.place(i), images.elements(), replacements);
        rest.push_back(detail::read_sample(image, sample(samples[std::size_t(i)])));
        transform(image, key, i, samples[std::size_t(i)]);
        images.put(image, i);
      }
      return std::tuple_cat(std::tuple(images.take()), default_collate(rest));
    } else {
      auto batch = batch_of(set_, samples, key.inner());
      const Tensor<Cpu> x = std::get<0>(batch);
      detail::check_rows("transformed", x.impl(), n);
      for (Index i = 0; i < n; ++i) {
        image.start(images.place(i), images.elements(), replacements);
        detail::read_image(image, x, i);
        transform(image, key, i, samples[std::size_t(i)]);
        images.put(image, i);
      }
      std::get<0>(batch) = images.take();
      return batch;
    }
  }

 private:
  void transform(Image& image, const RandomKey& key, Index i, Index sample) const {
    Random random(key, i, sample);
    transform_(image, random);
  }

  decltype(auto) sample(Index i) const { return set_[static_cast<decltype(set_.size())>(i)]; }

  Set set_;
  Transform transform_;
  const char* op_;  // what an Error names
};

/// A data set that transforms its batches as a whole, after their images.
template <class Set, class Transform>
class BatchTransformed {
 public:
  BatchTransformed(Set&& set, const Transform& transform) : set_(std::forward<Set>(set)), transform_(transform) {}

  Index size() const { return set_.size(); }

  auto batch(std::span<const Index> samples, CallSite here = {}) const {
    const CallScope scope(here);
    return batch(samples, RandomKey::next());
  }
  auto batch(std::span<const Index> samples, const RandomKey& key) const {
    Random random(key, 0, size());  // no sample has this number
    return transform_(batch_of(set_, samples, key.inner()), random);
  }

 private:
  Set set_;
  Transform transform_;
};

/// What transformed() takes: a data set, samples by number, or images without batch().
template <class S>
concept Transformable = Dataset<std::remove_cvref_t<S>> || SampleSet<std::remove_cvref_t<S>> ||
                        (ImageDataset<std::remove_cvref_t<S>> && requires(const S& set) { set.size(); });

/// The data set, with its images passed through these transforms in order. A set that is a variable must outlive the
/// result; a temporary is moved into it. The images are float: [channels, height, width]. Of samples by number, set[i],
/// the picture comes first: a Tensor<Cpu> or an Image.
template <Transformable Set, ImageTransform... T>
  requires(sizeof...(T) > 0)
auto transformed(Set&& set, const T&... transform) {
  return Transformed<Set, transforms::Compose<T...>>(std::forward<Set>(set), transforms::Compose<T...>(transform...));
}

/// The data set, with its batches passed through a transform such as transforms::MixUp.
template <class Set, class T>
  requires(Dataset<std::remove_cvref_t<Set>> && BatchTransform<T, BatchOf<std::remove_cvref_t<Set>>>)
auto transformed(Set&& set, const T& transform) {
  return BatchTransformed<Set, T>(std::forward<Set>(set), transform);
}

namespace detail {
template <class Set, class... T>
inline constexpr bool transforms_batches = false;
template <Dataset Set, class T>
inline constexpr bool transforms_batches<Set, T> = BatchTransform<T, BatchOf<Set>>;
}  // namespace detail

/// Says what is wrong with other transforms.
template <Transformable Set, class... T>
  requires(sizeof...(T) > 0 && !(ImageTransform<T> && ...) &&
           !detail::transforms_batches<std::remove_cvref_t<Set>, T...>)
auto transformed(Set&&, const T&...) {
  return transforms::Compose<T...>::draws;
}

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "transformed.ipp"
#endif
