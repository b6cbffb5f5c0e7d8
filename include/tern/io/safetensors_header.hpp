// The header of a safetensors file: JSON that lists each tensor's name, type, shape and bytes. The format is described
// at https://github.com/huggingface/safetensors#format.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../core/dtype.hpp"
#include "../core/shape.hpp"
#include "json.hpp"

namespace tern::io {

/// What the header says of one tensor; its bytes are [begin, end) of what follows the header.
struct SafetensorsEntry {
  DType dtype;
  Shape shape;
  Index begin, end;
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsEntry> tensors;
  std::map<std::string, std::string> metadata;
};

/// As Python's reader has it.
inline constexpr Index max_safetensors_header = 100'000'000;

/// The format's name of an element type.
constexpr const char* safetensors_name(DType type) {
  constexpr const char* names[] = {"F32", "F64", "BF16", "F16", "I64", "I32", "U8", "BOOL"};
  return names[int(type)];
}

namespace detail {

/// Reads the header's JSON and nothing else: an object of tensors, and the object __metadata__ of strings.
class SafetensorsParser {
 public:
  SafetensorsParser(const char* text, std::size_t length, const std::string& path)
      : at_(text), begin_(text), end_(text + length), path_(path) {}

  [[gnu::noinline]] SafetensorsHeader parse() {
    SafetensorsHeader header;
    bool has_metadata = false;
    object([&](const std::string& name) {
      if (name == "__metadata__") {
        if (std::exchange(has_metadata, true)) refuse_second(name);
        object([&](const std::string& key) {
          if (!header.metadata.emplace(key, string()).second) refuse_second(key);
        });
      } else if (!header.tensors.emplace(name, parse_tensor(name)).second) {
        refuse_second(name);
      }
    });
    skip_space();
    if (at_ != end_) refuse("something follows the closing brace");
    return header;
  }

 private:
  [[noreturn, gnu::noinline, gnu::cold]] void refuse(const char* rule) const {
    fail("safetensors", {"'", path_, "': the header is not valid: ", rule, ", at its byte ", at_ - begin_});
  }

  [[noreturn, gnu::noinline, gnu::cold]] void refuse_second(const std::string& name) const {
    fail("safetensors", {"'", path_, "': the header names '", name, "' twice"});
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (accept(c)) return;
    char rule[] = "'?' is missing";
    rule[1] = c;
    refuse(rule);
  }

  /// { "name": value, … }, where member(name) reads the value.
  template <class F>
  void object(const F& member) {
    expect('{');
    if (accept('}')) return;
    do {
      const std::string name = string();
      expect(':');
      member(name);
    } while (accept(','));
    expect('}');
  }

  unsigned hex4() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
      if (at_ == end_) refuse("a string has no end");
      const char c = *at_++;
      if (c >= '0' && c <= '9') code = code * 16 + unsigned(c - '0');
      else if (c >= 'a' && c <= 'f') code = code * 16 + unsigned(c - 'a' + 10);
      else if (c >= 'A' && c <= 'F') code = code * 16 + unsigned(c - 'A' + 10);
      else refuse("\\u is not followed by four hexadecimal digits");
    }
    return code;
  }

  void append_escape(std::string& out) {
    if (at_ == end_) refuse("a string has no end");
    switch (const char c = *at_++) {
      case '"': case '\\': case '/': out += c; return;
      case 'b': out += '\b'; return;
      case 'f': out += '\f'; return;
      case 'n': out += '\n'; return;
      case 'r': out += '\r'; return;
      case 't': out += '\t'; return;
      case 'u': break;
      default: refuse("an unknown escape sequence");
    }
    unsigned code = hex4();
    if (code >= 0xd800 && code < 0xdc00) {
      if (end_ - at_ < 6 || at_[0] != '\\' || at_[1] != 'u') refuse("half a surrogate pair");
      at_ += 2;
      const unsigned low = hex4();
      if (low < 0xdc00 || low > 0xdfff) refuse("half a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      refuse("half a surrogate pair");
    }
    if (code < 0x80) {
      out += char(code);
    } else {
      const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
      out += char((0xf00 >> (more + 1) & 0xff) | code >> (6 * more));
      for (int i = more; i-- > 0;) out += char(0x80 | (code >> (6 * i) & 0x3f));
    }
  }

  /// A character of UTF-8 beyond ASCII.
  void append_multibyte(std::string& out) {
    const auto lead = static_cast<unsigned char>(*at_);
    const int more = lead >= 0xc2 && lead < 0xe0   ? 1
                     : lead >= 0xe0 && lead < 0xf0 ? 2
                     : lead >= 0xf0 && lead < 0xf5 ? 3
                                                   : 0;
    if (more == 0 || end_ - at_ <= more) refuse("it is not UTF-8");
    unsigned code = lead & (0x3fu >> more);
    for (int i = 1; i <= more; ++i) {
      const auto next = static_cast<unsigned char>(at_[i]);
      if (next >> 6 != 2) refuse("it is not UTF-8");
      code = code << 6 | (next & 0x3f);
    }
    const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) refuse("it is not UTF-8");
    out.append(at_, std::size_t(more) + 1);
    at_ += more + 1;
  }

  std::string string() {
    expect('"');
    std::string out;
    for (;;) {
      if (at_ == end_) refuse("a string has no end");
      const char c = *at_;
      if (static_cast<unsigned char>(c) < 0x20) refuse("a control character in a string");
      if (static_cast<unsigned char>(c) >= 0x80) {
        append_multibyte(out);
        continue;
      }
      ++at_;
      if (c == '"') return out;
      if (c == '\\') append_escape(out);
      else out += c;
    }
  }

  Index integer() {
    skip_space();
    const char* const first = at_;
    Index value = 0;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at_ - '0', &value))
        refuse("a number is too large");
    if (at_ == first) refuse("a number that is not negative is missing");
    if (*first == '0' && at_ - first > 1) refuse("a number begins with 0");
    return value;
  }

  DType parse_dtype(const std::string& tensor) {
    const std::string name = string();
    for (int i = 0; i <= int(DType::boolean); ++i)
      if (name == safetensors_name(DType(i))) return DType(i);
    fail("safetensors", {"'", path_, "': tensor '", tensor, "' has a type that is not supported: ", name});
  }

  Shape parse_shape(const std::string& tensor) {
    Shape shape;
    expect('[');
    if (accept(']')) return shape;
    do {
      const Index size = integer();
      if (shape.n == max_dims)
        fail("safetensors", {"'", path_, "': tensor '", tensor, "' has more than ", max_dims, " dimensions"});
      shape.push_back(size);
    } while (accept(','));
    expect(']');
    return shape;
  }

  SafetensorsEntry parse_tensor(const std::string& name) {
    SafetensorsEntry entry{};
    bool dtype = false, shape = false, offsets = false;
    object([&](const std::string& key) {
      bool* const seen = key == "dtype" ? &dtype : key == "shape" ? &shape : key == "data_offsets" ? &offsets : nullptr;
      if (!seen) refuse("a member other than dtype, shape and data_offsets");
      if (std::exchange(*seen, true)) refuse_second(key);
      if (seen == &dtype) {
        entry.dtype = parse_dtype(name);
      } else if (seen == &shape) {
        entry.shape = parse_shape(name);
      } else {
        expect('[');
        entry.begin = integer();
        expect(',');
        entry.end = integer();
        expect(']');
      }
    });
    if (!dtype || !shape || !offsets) refuse("a tensor lacks dtype, shape or data_offsets");
    return entry;
  }

  const char* at_;
  const char *begin_, *end_;
  const std::string& path_;
};

/// Bytes of so many elements. False where they are more than an Index counts.
inline bool count_bytes(const SafetensorsEntry& entry, Index& bytes) {
  bytes = size_of(entry.dtype);
  for (const Index size : entry.shape)
    if (__builtin_mul_overflow(bytes, size, &bytes)) return false;
  return true;
}

/// Each tensor has the bytes that its shape and type need, and together they fill the data without a gap.
[[gnu::noinline]] inline void check_layout(const SafetensorsHeader& header, Index data_bytes, const std::string& path) {
  using Named = std::map<std::string, SafetensorsEntry>::value_type;
  std::vector<const Named*> order;
  for (const Named& named : header.tensors) order.push_back(&named);
  std::sort(order.begin(), order.end(), [](const Named* a, const Named* b) {
    return a->second.begin != b->second.begin ? a->second.begin < b->second.begin : a->second.end < b->second.end;
  });
  Index filled = 0;
  for (const Named* named : order) {
    const auto& [name, entry] = *named;
    const auto refuse = [&, &tensor = name, &e = entry](std::initializer_list<Piece> rule) {
      fail("safetensors",
           {"'", path, "': tensor '", tensor, "' with data_offsets [", e.begin, ", ", e.end, "] ", text(rule)});
    };
    Index bytes;
    if (!count_bytes(entry, bytes)) refuse({"has too many elements: ", ShapeRef(entry.shape)});
    if (entry.end < entry.begin) refuse({"ends before it begins"});
    if (entry.end > data_bytes) refuse({"reaches beyond the file, which holds ", data_bytes, " bytes of data"});
    if (entry.end - entry.begin != bytes)
      refuse({"does not have the ", bytes, " bytes of ", ShapeRef(entry.shape), " of ", safetensors_name(entry.dtype)});
    if (entry.begin < filled) refuse({"overlaps the tensor before it, which ends at ", filled});
    if (entry.begin > filled) refuse({"leaves a gap after byte ", filled});
    filled = entry.end;
  }
  if (filled != data_bytes)
    fail("safetensors", {"'", path, "': ", data_bytes - filled, " bytes at the end belong to no tensor"});
}

}  // namespace detail

/// Reads and checks what stands before the data: 8 bytes, the length of the header, and the header. `bytes` is the
/// whole file; returns where the data begin.
[[gnu::noinline]] inline Index parse_safetensors(const char* bytes, Index size, const std::string& path,
                                                 SafetensorsHeader& header) {
  if (size < 8) fail("safetensors", {"'", path, "': is truncated: ", size, " bytes cannot hold the header's length"});
  std::uint64_t length = 0;
  for (int i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > std::uint64_t(max_safetensors_header))
    fail("safetensors", {"'", path, "': the header's length is larger than allowed: ", std::to_string(length), " > ",
                         max_safetensors_header});
  if (Index(length) > size - 8)
    fail("safetensors",
         {"'", path, "': is truncated: a header of ", Index(length), " bytes is announced, ", size - 8, " follow"});
  header = detail::SafetensorsParser(bytes + 8, std::size_t(length), path).parse();
  detail::check_layout(header, size - 8 - Index(length), path);
  return 8 + Index(length);
}

/// A tensor to be written; its elements are row-major without gaps.
struct SafetensorsItem {
  std::string name;
  DType dtype;
  Shape shape;
  const void* data;
};

/// Orders the items as Python's writer does, the larger element types first, so that each is aligned to its elements in
/// the file; returns what stands before their data.
[[gnu::noinline]] inline std::string layout_safetensors(std::vector<SafetensorsItem>& items,
                                                        const std::map<std::string, std::string>& metadata,
                                                        const std::string& path) {
  std::sort(items.begin(), items.end(), [](const SafetensorsItem& a, const SafetensorsItem& b) {
    constexpr int rank[] = {5, 6, 3, 2, 7, 4, 1, 0};
    return a.dtype != b.dtype ? rank[int(a.dtype)] > rank[int(b.dtype)] : a.name < b.name;
  });
  std::string json = "{";
  if (!metadata.empty()) {
    json += "\"__metadata__\":{";
    for (const auto& [name, value] : metadata) json += json_quoted(name) + ':' + json_quoted(value) + ',';
    json.back() = '}';
    json += ',';
  }
  Index filled = 0;
  for (const SafetensorsItem& item : items) {
    json += json_quoted(item.name) + ":{\"dtype\":\"" + safetensors_name(item.dtype) + "\",\"shape\":[";
    for (int i = 0; i < item.shape.n; ++i) (json += i ? "," : "") += std::to_string(item.shape[i]);
    json += "],\"data_offsets\":[" + std::to_string(filled) + ',';
    filled += item.shape.numel() * size_of(item.dtype);
    json += std::to_string(filled) + "]},";
  }
  if (json.back() == ',') json.back() = '}';
  else json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');

  std::string head;
  for (int i = 0; i < 8; ++i) head += char(json.size() >> (8 * i) & 0xff);
  head += json;
  SafetensorsHeader
      unused;  // what would be refused on reading, a name that occurs twice or is not UTF-8, is not written
  parse_safetensors(head.data(), Index(head.size()) + filled, path, unused);
  return head;
}

}  // namespace tern::io
