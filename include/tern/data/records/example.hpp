// tf.train.Example, the message that TensorFlow's programs put into TFRecord files: named lists of bytes or numbers.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "../../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Named features, each a list of bytes, of floats or of integers. Names and bytes are views: of the message that was
/// parsed, or of what the program set.
///
///   Example example;
///   example.set("image/encoded", jpeg).set("image/class/label", 3);
///   writer.write(example.serialize());
class TERN_API Example {
 public:
  /// Error if the message is damaged, or a feature is of two kinds.
  static Example parse(std::string_view message, CallSite here = {});

  Example& set(std::string_view name, std::string_view bytes);
  Example& set(std::string_view name, Index number);
  Example& set(std::string_view name, std::vector<std::string_view> bytes);
  Example& set(std::string_view name, std::vector<float> numbers);
  Example& set(std::string_view name, std::vector<Index> numbers);

  std::vector<std::string_view> names() const;
  bool has(std::string_view name) const { return find(name); }
  /// The values of a feature. Error if there is none of that name and kind.
  const std::vector<std::string_view>& bytes(std::string_view name, CallSite here = {}) const;
  const std::vector<float>& floats(std::string_view name, CallSite here = {}) const;
  const std::vector<Index>& integers(std::string_view name, CallSite here = {}) const;

  /// The message, with its features in the order of their names, as TensorFlow's deterministic serialization has it.
  std::string serialize() const;

 private:
  /// The kinds have the numbers of their fields.
  enum class Kind : unsigned char { none = 0, bytes = 1, floats = 2, integers = 3 };
  struct Feature {
    std::string_view name;
    Kind kind = Kind::none;
    std::vector<std::string_view> bytes{};
    std::vector<float> floats{};
    std::vector<Index> integers{};
  };

  const Feature* find(std::string_view name) const;
  const Feature& expect(std::string_view name, Kind kind) const;
  Feature& put(std::string_view name, Kind kind);
  static Feature parse_feature(std::string_view entry);

  std::vector<Feature> features_;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "example.ipp"
#endif
