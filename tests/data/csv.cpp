#include "support/errors.hpp"

#include <tern/data/csv.hpp>
#include <tern/data/loader.hpp>

#include "../io/gzipped.hpp"
#include "../io/temporary_folder.hpp"

namespace data_csv {
using namespace tern;
using data::Csv;
using data::CsvOptions;
using tern_test::error_of;
using tern_test::TemporaryFolder;

namespace {

using Fields = std::vector<std::vector<std::string>>;

Fields fields_of(const Csv& table) {
  Fields out;
  for (Index row = 0; row < table.size(); ++row) {
    out.emplace_back();
    for (Index column = 0; column < Index(table.columns().size()); ++column)
      out.back().emplace_back(table.field(row, column));
  }
  return out;
}

}  // namespace

TEST_CASE("fields are what RFC 4180 says", "[data]") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& content, const CsvOptions& options = {.header = false}) {
    return fields_of(Csv::load(folder.put("x.csv", content), options));
  };
  CHECK(read("a,b\r\nc,d\r\n") == Fields{{"a", "b"}, {"c", "d"}});
  CHECK(read("a,b\nc,d") == Fields{{"a", "b"}, {"c", "d"}});
  CHECK(read("\"a\",\"b,c\"\n\"d\"\"e\",\"f\ng\"\n") == Fields{{"a", "b,c"}, {"d\"e", "f\ng"}});
  CHECK(read("a,,\n,\"\",b\n") == Fields{{"a", "", ""}, {"", "", "b"}});
  CHECK(read("a,\"b\"\r\n\n\r\n\"\"\"\",c") == Fields{{"a", "b"}, {"\"", "c"}});
  CHECK(read("a, \"b\nc,d\n") == Fields{{"a", " \"b"}, {"c", "d"}});  // a quote within a field is a character
  CHECK(read("\xef\xbb\xbf"
             "a,b\n") == Fields{{"a", "b"}});
  CHECK(read("a\t\"b\nc,d\te\n", {.header = false, .delimiter = '\t', .quote = 0}) ==
        Fields{{"a", "\"b"}, {"c,d", "e"}});
  const Csv named = Csv::load(folder.put("x.csv.gz", tern_test::gzipped("x,\"y z\"\n1,2\n")));
  CHECK(named.columns() == std::vector<std::string>{"x", "y z"});
  CHECK(named.size() == 1);
  CHECK(Csv::load(folder.put("x.csv", "1,2\n"), {.header = false}).columns() == std::vector<std::string>{"0", "1"});
}

TEST_CASE("columns have types", "[data]") {
  const TemporaryFolder folder;
  const Csv table = Csv::load(folder.put("iris.csv",
                                         "length,width,count,kind\n5.1, -3.5e0,7,setosa\n+4.9,inf,-8,virginica\n"
                                         "0.1,1e-40,9,setosa\n"));
  const auto x = table.columns<float>({"width", "length"});
  REQUIRE(x.shape() == Shape{3, 2});
  CHECK(x(0, 0) == -3.5f);
  CHECK(x(0, 1) == 5.1f);
  CHECK(x(1, 0) == HUGE_VALF);
  CHECK(x(1, 1) == 4.9f);
  CHECK(table.column<double>("length")(2) == 0.1);
  CHECK(table.column<Index>("count")(1) == -8);
  CHECK(table.column<half>("length")(0) == half(5.1f));
  const auto [labels, classes] = table.categories("kind");
  CHECK(classes == std::vector<std::string>{"setosa", "virginica"});
  CHECK(labels(0) == 0);
  CHECK(labels(1) == 1);
  CHECK(table.text("kind")[2] == "setosa");
  Index seen = 0;
  for (auto& [features, label] : data::loader<Cpu>(data::TensorDataset(x, labels), {.batch_size = 2}))
    seen += label.numel();
  CHECK(seen == 3);
}

TEST_CASE("errors name file, line and column", "[data]") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.csv";
  const auto refusal = [&](const std::string& content, const auto& use) {
    folder.put("x.csv", content);
    return error_of([&] { use(Csv::load(path)); });
  };
  const auto load = [](const Csv&) {};
  const std::string at = "csv: '" + path + "': ";
  CHECK(refusal("", load) == at + "is empty");
  CHECK(refusal("a,b\n1,2\n3\n", load) == at + "line 3, column 2 ('b'): the line has 1 fields, not 2");
  CHECK(refusal("a,b\n1,2,3\n", load) == at + "line 2, column 3: the line has 3 fields, not 2");
  CHECK(refusal("a,b\n\"x\ny\",2\n1,\"2\n", load) == at + "line 4, column 2 ('b'): a quote is not closed");
  CHECK(refusal("a,b\n1,\"2\"x\n", load) == at + "line 2, column 2 ('b'): text follows a closing quote");
  const auto column = [](const char* name) { return [name](const Csv& table) { table.column<float>(name); }; };
  CHECK(refusal("a,b\n1,2\n\"3\n\",4\n", column("a")) == at + "line 3, column 1 ('a'): '3\n' is not a number");
  CHECK(refusal("a,b\n1,\n", column("b")) == at + "line 2, column 2 ('b'): '' is not a number");
  CHECK(refusal("a,b\n1,2.5x\n", column("b")) == at + "line 2, column 2 ('b'): '2.5x' is not a number");
  CHECK(refusal("a,b\n1,2\n", column("c")) == at + "has no column 'c'");
  CHECK(refusal("a\n1.5\n", [](const Csv& t) { t.column<Index>("a"); }) ==
        at + "line 2, column 1 ('a'): '1.5' is not a whole number");
  CHECK(refusal("a\n7\n256\n", [](const Csv& t) { t.column<std::uint8_t>("a"); }) ==
        at + "line 3, column 1 ('a'): 256 does not fit into uint8");
  CHECK(refusal("a\n9223372036854775808\n", [](const Csv& t) { t.column<Index>("a"); }) ==
        at + "line 2, column 1 ('a'): '9223372036854775808' is not a whole number");
}

TEST_CASE("lines are counted over empty lines and quoted line breaks", "[data]") {
  const TemporaryFolder folder;
  const Csv table = Csv::load(folder.put("x.csv", "a\n\n1\n2\n\n\n\"3\n\"\nx\n4\n"));
  REQUIRE(table.size() == 5);
  CHECK(table.field(2, 0) == "3\n");
  CHECK_THAT(error_of([&] { table.column<float>("a"); }), Catch::Matchers::ContainsSubstring("line 7, column 1 ('a'): '3\n' is not"));
  const Csv last = Csv::load(folder.put("x.csv", "a\n\n1\n2\n\n\n3\n4\n\nx\n"));
  CHECK_THAT(error_of([&] { last.column<float>("a"); }), Catch::Matchers::ContainsSubstring("line 10, column 1"));
}

TEST_CASE("a field that is not there is an Error", "[data]") {
  const TemporaryFolder folder;
  const Csv table = Csv::load(folder.put("x.csv", "a,b\n1,2\n"));
  for (const auto& [row, column] : {std::pair<Index, Index>{1, 0}, {0, 2}, {-1, 0}, {0, -1}, {INT64_MAX, 0}})
    CHECK_THAT(error_of([&, r = row, c = column] { table.field(r, c); }), Catch::Matchers::ContainsSubstring("there is no field in row"));
}

TEST_CASE("text is not read beyond the limit", "[data]") {
  const TemporaryFolder folder;
  std::string content = "a\n";
  for (int i = 0; i < 100'000; ++i) content += "1\n";
  const std::string path = folder.put("x.csv.gz", tern_test::gzipped(content));
  CHECK(Csv::load(path).size() == 100'000);
  CHECK(Csv::load(path, {.max_bytes = 200'002}).size() == 100'000);
  CHECK(error_of([&] { Csv::load(path, {.max_bytes = 200'001}); }) ==
        "gzip: '" + path + "': its content is larger than allowed: more than 200001 bytes");
}

TEST_CASE("film reviews", "[data]") {
  NEED_TEST_DATA(folder, "data/imdb-subset");
  const Csv reviews = Csv::load(folder + "/train.tsv.gz", {.header = false, .delimiter = '\t', .quote = 0});
  REQUIRE(reviews.size() == 4000);
  const auto labels = reviews.column<Index>("0");
  Index positive = 0;
  std::size_t words = 0;
  for (Index i = 0; i < 4000; ++i) {
    positive += labels(i);
    const std::string_view text = reviews.field(i, 1);
    bool inside = false;
    for (const char c : text) {
      words += c != ' ' && !inside;
      inside = c != ' ';
    }
  }
  CHECK(positive == 2000);
  CHECK(words == 945893);  // by spaces; the one more that its description counts ends at another blank
}

}  // namespace data_csv
