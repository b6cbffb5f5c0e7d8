// The functions of csv.hpp that are not templates.
#pragma once
#include "csv.hpp"

namespace tern::inline TERN_BUILD::data {

[[gnu::noinline, gnu::cold]] TERN_INLINE Csv Csv::load(const std::string& path, const CsvOptions& options) {
  constexpr Index most_bytes = Index(1) << 36;
  Csv table;
  table.path_ = path;
  table.parse(io::read_gzip(path, most_bytes), options);
  return table;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::vector<std::string> Csv::text(const std::string& name) const {
  const Index column = position(name);
  std::vector<std::string> out;
  for (Index row = 0; row < size(); ++row) out.emplace_back(field(row, column));
  return out;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE std::pair<Tensor<Cpu, Index>, std::vector<std::string>> Csv::categories(const std::string& name) const {
  const std::vector<std::string> values = text(name);
  std::vector<std::string> classes = values;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  const Tensor<Cpu, Index> labels = empty<Cpu, Index>({size()});
  for (Index row = 0; row < size(); ++row)
    labels.data()[row] = std::lower_bound(classes.begin(), classes.end(), values[std::size_t(row)]) - classes.begin();
  return {labels, classes};
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

[[gnu::noinline, gnu::cold]] TERN_INLINE void Csv::parse(std::string&& content, const CsvOptions& options) {
  content_ = std::move(content);
  std::size_t at = content_.starts_with("\xef\xbb\xbf") ? 3 : 0;  // skips a byte-order mark
  Index line = 1;
  bool named = false;
  std::vector<Range> row;
  while (at < content_.size()) {
    const Index first_line = line;
    row.clear();
    at = parse_line(at, line, options, row);
    if (row.size() == 1 && row[0].first == row[0].second) continue;
    if (!named) {
      for (std::size_t i = 0; i < row.size(); ++i)
        columns_.push_back(options.header ? content_.substr(row[i].first, row[i].second - row[i].first)
                                          : tern::text({Index(i)}));
      named = true;
      if (options.header) continue;
    }
    if (row.size() != columns_.size())
      refuse(first_line, Index(std::min(row.size(), columns_.size())),
             {"the line has ", Index(row.size()), " fields, not ", Index(columns_.size())});
    fields_.insert(fields_.end(), row.begin(), row.end());
    lines_.push_back(first_line);
  }
  if (!named) fail("csv", {"'", path_, "': is empty"});
}

TERN_INLINE std::size_t Csv::parse_line(std::size_t at, Index& line, const CsvOptions& options, std::vector<Range>& row) {
  for (;;) {
    const std::size_t begin = at;
    std::size_t end = begin;
    if (options.quote && at < content_.size() && content_[at] == options.quote) {
      const Index opened = line;
      for (++at;; ++at) {
        if (at >= content_.size()) refuse(opened, Index(row.size()), {"a quote is not closed"});
        if (content_[at] == options.quote && (++at >= content_.size() || content_[at] != options.quote)) break;
        line += content_[at] == '\n';
        content_[end++] = content_[at];
      }
      if (at < content_.size() && content_[at] == '\r') ++at;
      if (at < content_.size() && content_[at] != options.delimiter && content_[at] != '\n')
        refuse(line, Index(row.size()), {"text follows a closing quote"});
    } else {
      while (at < content_.size() && content_[at] != options.delimiter && content_[at] != '\n') ++at;
      end = at;
      if (end > begin && content_[end - 1] == '\r' && (at == content_.size() || content_[at] == '\n')) --end;
    }
    row.emplace_back(begin, end);
    if (at >= content_.size()) return at;
    if (content_[at++] == '\n') return ++line, at;
  }
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
