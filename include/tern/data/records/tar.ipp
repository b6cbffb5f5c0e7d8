// The functions of tar.hpp that are not templates.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "tar.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

constexpr Index tar_block = 512;  // headers and contents begin at its multiples

/// A header's fields: where each begins, and how many bytes it has.
struct TarField {
  int at, size;
};
constexpr TarField tar_name{0, 100}, tar_mode{100, 8}, tar_owner{108, 8}, tar_group{116, 8}, tar_size{124, 12},
    tar_time{136, 12}, tar_checksum{148, 8}, tar_magic{257, 6}, tar_prefix{345, 155};
constexpr int tar_type = 156, tar_version = 263;

/// A field as a text, which ends with the field or with a zero.
TERN_INLINE std::string_view tar_text(const char* header, TarField field) {
  return {header + field.at, ::strnlen(header + field.at, std::size_t(field.size))};
}

/// A number in octal digits or, where the first bit is set, in bytes from the highest. -1 if it is none.
TERN_NOINLINE Index tar_number(const char* header, TarField field) {
  const char* at = header + field.at;
  const char* const end = at + field.size;
  Index number = 0;
  if (*at & '\x80') {
    number = *at & 0x7f;
    for (++at; at != end; ++at) {
      if (number >> 54) return -1;
      number = number << 8 | static_cast<unsigned char>(*at);
    }
    return number;
  }
  while (at != end && *at == ' ') ++at;
  if (at == end || *at < '0' || *at > '7') return -1;
  for (; at != end && *at >= '0' && *at <= '7'; ++at) number = number * 8 + (*at - '0');
  return at == end || *at == ' ' || *at == '\0' ? number : -1;
}

/// The sum of a header's bytes, with spaces for the sum itself.
TERN_NOINLINE Index tar_sum(const char* header) {
  int sum = tar_checksum.size * ' ';
  for (int i = 0; i < tar_block; ++i) sum += static_cast<unsigned char>(header[i]);
  for (int i = 0; i < tar_checksum.size; ++i) sum -= static_cast<unsigned char>(header[tar_checksum.at + i]);
  return sum;
}

TERN_INLINE bool is_tar_header(const char* header) {
  return header[0] && tar_number(header, tar_checksum) == tar_sum(header);
}

/// The length of the first of the lines `LENGTH KEY=VALUE` in a POSIX header of another header; 0 if it says none that
/// can be.
TERN_COLD std::size_t pax_length(std::string_view lines) {
  constexpr std::size_t most_digits = 9;
  std::size_t length = 0, digits = 0;
  for (; digits < lines.size() && digits < most_digits && lines[digits] >= '0' && lines[digits] <= '9'; ++digits)
    length = 10 * length + std::size_t(lines[digits] - '0');
  return digits < lines.size() && lines[digits] == ' ' && length > digits + 1 && length <= lines.size() ? length : 0;
}

/// What such lines say of `key`.
TERN_COLD std::string_view pax_value(std::string_view lines, std::string_view key) {
  std::string_view value;
  while (!lines.empty()) {
    const std::size_t length = pax_length(lines), begin = lines.find(' ') + 1;
    const std::string_view line = lines.substr(begin, length - begin - 1);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=')
      value = line.substr(key.size() + 1);
    lines.remove_prefix(length);
  }
  return value;
}

/// True if all lines are of that form.
TERN_COLD bool are_pax_lines(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t length = pax_length(lines);
    const std::string_view line = lines.substr(0, length);
    const std::size_t space = line.find(' ');
    if (length == 0 || line.back() != '\n' || space == std::string_view::npos ||
        line.find('=', space) == std::string_view::npos)
      return false;
    lines.remove_prefix(length);
  }
  return true;
}

/// The size that such a line says; -1 if it is no number.
TERN_COLD Index pax_size(std::string_view digits) {
  constexpr std::size_t most_digits = 18;
  if (digits.size() > most_digits || digits.find_first_not_of("0123456789") != std::string_view::npos) return -1;
  return std::atoll(std::string(digits).c_str());
}

TERN_COLD std::string TarMember::key() const {
  return folder.empty() ? std::string(stem()) : std::string(folder) + "/" + std::string(stem());
}

TERN_NOINLINE TarMember tar_member(std::string_view archive, Index offset, CallSite here) {
  const CallScope scope(here);
  const Index end = Index(archive.size());
  std::string_view long_name, pax;
  for (TarMember member;;) {
    member.next = end;
    if (end - offset < tar_block) return member.problem = "the file ends within the archive", member;
    const char* const header = archive.data() + offset;
    if (!header[0] && std::string_view(header, tar_block).find_first_not_of('\0') == std::string_view::npos)
      return member.next = -1, member;
    if (!is_tar_header(header))
      return member.next = offset + tar_block, member.problem = "a header does not match its checksum", member;
    Index size = tar_number(header, tar_size);
    const char type = header[tar_type];
    const bool is_file = type == '0' || type == '\0' || type == '7';
    if (const std::string_view digits = pax_value(pax, "size"); is_file && !digits.empty()) size = pax_size(digits);
    offset += tar_block;
    if (size < 0 || size > end - offset) return member.problem = "the file ends within a member", member;
    member.content = archive.substr(std::size_t(offset), std::size_t(size));
    offset = std::min(end, offset + (size + tar_block - 1) / tar_block * tar_block);
    if (type == 'L') long_name = member.content.substr(0, member.content.find('\0'));
    if (type == 'x') pax = member.content;
    if (!are_pax_lines(pax))
      return member.next = offset, member.problem = "a header of another header is not of lines as 10 path=a", member;
    if (type == 'L' || type == 'x' || type == 'g' || type == 'K') continue;
    member.name = tar_text(header, tar_name);
    if (std::memcmp(header + tar_magic.at, "ustar\0", 6) == 0) member.folder = tar_text(header, tar_prefix);
    if (const std::string_view path = pax_value(pax, "path"); !path.empty()) long_name = path;
    if (!long_name.empty()) member.name = long_name, member.folder = {};
    member.is_field = is_file && member.dot() != std::string_view::npos && member.dot() != member.name.rfind('/') + 1;
    member.next = offset;
    return member;
  }
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Members up to the first one with another key.
TERN_NOINLINE Index TarFile::parse(const RecordPosition& at, Record* record) const {
  // An archive's end is marked, but behind damage it may be missing.
  if (at.number > 0 && at.offset == size()) return -1;
  const std::string_view archive = view(at, 0, size());
  detail::TarMember first;
  Index begin = -1, offset = at.offset;
  for (;;) {
    const detail::TarMember member = detail::tar_member(archive, offset);
    if (member.problem) refuse(at, member.problem);
    if (member.next < 0) break;
    if (member.is_field) {
      if (begin < 0) first = member, begin = offset;
      else if (!member.is_of_sample(first)) break;
    }
    offset = member.next;
  }
  if (begin < 0) return -1;
  if (record) {
    *record = {.key = first.stem(), .bytes = archive.substr(std::size_t(begin), std::size_t(offset - begin))};
    if (!first.folder.empty()) {
      record->own = std::make_shared<const std::string>(first.key());
      record->key = *record->own;
    }
  }
  return offset;
}

/// Contents of members that can be read are passed, as they may hold archives. Of the sample behind the damage members
/// may be missing, so that one is passed too.
TERN_COLD Index TarFile::next_offset(const RecordPosition& at) const {
  const std::string_view archive = view(at, 0, size());
  Index offset = at.offset;
  detail::TarMember member;
  do {
    member = detail::tar_member(archive, offset);
    offset = member.next;
  } while (!member.problem && offset >= 0);
  while (offset >= 0 && offset <= size() - detail::tar_block && !detail::is_tar_header(archive.data() + offset))
    offset += detail::tar_block;
  if (offset < 0 || offset > size() - detail::tar_block) return size();
  detail::TarMember first;
  for (Index next = offset;; offset = next) {
    member = detail::tar_member(archive, offset);
    if (member.problem || member.next < 0) return offset;
    if (member.is_field && !first.is_field) first = member;
    else if (member.is_field && !member.is_of_sample(first)) return offset;
    next = member.next;
  }
}

TERN_NOINLINE TarFile::Fields TarFile::fields(const Record& record, CallSite here) {
  const CallScope scope(here);
  Fields fields;
  for (Index offset = 0; offset < Index(record.bytes.size());) {
    const detail::TarMember member = detail::tar_member(record.bytes, offset);
    if (member.problem) Error::fail("tar", {member.problem});
    if (member.next < 0) break;
    offset = member.next;
    if (!member.is_field) continue;
    fields.emplace_back(member.field(), member.content);
    for (char& c : fields.back().first)
      if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  }
  return fields;
}

TERN_NOINLINE ImageRecord TarFile::image(const Record& record) const {
  ImageRecord image;
  std::string_view label;
  bool has_picture = false, has_label = false;
  const std::string key(record.key);
  std::string names;
  for (const auto& [name, content] : fields(record)) {
    if (name == "jpg" || name == "jpeg" || name == "png") has_picture = true, image.encoded = content;
    if (name == "cls") has_label = true, label = content;
    if (name == "filename.txt") image.name = content;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!has_picture) Error::fail("tar", {"sample '", key, "' has no jpg, jpeg or png, but ", names});
  if (!has_label) Error::fail("tar", {"sample '", key, "' has no cls, but ", names});
  constexpr std::string_view blank = " \t\n\v\f\r";
  const std::size_t begin = std::min(label.find_first_not_of(blank), label.size());
  const std::string_view digits = label.substr(begin, label.find_last_not_of(blank) + 1 - begin);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), image.label);
  if (error != std::errc() || end != digits.data() + digits.size())
    Error::fail(
        "tar", {"sample '", key, "': cls must be the number of a class, not '", std::string(label.substr(0, 20)), "'"});
  image.class_name = detail::first_folder(image.name);
  return image;
}

TERN_NOINLINE void TarWriter::write(std::string_view key, const TarFile::Fields& fields, CallSite here) {
  const CallScope scope(here);
  if (key.empty() || key.find('.', key.rfind('/') + 1) != std::string_view::npos)
    Error::fail("tar", {"a sample's key must have no dot in its last part: '", std::string(key), "'"});
  if (key == last_key_)
    Error::fail("tar", {"two samples in sequence have the key '", last_key_, "', so they would be read as one"});
  last_key_ = key;
  for (const auto& [name, content] : fields) write_member(std::string(key) + "." + std::string(name), content);
}

TERN_NOINLINE void TarWriter::write_image(const ImageRecord& image, CallSite here) {
  const CallScope scope(here);
  char key[24];
  std::snprintf(key, sizeof key, "%08lld", (long long)(records_++));
  const std::string label = tern::detail::text({image.label});
  TarFile::Fields fields = {{image.encoded.starts_with("\x89PNG") ? "png" : "jpg", detail::encoded_of("tar", image)},
                            {"cls", label}};
  if (!image.name.empty()) fields.emplace_back("filename.txt", image.name);
  write(key, fields);
}

/// Two blocks of zeros end an archive.
TERN_COLD void TarWriter::close(CallSite here) {
  const CallScope scope(here);
  file_.write(std::string(std::size_t(2 * detail::tar_block), '\0'));
  file_.close();
}

/// A name that is too long for its field comes before, in GNU tar's way, as the content of a member.
TERN_NOINLINE void TarWriter::write_member(const std::string& name, std::string_view content, char type) {
  using namespace detail;
  if (content.size() >> 33)
    Error::fail("tar", {"a member has less than 8,589,934,592 bytes, not ", Index(content.size())});
  if (name.size() > std::size_t(tar_name.size))
    write_member("././@LongLink", std::string_view(name.c_str(), name.size() + 1), 'L');
  char header[tar_block] = {};
  const auto octal = [&](TarField field, Index number) {
    std::snprintf(header + field.at, std::size_t(field.size), "%0*llo", field.size - 1, (long long)number);
  };
  std::memcpy(header + tar_name.at, name.data(), std::min(name.size(), std::size_t(tar_name.size)));
  octal(tar_mode, 0444);
  octal(tar_owner, 0);
  octal(tar_group, 0);
  octal(tar_size, Index(content.size()));
  octal(tar_time, 0);
  header[tar_type] = type;
  std::memcpy(header + tar_magic.at, "ustar", 6);
  std::memcpy(header + tar_version, "00", 2);
  octal({tar_checksum.at, tar_checksum.size - 1}, tar_sum(header));
  header[tar_checksum.at + tar_checksum.size - 1] = ' ';
  file_.write({header, std::size_t(tar_block)});
  file_.write(content);
  constexpr char zeros[tar_block] = {};
  file_.write({zeros, std::size_t((tar_block - Index(content.size()) % tar_block) % tar_block)});
}

}}}  // namespace tern::data
