// Tables in text files: CSV (RFC 4180), and TSV and the like with another delimiter.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../io/gzip.hpp"
#include "../tensor/any_tensor.hpp"
#include "positions.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct CsvOptions {
  bool header = true;    ///< the first line names the columns
  char delimiter = ',';  ///< between fields
  char quote = '"';      ///< encloses fields that contain a delimiter, a quote (doubled) or a line break; 0: no quoting
  char decimal = '.';    ///< between a number's whole and its fraction; a comma in files of many countries
  /// What a missing number is in a column of floating-point numbers: an empty field, or a word that pandas takes for
  /// one (NA, N/A, NaN, null, …).
  double missing = std::numeric_limits<double>::quiet_NaN();
  Index max_bytes = -1;  ///< of the text; if negative, 8 times the file's size, and at least 1 GB
};

/// A table of text, held in memory with 4 bytes more for each field. Each column is read as the type that the caller
/// asks for.
class TERN_API Csv {
 public:
  /// Reads a file, plain or gzip. Lines end with LF, CRLF or CR. Those without a character are skipped. Error that
  /// names file, line and column if a quote is not closed, or a line has another number of fields than the first. Text
  /// is UTF-8 with or without a byte-order mark, or another encoding that has ASCII's characters; Error if it is
  /// UTF-16, or the file no text.
  static Csv load(const std::string& path, const CsvOptions& options = {}, CallSite here = {});

  /// The number of rows, without the header.
  Index size() const { return rows_; }
  /// The columns' names; "0", "1" … if there is no header. Of several columns "a" the others are "a.1", "a.2" and so
  /// on, as in pandas.
  const std::vector<std::string>& columns() const { return columns_; }

  /// The text of a field. Error if there is none.
  std::string_view field(Index row, Index column, CallSite here = {}) const;

  /// A column as text.
  std::vector<std::string> text(const std::string& name, CallSite here = {}) const;

  /// A column of numbers, [N]; numbers too small for T become 0 or what is nearest. Error that names line and column if
  /// a field is not a number that T can hold: a missing one is options.missing in a column of floating-point numbers,
  /// and an Error in one of integers. A column of bool may have true and false, in any case, for 1 and 0.
  template <Element T = float>
  Tensor<Cpu, T> column(const std::string& name, CallSite here = {}) const {
    const CallScope scope(here);
    return numbers<T>({position(name)}, {size()});
  }
  /// Columns of numbers as a matrix, [N, k].
  template <Element T = float>
  Tensor<Cpu, T> columns(const std::vector<std::string>& names, CallSite here = {}) const {
    const CallScope scope(here);
    std::vector<Index> chosen;
    for (const std::string& name : names) chosen.push_back(position(name));
    return numbers<T>(chosen, {size(), Index(names.size())});
  }

  /// A column of names as labels [N]. Each label is a position in the sorted list of distinct names, which is also
  /// returned.
  std::pair<Tensor<Cpu, Index>, std::vector<std::string>> categories(const std::string& name, CallSite here = {}) const;

 private:
  [[noreturn]] void refuse(Index line, Index column, std::initializer_list<tern::detail::Piece> why) const;

  Index position(const std::string& name) const;

  /// Parses line by line.
  void parse(const CsvOptions& options);

  /// Moves the fields of the line at `at` to `to`, one after the other, and appends their ends there. Returns the
  /// position of the next line.
  std::size_t parse_line(std::size_t at, std::size_t to, Index& line, const CsvOptions& options,
                         std::vector<std::size_t>& ends);
  static bool is_line_break(char c) { return c == '\n' || c == '\r'; }
  /// True if a line ends with the character at `at`: of CRLF, the second one.
  bool ends_line(std::size_t at) const;
  /// The line of the file at which a row begins.
  Index line_of(Index row) const;

  template <class T>
  Tensor<Cpu, T> numbers(const std::vector<Index>& chosen, const tern::detail::Shape& shape) const {
    const Tensor<Cpu, T> out = empty<Cpu, T>(shape);
    T* to = out.data();
    for (Index row = 0; row < size(); ++row)
      for (const Index column : chosen) *to++ = number<T>(row, column);
    return out;
  }

  template <class T>
  T number(Index row, Index column) const {
    if constexpr (tern::detail::is_floating_v<T>) {
      const double value = floating(row, column, std::is_same_v<T, double>);
      const T number = T(compute_t<T>(value));
      if (std::isinf(double(number)) && !std::isinf(value)) refuse_large(row, column, dtype_of<T>);
      return number;
    } else {
      const Index value = integer(row, column, std::is_same_v<T, bool>);
      if (value < Index(std::numeric_limits<T>::lowest()) || value > Index(std::numeric_limits<T>::max()))
        refuse(line_of(row), column, {value, " does not fit into ", tern::detail::name_of(dtype_of<T>)});
      return T(value);
    }
  }
  /// The field's number, rounded once: to a double if is_double, else to a float.
  double floating(Index row, Index column, bool is_double) const;
  [[noreturn]] void refuse_large(Index row, Index column, DType dtype) const;
  /// `words`: true and false are 1 and 0.
  Index integer(Index row, Index column, bool words) const;
  void check_number(bool good, Index row, Index column, const char* what) const {
    if (!good) refuse(line_of(row), column, {"'", std::string(field(row, column)), "' is not ", what});
  }
  /// Removes spaces at both ends, and a plus sign, which from_chars does not accept.
  static std::string_view trimmed(std::string_view field);

  /// From this row on, a row's line is its number plus `more`.
  struct Shift {
    Index row, more;
  };

  /// True for a field that stands for no value.
  static bool is_missing(std::string_view trimmed);

  std::string path_, content_;  // content_: the rows' fields without what was between them
  std::vector<std::string> columns_;
  double missing_;
  char decimal_;
  Index rows_ = 0;
  detail::Positions ends_;  // of the fields in content_, row by row
  std::vector<Shift> shifts_;
};

/// Writes tensors [N] as columns with these names: `save_csv("out.csv", {{"id", ids}, {"score", scores}})`, as
/// pandas.DataFrame.to_csv(index=False). A number has as many digits as its type needs to be read again; NaN is an
/// empty field, and bools are True and False. The file appears complete or not at all.
TERN_API void save_csv(const std::string& path, const StateDict& columns, CallSite here = {});

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "csv.ipp"
#endif
