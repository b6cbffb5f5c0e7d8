// Tables in text files: CSV (RFC 4180), and with another delimiter TSV and the like.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../io/gzip.hpp"
#include "../tensor/map.hpp"

namespace tern::inline TERN_BUILD::data {

struct CsvOptions {
  bool header = true;    ///< the first line names the columns
  char delimiter = ',';  ///< between fields
  char quote = '"';      ///< around fields that hold a delimiter, a quote (doubled) or a line's end; 0: none is special
};

/// A table of text, whose columns are read as what they are.
class Csv {
 public:
  /// Reads a file, plain or gzip. Empty lines are passed over. Error, naming file, line and column, where a quote is
  /// not closed or a line has another number of fields than the first.
  [[gnu::noinline, gnu::cold]] static Csv load(const std::string& path, const CsvOptions& options = {}) {
    constexpr Index most_bytes = Index(1) << 36;
    Csv table;
    table.path_ = path;
    table.parse(io::read_gzip(path, most_bytes), options);
    return table;
  }

  /// Rows, without the header.
  Index size() const { return Index(lines_.size()); }
  /// The columns' names; "0", "1" … where there is no header.
  const std::vector<std::string>& columns() const { return columns_; }

  std::string_view field(Index row, Index column) const {
    const auto [begin, end] = fields_[std::size_t(row * Index(columns_.size()) + column)];
    return std::string_view(content_).substr(begin, end - begin);
  }

  /// A column as text.
  [[gnu::noinline, gnu::cold]] std::vector<std::string> text(const std::string& name) const {
    const Index column = position(name);
    std::vector<std::string> out;
    for (Index row = 0; row < size(); ++row) out.emplace_back(field(row, column));
    return out;
  }

  /// A column of numbers, [N]. Error, naming line and column, where a field is none that T can hold.
  template <Element T = float>
  Tensor<Cpu, T> column(const std::string& name) const {
    return numbers<T>({position(name)}, {size()});
  }
  /// Columns of numbers side by side, [N, k].
  template <Element T = float>
  Tensor<Cpu, T> columns(const std::vector<std::string>& names) const {
    std::vector<Index> chosen;
    for (const std::string& name : names) chosen.push_back(position(name));
    return numbers<T>(chosen, {size(), Index(names.size())});
  }

  /// A column of names as labels: [N] of positions in the list of the different names, which is sorted.
  [[gnu::noinline, gnu::cold]] std::pair<Tensor<Cpu, Index>, std::vector<std::string>> categories(
      const std::string& name) const {
    const std::vector<std::string> values = text(name);
    std::vector<std::string> classes = values;
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    const Tensor<Cpu, Index> labels = empty<Cpu, Index>({size()});
    for (Index row = 0; row < size(); ++row)
      labels.data()[row] = std::lower_bound(classes.begin(), classes.end(), values[std::size_t(row)]) - classes.begin();
    return {labels, classes};
  }

 private:
  using Range = std::pair<std::size_t, std::size_t>;  // in content_

  [[noreturn, gnu::noinline, gnu::cold]] void refuse(Index line, Index column, std::initializer_list<Piece> why) const {
    const std::string reason = tern::text(why);
    fail("csv", {"'", path_, "': line ", line, ", column ", column + 1,
                 column < Index(columns_.size()) ? tern::text({" ('", columns_[std::size_t(column)], "')"}) : "", ": ",
                 reason});
  }

  [[gnu::noinline, gnu::cold]] Index position(const std::string& name) const {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i] == name) return Index(i);
    fail("csv", {"'", path_, "': has no column '", name, "'"});
  }

  /// One line after the other: text from quotes is moved together in place.
  [[gnu::noinline, gnu::cold]] void parse(std::string&& content, const CsvOptions& options) {
    content_ = std::move(content);
    std::size_t at = content_.starts_with("\xef\xbb\xbf") ? 3 : 0;  // the byte-order mark that some programs write
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

  std::size_t parse_line(std::size_t at, Index& line, const CsvOptions& options, std::vector<Range>& row) {
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

  template <class T>
  Tensor<Cpu, T> numbers(const std::vector<Index>& chosen, const Shape& shape) const {
    const Tensor<Cpu, T> out = empty<Cpu, T>(shape);
    T* to = out.data();
    for (Index row = 0; row < size(); ++row)
      for (const Index column : chosen) *to++ = number<T>(row, column);
    return out;
  }

  template <class T>
  T number(Index row, Index column) const {
    if constexpr (is_floating_v<T>) {
      return T(float_or_double<std::is_same_v<T, double>>(row, column));
    } else {
      const Index value = integer(row, column);
      if (value < Index(std::numeric_limits<T>::lowest()) || value > Index(std::numeric_limits<T>::max()))
        refuse(lines_[std::size_t(row)], column, {value, " does not fit into ", name_of(dtype_of<T>)});
      return T(value);
    }
  }
  template <bool wide>
  auto float_or_double(Index row, Index column) const {
    std::conditional_t<wide, double, float> value;
    const std::string_view digits = trimmed(field(row, column));
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    check_number(error == std::errc() && end == digits.data() + digits.size(), row, column, "a number");
    return value;
  }
  [[gnu::noinline]] Index integer(Index row, Index column) const {
    Index value = 0;
    const std::string_view digits = trimmed(field(row, column));
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    check_number(error == std::errc() && end == digits.data() + digits.size(), row, column, "a whole number");
    return value;
  }
  void check_number(bool good, Index row, Index column, const char* what) const {
    if (!good)
      refuse(lines_[std::size_t(row)], column, {"'", std::string(field(row, column)), "' is not ", what});
  }
  /// Without spaces at the ends, and without a plus sign, which from_chars does not know.
  static std::string_view trimmed(std::string_view field) {
    while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
    while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
    if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
    return field;
  }

  std::string path_, content_;
  std::vector<std::string> columns_;
  std::vector<Range> fields_;  // row by row
  std::vector<Index> lines_;   // where each row begins
};

}  // namespace tern::data
