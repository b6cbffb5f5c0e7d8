#include "support/tensors.hpp"

#include <tern/data/records/tfrecord.hpp>
#include <tern/io/wire_format.hpp>
#include <tern/train/tensorboard.hpp>

#include "../io/temporary_folder.hpp"

namespace train_tensorboard {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The messages of the only event file in a folder.
std::vector<std::string> events_in(const std::string& folder) {
  std::vector<std::string> events;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const data::TFRecordFile file(entry.path().string());  // which compares the checksums
    data::RecordPosition at;
    for (data::Record record; file.next(at, record);) events.emplace_back(record.bytes);
  }
  return events;
}

/// "tag step value"
std::string point_of(const std::string& event) {
  std::string tag;
  Index step = 0;
  float value = 0;
  for (io::WireReader fields("Event", event); fields.next();) {
    if (fields.number() == 2) step = Index(fields.varint());
    if (fields.number() != 5) continue;
    io::WireReader values("Summary", fields.bytes());
    REQUIRE(values.next());
    for (io::WireReader parts("Value", values.bytes()); parts.next();) {
      if (parts.number() == 1) tag = std::string(parts.bytes());
      if (parts.number() == 2) value = parts.float32();
    }
  }
  char text[80];
  std::snprintf(text, sizeof text, "%s %lld %g", tag.c_str(), (long long)step, double(value));
  return text;
}

}  // namespace

TEST_CASE("tensorboard: points have the bytes that TensorBoard's own writer gives them") {
  // tensorboard 2.21: RecordWriter.write(Event(wall_time, step, summary).SerializeToString()).
  const std::string recorded =
      "1e00000000000000d9dc12320900002040fc54d9412a130a110a0a6c6f73732f747261696e150000803e33543e64"
      "200000000000000029eda9500900006040fc54d94110012a130a110a0a6c6f73732f747261696e150000003ed316aa39"
      "1e00000000000000d9dc12320900009040fc54d94110ac022a100a0e0a076772c3b6c39f6515177617f21837bc5d";
  const TemporaryFolder folder;
  train::SummaryWriter writer(folder / "runs/first");
  const std::size_t head = content_of(writer.path()).size();
  writer.add_scalar("loss/train", 0.25, 0, 1700000000.5);
  writer.add_scalar("loss/train", 0.125, 1, 1700000001.5);
  writer.add_scalar("gr\u00f6\u00dfe", -3e30, 300, 1700000002.25);
  std::string hex;
  for (const char c : content_of(writer.path()).substr(head)) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    hex += digits;
  }
  CHECK(hex == recorded);
}

TEST_CASE("tensorboard: a file begins with its version, and has the time of each point") {
  const TemporaryFolder folder;
  const double before = double(std::time(nullptr));
  train::SummaryWriter writer(folder.path()), other(folder / "other");
  CHECK_THAT(writer.path(), ContainsSubstring(folder.path() + "/events.out.tfevents."));
  std::filesystem::remove_all(folder / "other");
  writer.add_scalar("x", 1, 5);
  writer.flush();
  const auto events = events_in(folder.path());
  REQUIRE(events.size() == 2);
  CHECK_THAT(events[0], ContainsSubstring("brain.Event:2"));
  CHECK(point_of(events[1]) == "x 5 1");
  for (const std::string& event : events) {
    io::WireReader fields("Event", event);
    REQUIRE((fields.next() && fields.number() == 1));
    const double time = std::bit_cast<double>(fields.fixed64());
    CHECK((time >= before && time < before + 60));
  }
  CHECK_THAT(error_of([&] { train::SummaryWriter(writer.path()); }), ContainsSubstring("Not a directory"));
}

TEST_CASE("tensorboard: the callback writes what is known of each epoch") {
  const TemporaryFolder folder;
  train::TensorBoard board(folder / "runs");
  train::Report report;
  CHECK_FALSE(std::filesystem::exists(folder / "runs"));  // which is the first rank's alone
  board.on_train_begin(report);
  report.epochs.push_back(
      {.epoch = 3, .loss = 0.5, .figure = 0.25, .seconds = 2, .samples = 100, .test_figure = 0.75, .lr = 0.125});
  board.on_epoch_end(report);
  report.metric = train::mean_loss, report.unit = "words";
  report.epochs.push_back({.epoch = 4,
                           .loss = 0.5,
                           .figure = std::nan(""),
                           .seconds = 2,
                           .samples = 100,
                           .test_figure = std::nan(""),
                           .validation_figure = 0.625,
                           .lr = 0.125});
  board.on_epoch_end(report);
  board.on_train_end(report);
  std::string points;
  const auto events = events_in(folder / "runs");
  for (std::size_t i = 1; i < events.size(); ++i) points += point_of(events[i]) + "\n";
  CHECK(points ==
        "loss/train 3 0.5\naccuracy/train 3 0.25\naccuracy/test 3 0.75\nlr 3 0.125\nimages_per_second 3 50\n"
        "loss/train 4 0.5\nloss/validation 4 0.625\nlr 4 0.125\nwords_per_second 4 50\n");
}

}  // namespace train_tensorboard
