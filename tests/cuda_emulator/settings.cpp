#include "settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace emulator {

namespace {

struct Number {
  const char* name;
  double Settings::* field;
};

constexpr Number numbers[] = {
    {"devices", &Settings::devices},
    {"memory", &Settings::memory},
    {"capability", &Settings::capability},
    {"driver", &Settings::driver},
    {"cudnn", &Settings::cudnn},
    {"cupti", &Settings::cupti},
    {"timeout_ms", &Settings::timeout_ms},
    {"multiprocessors", &Settings::multiprocessors},
    {"call_ns", &Settings::call_ns},
    {"kernel_ns", &Settings::kernel_ns},
    {"copy_ns", &Settings::copy_ns},
    {"event_ns", &Settings::event_ns},
    {"h2d_pinned", &Settings::h2d_pinned},
    {"h2d_pageable", &Settings::h2d_pageable},
    {"d2h_pinned", &Settings::d2h_pinned},
    {"d2h_pageable", &Settings::d2h_pageable},
    {"peer", &Settings::peer},
    {"memory_rate", &Settings::memory_rate},
    {"float32", &Settings::float32},
    {"tf32", &Settings::tf32},
    {"float16", &Settings::float16},
    {"float64", &Settings::float64},
    {"int8", &Settings::int8},
};

bool apply_order(const std::string& value) {
  Settings& s = settings();
  if (value == "late") {
    s.order = Order::late;
  } else if (value == "eager") {
    s.order = Order::eager;
  } else if (value.rfind("random:", 0) == 0) {
    s.order = Order::random;
    s.seed = static_cast<unsigned>(std::atoi(value.c_str() + 7));
  } else {
    return false;
  }
  return true;
}

// value is one of two words.
bool apply_choice(bool& field, const std::string& value, const char* yes, const char* no) {
  field = value == yes;
  return field || value == no;
}

bool apply_setting(const std::string& name, const std::string& value) {
  Settings& s = settings();
  if (name == "order") return apply_order(value);
  if (name == "threads") return apply_choice(s.threads_reversed, value, "reverse", "forward");
  if (name == "free") return apply_choice(s.strict_free, value, "strict", "drain");
  if (name == "peers") return apply_choice(s.peers, value, "1", "0");
  if (name == "arithmetic") return apply_choice(s.device_arithmetic, value, "device", "host");
  if (name == "accesses") return apply_choice(s.checked_accesses, value, "checked", "unchecked");
  if (name == "cold") return s.open_libraries.clear(), apply_choice(s.cold, value, "1", "0");
  if (name == "quiet") return apply_choice(s.quiet, value, "1", "0");
  if (name == "compiler") return s.compiler = value, true;
  if (name == "refuse") return s.refuse = value, true;
  if (name == "log") return s.log = value, true;
  for (const Number& number : numbers) {
    if (name != number.name) continue;
    char* end = nullptr;
    s.*number.field = std::strtod(value.c_str(), &end);
    return !value.empty() && !*end;
  }
  return false;
}

}  // namespace

Settings& settings() {
  static Settings& s = *new Settings;  // leaked: a client may call from its own static destructors
  return s;
}

std::string apply_settings(const std::string& text) {
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || !apply_setting(part.substr(0, equals), part.substr(equals + 1))) return part;
  }
  return "";
}

void reload_settings() {
  settings() = Settings{};
  const char* text = std::getenv("TERN_EMULATOR");
  if (!text) return;
  const std::string wrong = apply_settings(text);
  if (!wrong.empty()) {
    std::fprintf(stderr, "[cuda emulator] TERN_EMULATOR: '%s' is no setting\n", wrong.c_str());
    std::abort();
  }
}

}  // namespace emulator
