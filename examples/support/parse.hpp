// How words of a command line become values.
#pragma once
#include <tern/core/error.hpp>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace support {

using tern::Error;
using tern::Index;

/// The value of an option as a number that is not negative. Error that names the option if it is none.
inline double parse_number(const char* name, const char* value) {
  char* end = nullptr;
  const double number = std::strtod(value, &end);
  if (end == value || *end || !std::isfinite(number))
    Error::fail("options", {name, " needs a number, not '", value, "'"});
  if (number < 0) Error::fail("options", {name, " must not be negative: ", number});
  return number;
}

/// The value of an option as an integer from least to most. Error that names the option if it is none.
inline Index parse_index(const char* name, const char* value, Index least = 0, Index most = INT64_MAX) {
  char* end = nullptr;
  errno = 0;
  const Index number = std::strtoll(value, &end, 10);
  if (end == value || *end || errno) Error::fail("options", {name, " needs an integer, not '", value, "'"});
  if (number < least) Error::fail("options", {name, " must be at least ", least, ", not ", number});
  if (number > most) Error::fail("options", {name, " must be at most ", most, ", not ", number});
  return number;
}

/// Error unless the value is one of the trainer's choices.
inline void check_choice(const char* name, const std::string& value, std::initializer_list<const char*> offered) {
  std::string list;
  for (const char* const choice : offered) {
    if (value == choice) return;
    list += (list.empty() ? "" : " or ") + std::string(choice);
  }
  Error::fail("options", {name, " must be ", list, ", not '", value, "'"});
}

}  // namespace support
