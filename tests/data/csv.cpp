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

TEST_CASE("lines end as Python's csv module reads them", "[data]") {
  // [row for row in csv.reader(io.StringIO(text, newline="")) if row], of Python 3.11.
  const std::pair<const char*, Fields> recorded[] = {
      {"a,b\rc,d\r", {{"a", "b"}, {"c", "d"}}},
      {"a,b\rc,d", {{"a", "b"}, {"c", "d"}}},
      {"a,b\r\r\nc,d\r\r\n", {{"a", "b"}, {"c", "d"}}},
      {"a,b\nc,d\r\ne,f\r", {{"a", "b"}, {"c", "d"}, {"e", "f"}}},
      {"\"a\rb\",\"c\r\nd\"\re,f\r", {{"a\rb", "c\r\nd"}, {"e", "f"}}},
      {"a,\"b\"\rc,\"d\"\r", {{"a", "b"}, {"c", "d"}}},
      {"\r\r\na,b\r\r", {{"a", "b"}}},
      {"a\n\"\"\nb\n", {{"a"}, {""}, {"b"}}},
      {"\"\"\na\n", {{""}, {"a"}}},
      {"a\n\nb\n", {{"a"}, {"b"}}},
  };
  const TemporaryFolder folder;
  for (const auto& [text, fields] : recorded) {
    CAPTURE(text);
    CHECK(fields_of(Csv::load(folder.put("x.csv", text), {.header = false})) == fields);
  }
}

TEST_CASE("numbers that are too small become the nearest, those too large are refused", "[data]") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& field, auto type) {
    using T = typename decltype(type)::type;
    return Csv::load(folder.put("x.csv", field + "\n"), {.header = false}).template column<T>("0")(0);
  };
  // Python's float() of the same texts; of floats, numpy.float32()'s.
  CHECK(read("1e-400", f64) == 0);
  CHECK(std::signbit(read("-1e-400", f64)));
  CHECK(read("2e-324", f64) == 0);
  CHECK(read("3e-324", f64) == 0x0.0000000000001p-1022);
  CHECK(read("1e-310", f64) == 0x0.012688b70e62bp-1022);
  CHECK(read("0." + std::string(400, '0') + "1e20", f64) == 0);
  CHECK(read("1e-50", f32) == 0);
  CHECK(read("7e-46", f32) == 0);
  CHECK(read("8e-46", f32) == 0x1p-149f);
  CHECK(read("1e-40", f32) == 0x1.16c2p-133f);
  CHECK(read("1e-50", f64) == 1e-50);
  CHECK(read("1e-400", f16) == half(0.f));
  CHECK(read("65504", f16) == half(65504.f));
  CHECK_THAT(error_of([&] { read("1e400", f64); }),
             Catch::Matchers::ContainsSubstring("line 1, column 1 ('0'): '1e400' is too large for float64"));
  CHECK_THAT(error_of([&] { read("-1e39", f32); }),
             Catch::Matchers::ContainsSubstring("'-1e39' is too large for float32"));
  CHECK_THAT(error_of([&] { read("65520", f16); }),
             Catch::Matchers::ContainsSubstring("'65520' is too large for float16"));
}

TEST_CASE("missing values are NaN or what the options say, and no integers", "[data]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x.csv", "a,b\n1,\n,2\n\"\",NA\n NA , \n4,-1\n");
  const Csv table = Csv::load(path);
  REQUIRE(table.size() == 5);
  // pandas.read_csv() of the rows without spaces has NaN in the same places; spaces around a number or NA do not count
  // here.
  const auto x = table.columns<float>({"a", "b"});
  const bool missing[5][2] = {{false, true}, {true, false}, {true, true}, {true, true}, {false, false}};
  for (Index row = 0; row < 5; ++row)
    for (Index column = 0; column < 2; ++column) CHECK(std::isnan(x(row, column)) == missing[row][column]);
  CHECK(x(4, 1) == -1);
  CHECK(std::isnan(table.column<double>("b")(2)));
  CHECK(std::isnan(float(table.column<half>("b")(2))));
  CHECK(Csv::load(path, {.missing = -7.5}).column<double>("a")(1) == -7.5);
  CHECK(table.text("b")[2] == "NA");
  CHECK(error_of([&] { table.column<Index>("b"); }) ==
        "csv: '" + path +
            "': line 2, column 2 ('b'): a value is missing, as only columns of floating-point numbers may lack some");
  CHECK_THAT(error_of([&] { Csv::load(path, {.missing = 0}).column<std::uint8_t>("a"); }),
             Catch::Matchers::ContainsSubstring("line 3, column 1 ('a'): a value is missing"));
  CHECK_THAT(error_of([&] { Csv::load(folder.put("y.csv", "a\nN.A.\n")).column<float>("a"); }),
             Catch::Matchers::ContainsSubstring("'N.A.' is not a number"));
  // The words of pandas.read_csv (na_values).
  const Csv words = Csv::load(
      folder.put("y.csv",
                 "a\n#N/A\n#N/A "
                 "N/A\n#NA\n-1.#IND\n-1.#QNAN\n-NaN\n-nan\n1.#IND\n1.#QNAN\n<NA>\nN/A\nNA\nNULL\nNaN\nNone\nn/a\n"
                 "nan\nnull\n"),
      {.missing = -1});
  REQUIRE(words.size() == 18);
  for (Index row = 0; row < 18; ++row) CHECK(words.column<float>("a")(row) == -1);
}

TEST_CASE("what Excel saves is read", "[data]") {
  const TemporaryFolder folder;
  // A German Excel's "CSV UTF-8": a byte-order mark, semicolons, decimal commas, CR LF, and line breaks as LF in quoted
  // cells.
  const Csv table = Csv::load(folder.put("x.csv",
                                         "\xef\xbb\xbfL\xc3\xa4nge;Zahl;Notiz;wahr\r\n5,1;7;\"zwei\nZeilen; "
                                         "\"\"so\"\"\";WAHR\r\n-0,25;8;;FALSCH\r\n1e-3;;x;\r\n"),
                              {.delimiter = ';', .decimal = ','});
  CHECK(table.columns() == std::vector<std::string>{"L\xc3\xa4nge", "Zahl", "Notiz", "wahr"});
  REQUIRE(table.size() == 3);
  const auto x = table.column<double>("L\xc3\xa4nge");
  CHECK(x(0) == 5.1);
  CHECK(x(1) == -0.25);
  CHECK(x(2) == 1e-3);
  CHECK(table.text("Notiz")[0] == "zwei\nZeilen; \"so\"");
  CHECK(error_of([&] {
          Csv::load(folder.put("y.csv", "a;b\n1.5;1,2,3\n"), {.delimiter = ';', .decimal = ','}).column<float>("a");
        }) == "csv: '" + (folder / "y.csv") + "': line 2, column 1 ('a'): '1.5' is not a number");
  CHECK_THAT(error_of([&] { Csv::load(folder / "y.csv", {.delimiter = ';', .decimal = ','}).column<float>("b"); }),
             Catch::Matchers::ContainsSubstring("'1,2,3' is not a number"));
  // With the wrong delimiter the message shows the columns that there are.
  CHECK(error_of([&] { Csv::load(folder.put("y.csv", "length;width\n1;2\n")).column<float>("width"); }) ==
        "csv: '" + (folder / "y.csv") + "': has no column 'width', but 'length;width'");
  for (const std::string& mark : {std::string("\xff\xfe"), std::string("\xfe\xff")})
    CHECK(error_of([&] { Csv::load(folder.put("y.csv", mark + std::string("a\0\n\0", 4))); }) ==
          "csv: '" + (folder / "y.csv") + "': is in UTF-16; save it as UTF-8");
}

TEST_CASE("columns of bool have words too, as pandas and Excel write them", "[data]") {
  const TemporaryFolder folder;
  const Csv table = Csv::load(folder.put("x.csv", "a\nTrue\nFalse\nTRUE\nfalse\n1\n0\n"));
  const auto x = table.column<bool>("a");
  for (Index row = 0; row < 6; ++row) CHECK(x(row) == (row % 2 == 0));
  CHECK_THAT(error_of([&] { table.column<Index>("a"); }),
             Catch::Matchers::ContainsSubstring("'True' is not a whole number"));
  CHECK_THAT(error_of([&] { Csv::load(folder.put("y.csv", "a\ntru\n")).column<bool>("a"); }),
             Catch::Matchers::ContainsSubstring("'tru' is not a whole number"));
}

TEST_CASE("columns have types", "[data]") {
  const TemporaryFolder folder;
  const Csv table = Csv::load(folder.put("iris.csv",
                                         "length,width,count,kind\n5.1, -3.5e0,7,setosa\n+4.9,inf,-8,virginica\n"
                                         "0.1,1e-40,9,setosa\n"));
  const auto x = table.columns<float>({"width", "length"});
  REQUIRE(x.shape() == detail::Shape{3, 2});
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
  CHECK(refusal("a,b\r1,\r\n\r\r\n2,x\r", column("b")) == at + "line 5, column 2 ('b'): 'x' is not a number");
  CHECK(refusal("a,b\n\"x\ry\r\nz\",2\n1,x", column("b")) == at + "line 5, column 2 ('b'): 'x' is not a number");
  CHECK(refusal("a,b\n1,2.5x\n", column("b")) == at + "line 2, column 2 ('b'): '2.5x' is not a number");
  CHECK(refusal("a,b\n1,2\n", column("c")) == at + "has no column 'c', but 'a', 'b'");
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
  CHECK_THAT(error_of([&] { table.column<float>("a"); }),
             Catch::Matchers::ContainsSubstring("line 7, column 1 ('a'): '3\n' is not"));
  const Csv last = Csv::load(folder.put("x.csv", "a\n\n1\n2\n\n\n3\n4\n\nx\n"));
  CHECK_THAT(error_of([&] { last.column<float>("a"); }), Catch::Matchers::ContainsSubstring("line 10, column 1"));
}

TEST_CASE("a field that is not there is an Error", "[data]") {
  const TemporaryFolder folder;
  const Csv table = Csv::load(folder.put("x.csv", "a,b\n1,2\n"));
  for (const auto& [row, column] : {std::pair<Index, Index>{1, 0}, {0, 2}, {-1, 0}, {0, -1}, {INT64_MAX, 0}})
    CHECK_THAT(error_of([&, r = row, c = column] { table.field(r, c); }),
               Catch::Matchers::ContainsSubstring("there is no field in row"));
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

TEST_CASE("files of other kinds are no tables", "[data]") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& content) {
    return error_of([&] { Csv::load(folder.put("x.csv", content)); });
  };
  const std::string file = "csv: '" + (folder / "x.csv") + "': is no table of text";
  CHECK(refusal(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)) == file + ", but a PNG picture");
  CHECK(refusal(std::string("\x40\0\0\0\0\0\0\0{\"x\":[1]}", 17)) == file + ", but a .safetensors file");
  CHECK(refusal("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n") ==
        file + ", but a pointer of Git LFS; git lfs pull fetches the file");
  CHECK(refusal("<!DOCTYPE html>\n<html>\n") == file + ", but a page of HTML");
  CHECK(refusal(std::string("a,b\n1,\0\n", 8)) == file + ": it has zero bytes");
  CHECK(refusal("BMI,GIF\n1,2\n") == "");
}

TEST_CASE("columns of one name are told apart as pandas does", "[data]") {
  const TemporaryFolder folder;
  // list(pandas.read_csv(…).columns) of pandas 3.1.
  const std::pair<const char*, std::vector<std::string>> recorded[] = {
      {"a,b,a,a\n1,2,3,4\n", {"a", "b", "a.1", "a.2"}},
      {"a,a,a.1\n1,2,3\n", {"a", "a.2", "a.1"}},
      {"a.1,a,a\n1,2,3\n", {"a.1", "a", "a.2"}},
  };
  for (const auto& [text, names] : recorded) CHECK(Csv::load(folder.put("x.csv", text)).columns() == names);
  const Csv table = Csv::load(folder.put("x.csv", "a,a\n1,2\n"));
  CHECK(table.column<float>("a")(0) == 1);
  CHECK(table.column<float>("a.1")(0) == 2);
}

TEST_CASE("delimiters that end lines or open quotes are refused", "[data]") {
  const TemporaryFolder folder;
  const std::string path = folder.put("x.csv", "a,b\n1,2\n");
  CHECK(error_of([&] { Csv::load(path, {.delimiter = '"'}); }) ==
        "csv: delimiter and quote must differ, but both are '\"'");
  CHECK(error_of([&] { Csv::load(path, {.delimiter = '\n'}); }) == "csv: delimiter and quote must not end lines");
  CHECK(error_of([&] { Csv::load(path, {.quote = '\r'}); }) == "csv: delimiter and quote must not end lines");
}

TEST_CASE("columns are written as pandas writes them, and read as they were") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.csv";
  const auto x = tensor<Cpu>({{0.1, 2}, {1e-20, -3}, {NAN, HUGE_VAL}});
  const auto ids = tensor<Cpu, Index>({9007199254740993, -1, 0});
  data::save_csv(path, {{"id", ids},
                        {"a, \"b\"", x.select(1, 0)},
                        {"c", x.select(1, 1).to(f64)},
                        {"d", ids > 0},
                        {"e", ids.to(u8)},
                        {"f", tensor<Cpu>({0.5, 1, 2}).to(f16)}});
  // pandas.DataFrame(…).to_csv(index=False) of pandas 3.1.
  CHECK(tern_test::content_of(path) ==
        "id,\"a, "
        "\"\"b\"\"\",c,d,e,f\n9007199254740993,0.1,2.0,True,1,0.5\n-1,1e-20,-3.0,False,255,1.0\n0,,inf,False,0,2.0\n");
  const Csv table = Csv::load(path);
  CHECK(table.column<Index>("id")(0) == 9007199254740993);
  CHECK(table.column<float>("a, \"b\"")(0) == 0.1f);
  CHECK(std::isnan(table.column<float>("a, \"b\"")(2)));
  CHECK(table.column<double>("c")(2) == HUGE_VAL);
  CHECK(table.column<bool>("d")(0));
  const auto numbers = full<Cpu, double>({50}, 1) / arange<Cpu, double>(1, 51);
  data::save_csv(path, {{"x", numbers}});
  const auto read = Csv::load(path).column<double>("x");
  for (Index i = 0; i < 50; ++i) CHECK(read(i) == numbers(i));
  CHECK(error_of([&] { data::save_csv(path, {}); }) == "save_csv: there are no columns");
  CHECK(error_of([&] { data::save_csv(path, {{"x", x}}); }) ==
        "save_csv: columns are [N], but 'x' is [3, 2] and 'x' [3, 2]");
  CHECK(error_of([&] { data::save_csv(path, {{"x", ids}, {"y", numbers}}); }) ==
        "save_csv: columns are [N], but 'x' is [3] and 'y' [50]");
  CHECK(error_of([&] { data::save_csv(path, {{"x", Tensor<Cpu>()}}); }) == "save_csv: column 'x' is undefined");
}

}  // namespace data_csv
