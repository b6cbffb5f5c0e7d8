// The functions of csv.hpp that are not templates.
#pragma once
#include "csv.hpp"

namespace tern::inline TERN_BUILD::data {

[[gnu::noinline, gnu::cold]] TERN_INLINE Csv Csv::load(const std::string& path, const CsvOptions& options) {
  return tern::detail::within_memory("csv", path.c_str(), [&] {
    Csv table;
    table.path_ = path;
    table.content_ = io::read_gzip(path, options.max_bytes);
    table.parse(options);
    return table;
  });
}

TERN_INLINE std::string_view Csv::field(Index row, Index column) const {
  const Index width = Index(columns_.size());
  if (row < 0 || row >= rows_ || column < 0 || column >= width)
    fail("csv", {"'", path_, "': there is no field in row ", row, " and column ", column, " of ", rows_, " x ", width});
  const Index i = row * width + column;
  const std::size_t begin = i ? ends_[i - 1] : 0;
  return std::string_view(content_).substr(begin, ends_[i] - begin);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::vector<std::string> Csv::text(const std::string& name) const {
  const Index column = position(name);
  return tern::detail::within_memory("csv", path_.c_str(), [&] {
    std::vector<std::string> out;
    for (Index row = 0; row < size(); ++row) out.emplace_back(field(row, column));
    return out;
  });
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::pair<Tensor<Cpu, Index>, std::vector<std::string>> Csv::categories(const std::string& name) const {
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

[[gnu::noinline, gnu::cold]] TERN_INLINE void Csv::refuse(Index line, Index column, std::initializer_list<Piece> why) const {
  const std::string reason = tern::text(why);
  fail("csv", {"'", path_, "': line ", line, ", column ", column + 1,
               column < Index(columns_.size()) ? tern::text({" ('", columns_[std::size_t(column)], "')"}) : "", ": ",
               reason});
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Index Csv::position(const std::string& name) const {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i] == name) return Index(i);
  fail("csv", {"'", path_, "': has no column '", name, "'"});
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Csv::parse(const CsvOptions& options) {
  std::size_t at = content_.starts_with("\xef\xbb\xbf") ? 3 : 0;  // skips a byte-order mark
  std::size_t filled = 0;                                          // by the rows so far
  Index line = 1, more = 0;
  bool named = false;
  std::vector<std::size_t> ends;  // of a row's fields
  while (at < content_.size()) {
    const Index first_line = line;
    ends.clear();
    at = parse_line(at, filled, line, options, ends);
    if (ends.size() == 1 && ends[0] == filled) continue;
    if (!named) {
      std::size_t begin = filled;
      for (std::size_t i = 0; i < ends.size(); ++i) {
        columns_.push_back(options.header ? content_.substr(begin, ends[i] - begin) : tern::text({Index(i)}));
        begin = ends[i];
      }
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
  if (!named) fail("csv", {"'", path_, "': is empty"});
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
        line += content_[at] == '\n';
        content_[to++] = content_[at];
      }
      if (at < content_.size() && content_[at] == '\r') ++at;
      if (at < content_.size() && content_[at] != options.delimiter && content_[at] != '\n')
        refuse(line, Index(ends.size()), {"text follows a closing quote"});
    } else {
      const std::size_t begin = at;
      while (at < content_.size() && content_[at] != options.delimiter && content_[at] != '\n') ++at;
      std::size_t end = at;
      if (end > begin && content_[end - 1] == '\r' && (at == content_.size() || content_[at] == '\n')) --end;
      std::memmove(content_.data() + to, content_.data() + begin, end - begin);
      to += end - begin;
    }
    ends.push_back(to);
    if (at >= content_.size()) return at;
    if (content_[at++] == '\n') return ++line, at;
  }
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Index Csv::line_of(Index row) const {
  const auto after = std::upper_bound(shifts_.begin(), shifts_.end(), row, [](Index r, const Shift& shift) { return r < shift.row; });
  return row + std::prev(after)->more;
}

[[gnu::noinline]] TERN_INLINE Index Csv::integer(Index row, Index column) const {
  Index value = 0;
  const std::string_view digits = trimmed(field(row, column));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  check_number(error == std::errc() && end == digits.data() + digits.size(), row, column, "a whole number");
  return value;
}

TERN_INLINE std::string_view Csv::trimmed(std::string_view field) {
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  return field;
}

}  // namespace tern::data
