// The header of a safetensors file: JSON that lists each tensor's name, type, shape and bytes. The format is described
// at https://github.com/huggingface/safetensors#format. Trainers compile this for their checkpoints. To compile fast it
// uses qsort, and no containers but vectors.
#pragma once
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "file_kind.hpp"
#include "../core/dtype.hpp"
#include "../core/shape.hpp"
#include "json.hpp"
#include "json_reader.hpp"
#include "stored_type.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

/// A tensor in a file. Its bytes are [begin, end) of the data after the header.
struct SafetensorsEntry {
  std::string name;
  StoredType type;
  tern::detail::Shape shape;
  const void* data;  ///< for writing: its elements, row-major without gaps
  Index begin, end;
  std::string type_name = "";  ///< of one that was read: the format's name of the type
};

/// A file's metadata: pairs of names and texts.
using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;
  SafetensorsMetadata metadata;
};

/// Python's reader has the same limit.
inline constexpr Index max_safetensors_header = 100'000'000;

namespace detail {

/// Reads the header's JSON: an object of tensors, and the object __metadata__ of strings.
class TERN_API SafetensorsParser : JsonReader {
 public:
  SafetensorsParser(const char* text, Index length, const std::string& path)
      : JsonReader(text, length, "safetensors", tern::detail::text({"'", path, "': the header is not valid"})),
        path_(path) {}

  void parse(SafetensorsHeader& header);

 private:
  [[noreturn]] void refuse_second(const std::string& name) const;
  void refuse_duplicates(std::vector<const std::string*>& names) const;
  void parse_metadata(SafetensorsMetadata& metadata);
  tern::detail::Shape parse_shape(const std::string& tensor);
  SafetensorsEntry parse_tensor(const std::string& name);

  const std::string& path_;
};

/// The entries' addresses, sorted so that compare(&a, &b) < 0 if a comes before b.
TERN_API std::vector<const SafetensorsEntry*> sorted(const std::vector<SafetensorsEntry>& entries,
                                                     int (*compare)(const void*, const void*));
inline const SafetensorsEntry& entry_at(const void* pointer) {
  return **static_cast<const SafetensorsEntry* const*>(pointer);
}

/// The bytes of the entry's elements, of a type that can be read. False if an Index cannot hold the number.
TERN_API bool count_bytes(const SafetensorsEntry& entry, Index& bytes);

/// What is wrong with a tensor's position in the file, after earlier tensors have filled `filled` bytes; empty if
/// nothing is.
TERN_API std::string misplaced(const SafetensorsEntry& entry, Index filled, Index data_bytes);

/// Error unless each tensor has the bytes that its shape and type need, and together they fill the data without a gap.
TERN_API void check_layout(const SafetensorsHeader& header, Index data_bytes, const std::string& path);

}  // namespace detail

/// Reads and checks everything before the data: 8 bytes, the length of the header, and the header. `bytes` is the whole
/// file. Returns the position of the data.
TERN_API Index parse_safetensors(const char* bytes, Index size, const std::string& path, SafetensorsHeader& header);

/// The bytes of a header, and the order of the tensors' data after it.
struct SafetensorsLayout {
  std::string head;
  std::vector<const SafetensorsEntry*> order;
};

/// Lays out a file as Python's writer does: larger element types first, so that each tensor is aligned. Error if a name
/// occurs twice or is not UTF-8.
TERN_API SafetensorsLayout layout_safetensors(const std::vector<SafetensorsEntry>& tensors,
                                              const SafetensorsMetadata& metadata, const std::string& path);

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "safetensors_header.ipp"
#endif
