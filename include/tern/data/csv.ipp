// The functions of csv.hpp that are not templates.
#pragma once
#include <locale.h>
#include <stdlib.h>
#include <strings.h>

#include <cstring>

#include "../io/file.hpp"
#include "../io/file_kind.hpp"
#include "csv.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// Error if the content is no text, or a text that readers of all formats find instead of a file.
TERN_COLD void check_text(const std::string& path, const std::string& content) {
  const bool has_zeros = content.find('\0') != std::string::npos;
  if (!has_zeros && content.starts_with("BM")) return;  // a column of that name, as BMI, and not a BMP picture
  const std::string kind = io::but_of_kind(content);
  if (has_zeros || !kind.empty())
    Error::fail("csv", {"'", path, "': is no table of text", kind.empty() ? ": it has zero bytes" : kind});
}

/// Number i of a tensor [N].
TERN_COLD std::string cell_of(const tern::detail::Array& x, Index i) {
  const char* const at = x.data + i * x.strides[0] * tern::detail::size_of(x.dtype);
  const auto value = [&]<class T>(const T*) { return *reinterpret_cast<const T*>(at); };
  const auto digits = [](auto number) -> std::string {
    if (std::isnan(double(number))) return "";
    char text[32];
    std::string out(text, std::to_chars(text, text + sizeof text, number).ptr);
    const bool looks_whole = out.find_first_not_of("-0123456789") == std::string::npos;
    return looks_whole ? out + ".0" : out;
  };
  switch (x.dtype) {
    case DType::float64: return digits(value(static_cast<double*>(nullptr)));
    case DType::float32: return digits(value(static_cast<float*>(nullptr)));
    case DType::float16: return digits(float(value(static_cast<half*>(nullptr))));
    case DType::bfloat16: return digits(float(value(static_cast<bfloat16*>(nullptr))));
    case DType::int64: return std::to_string(value(static_cast<std::int64_t*>(nullptr)));
    case DType::int32: return std::to_string(value(static_cast<std::int32_t*>(nullptr)));
    case DType::uint8: return std::to_string(value(static_cast<std::uint8_t*>(nullptr)));
    default: return value(static_cast<bool*>(nullptr)) ? "True" : "False";
  }
}

/// A name, in quotes where it needs them.
TERN_COLD std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

/// As in pandas, a second and a third column "a" are "a.1" and "a.2".
TERN_COLD void tell_apart(std::vector<std::string>& names) {
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return;
  const std::vector<std::string> given = names;
  const auto count = [&](std::size_t n, const std::string& name) {
    return std::count(names.begin(), names.begin() + std::ptrdiff_t(n), name);
  };
  for (std::size_t i = 0; i < names.size(); ++i)
    if (count(i, given[i]) > 0) {
      Index number = 0;
      do names[i] = tern::detail::text({given[i], ".", ++number});
      while (count(names.size(), names[i]) > 1);
    }
}

}  // namespace detail

TERN_COLD Csv Csv::load(const std::string& path, const CsvOptions& options, CallSite here) {
  const CallScope scope(here);
  return tern::detail::within_memory("csv", path.c_str(), [&] {
    const char special[] = {options.delimiter, options.quote};
    for (const char c : special)
      if (is_line_break(c)) Error::fail("csv", {"delimiter and quote must not end lines"});
    if (options.delimiter == options.quote)
      Error::fail("csv", {"delimiter and quote must differ, but both are '", std::string(1, options.quote), "'"});
    Csv table;
    table.path_ = path;
    table.missing_ = options.missing;
    table.decimal_ = options.decimal;
    table.content_ = io::read_text("csv", path, options.max_bytes);
    detail::check_text(path, table.content_);
    table.parse(options);
    return table;
  });
}

TERN_INLINE std::string_view Csv::field(Index row, Index column, CallSite here) const {
  const CallScope scope(here);
  const Index width = Index(columns_.size());
  if (row < 0 || row >= rows_ || column < 0 || column >= width)
    Error::fail("csv",
                {"'", path_, "': there is no field in row ", row, " and column ", column, " of ", rows_, " x ", width});
  const Index i = row * width + column;
  const std::size_t begin = i ? ends_[i - 1] : 0;
  return std::string_view(content_).substr(begin, ends_[i] - begin);
}

TERN_COLD std::vector<std::string> Csv::text(const std::string& name, CallSite here) const {
  const CallScope scope(here);
  const Index column = position(name);
  return tern::detail::within_memory("csv", path_.c_str(), [&] {
    std::vector<std::string> out;
    for (Index row = 0; row < size(); ++row) out.emplace_back(field(row, column));
    return out;
  });
}

TERN_COLD std::pair<Tensor<Cpu, Index>, std::vector<std::string>> Csv::categories(const std::string& name,
                                                                                  CallSite here) const {
  const CallScope scope(here);
  const Index column = position(name);
  return tern::detail::within_memory("csv", path_.c_str(), [&] {
    std::vector<std::string_view> values;
    for (Index row = 0; row < size(); ++row) values.push_back(field(row, column));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const Tensor<Cpu, Index> labels = empty<Cpu, Index>({size()});
    for (Index row = 0; row < size(); ++row)
      labels.data()[row] = std::lower_bound(values.begin(), values.end(), field(row, column)) - values.begin();
    return std::pair(labels, std::vector<std::string>(values.begin(), values.end()));
  });
}

TERN_COLD void Csv::refuse(Index line, Index column, std::initializer_list<tern::detail::Piece> why) const {
  const std::string reason = tern::detail::text(why);
  Error::fail("csv",
              {"'", path_, "': line ", line, ", column ", column + 1,
               column < Index(columns_.size()) ? tern::detail::text({" ('", columns_[std::size_t(column)], "')"}) : "",
               ": ", reason});
}

TERN_COLD Index Csv::position(const std::string& name) const {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i] == name) return Index(i);
  std::string names;
  for (const std::string& column : columns_) names += (names.empty() ? "'" : ", '") + column + "'";
  Error::fail("csv", {"'", path_, "': has no column '", name, "', but ", names});
}

TERN_COLD void Csv::parse(const CsvOptions& options) {
  std::size_t at = 0;
  std::size_t filled = 0;  // by the rows so far
  Index line = 1, more = 0;
  bool named = false;
  std::vector<std::size_t> ends;  // of a row's fields
  while (at < content_.size()) {
    if (is_line_break(content_[at])) {
      line += ends_line(at++);
      continue;
    }
    const Index first_line = line;
    ends.clear();
    at = parse_line(at, filled, line, options, ends);
    if (!named) {
      std::size_t begin = filled;
      for (std::size_t i = 0; i < ends.size(); ++i) {
        columns_.push_back(options.header ? content_.substr(begin, ends[i] - begin) : tern::detail::text({Index(i)}));
        begin = ends[i];
      }
      detail::tell_apart(columns_);
      named = true;
      if (options.header) continue;
    }
    if (ends.size() != columns_.size())
      refuse(first_line, Index(std::min(ends.size(), columns_.size())),
             {"the line has ", Index(ends.size()), " fields, not ", Index(columns_.size())});
    if (first_line - rows_ != more) shifts_.push_back({rows_, more = first_line - rows_});
    ++rows_;
    for (const std::size_t end : ends) ends_.push_back(end);
    filled = ends.back();
  }
  if (!named) Error::fail("csv", {"'", path_, "': is empty"});
  content_.resize(filled);
}

TERN_INLINE std::size_t Csv::parse_line(std::size_t at, std::size_t to, Index& line, const CsvOptions& options,
                                        std::vector<std::size_t>& ends) {
  for (;;) {
    if (options.quote && at < content_.size() && content_[at] == options.quote) {
      const Index opened = line;
      for (++at;; ++at) {
        if (at >= content_.size()) refuse(opened, Index(ends.size()), {"a quote is not closed"});
        if (content_[at] == options.quote && (++at >= content_.size() || content_[at] != options.quote)) break;
        line += ends_line(at);
        content_[to++] = content_[at];
      }
      if (at < content_.size() && content_[at] != options.delimiter && !is_line_break(content_[at]))
        refuse(line, Index(ends.size()), {"text follows a closing quote"});
    } else {
      const std::size_t begin = at;
      while (at < content_.size() && content_[at] != options.delimiter && !is_line_break(content_[at])) ++at;
      std::memmove(content_.data() + to, content_.data() + begin, at - begin);
      to += at - begin;
    }
    ends.push_back(to);
    if (at >= content_.size() || is_line_break(content_[at])) break;
    ++at;
  }
  if (at < content_.size() && !ends_line(at)) ++at;
  if (at < content_.size()) ++at;
  ++line;
  return at;
}

TERN_INLINE bool Csv::ends_line(std::size_t at) const {
  return content_[at] == '\n' || (content_[at] == '\r' && !(at + 1 < content_.size() && content_[at + 1] == '\n'));
}

TERN_COLD Index Csv::line_of(Index row) const {
  const auto after =
      std::upper_bound(shifts_.begin(), shifts_.end(), row, [](Index r, const Shift& shift) { return r < shift.row; });
  return row + std::prev(after)->more;
}

TERN_NOINLINE double Csv::floating(Index row, Index column, bool is_double) const {
  std::string_view digits = trimmed(field(row, column));
  if (is_missing(digits)) return missing_;
  std::string with_point;
  if (decimal_ != '.') {
    check_number(digits.find('.') == std::string_view::npos, row, column, "a number");
    with_point = digits;
    std::replace(with_point.begin(), with_point.end(), decimal_, '.');
    digits = with_point;
  }
  const char* const last = digits.data() + digits.size();
  double value = 0;
  float narrow = 0;
  const auto [end, error] =
      is_double ? std::from_chars(digits.data(), last, value) : std::from_chars(digits.data(), last, narrow);
  check_number(end == last, row, column, "a number");
  if (error == std::errc()) return is_double ? value : double(narrow);
  // Too large or too small: strtod tells which, and the nearest small number. In another locale it would read a comma.
  static const locale_t c_locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string copy(digits);
  value = is_double ? ::strtod_l(copy.c_str(), nullptr, c_locale) : double(::strtof_l(copy.c_str(), nullptr, c_locale));
  if (std::abs(value) > 1) refuse_large(row, column, is_double ? DType::float64 : DType::float32);
  return value;
}

TERN_COLD void Csv::refuse_large(Index row, Index column, DType dtype) const {
  refuse(line_of(row), column,
         {"'", std::string(field(row, column)), "' is too large for ", tern::detail::name_of(dtype)});
}

TERN_NOINLINE Index Csv::integer(Index row, Index column, bool words) const {
  Index value = 0;
  const std::string_view digits = trimmed(field(row, column));
  if (words)
    for (const char* const word : {"false", "true"})
      if (digits.size() == std::strlen(word) && strncasecmp(digits.data(), word, digits.size()) == 0)
        return word[0] == 't';
  if (is_missing(digits))
    refuse(line_of(row), column, {"a value is missing, as only columns of floating-point numbers may lack some"});
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  check_number(error == std::errc() && end == digits.data() + digits.size(), row, column, "a whole number");
  return value;
}

TERN_INLINE bool Csv::is_missing(std::string_view trimmed) {
  if (trimmed.empty()) return true;
  const char first = trimmed[0];
  if ((first >= '0' && first <= '9' && !trimmed.starts_with("1.#")) || trimmed.size() > 8) return false;
  for (const char* const word : {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
                                 "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"})
    if (trimmed == word) return true;
  return false;
}

TERN_INLINE std::string_view Csv::trimmed(std::string_view field) {
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  return field;
}

TERN_COLD void save_csv(const std::string& path, const StateDict& columns, CallSite here) {
  const CallScope scope(here);
  if (columns.empty()) Error::fail("save_csv", {"there are no columns"});
  std::vector<AnyTensor> in_host_memory;
  std::string text;
  for (const auto& [name, tensor] : columns) {
    if (!tensor.defined()) Error::fail("save_csv", {"column '", name, "' is undefined"});
    if (tensor.dim() != 1 || tensor.size(0) != columns[0].tensor.numel())
      Error::fail("save_csv", {"columns are [N], but '", columns[0].name, "' is ", columns[0].tensor.shape(), " and '",
                               name, "' ", tensor.shape()});
    in_host_memory.push_back(tensor.cpu());
    text += (text.empty() ? "" : ",") + detail::quoted(name);
  }
  text += "\n";
  for (Index i = 0; i < columns[0].tensor.numel(); ++i)
    for (std::size_t c = 0; c < columns.size(); ++c)
      text += detail::cell_of(*in_host_memory[c].impl(), i) + (c + 1 < columns.size() ? "," : "\n");
  io::write_file_atomically(path, text);
}

}}}  // namespace tern::data
