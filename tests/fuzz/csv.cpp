#include "reader.hpp"

#include <tern/data/csv.hpp>

namespace {

template <class F>
void attempt(const F& f) {
  try {
    f();
  } catch (const tern::Error&) {}
}

}  // namespace

void read(const std::string& path) {
  for (const tern::data::CsvOptions& options :
       {tern::data::CsvOptions{}, {.header = false, .delimiter = '\t', .quote = 0, .decimal = ','}}) {
    attempt([&] {
      const auto table = tern::data::Csv::load(path, options);
      const std::string& name = table.columns()[0];
      attempt([&] { table.column<float>(name); });
      attempt([&] { table.column<double>(name); });
      attempt([&] { table.column<tern::Index>(name); });
      attempt([&] { table.column<std::uint8_t>(name); });
      attempt([&] { table.column<bool>(name); });
      attempt([&] { table.categories(name); });
      attempt([&] { table.text(name); });
    });
  }
}
