// The functions of tensorboard.hpp that are not templates.
#pragma once
#include <atomic>

#include "../data/records/tfrecord.hpp"
#include "../io/wire_format.hpp"
#include "tensorboard.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

namespace detail {

/// Seconds since 1970.
TERN_COLD double wall_time() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// The name of a new event file in the folder, which exists afterwards.
TERN_COLD std::string event_path(const std::string& folder) {
  static std::atomic<Index> files = 0;
  io::make_folders(folder);
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  return tern::detail::text({folder, "/events.out.tfevents.", Index(wall_time()), ".", host, ".", Index(::getpid()),
                             ".", files.fetch_add(1)});
}

// The fields of TensorFlow's messages Event (tensorflow/core/util/event.proto) and Summary
// (tensorflow/core/framework/summary.proto).
namespace event {
constexpr Index wall_time = 1, step = 2, file_version = 3, summary = 5;
}
namespace summary {
constexpr Index value = 1, tag = 1, simple_value = 2;
}

}  // namespace detail

TERN_COLD SummaryWriter::SummaryWriter(const CallScope&, const std::string& log_dir)
    : file_(detail::event_path(log_dir), O_WRONLY | O_CREAT | O_EXCL) {
  io::WireWriter event;
  event.float64(detail::event::wall_time, detail::wall_time());
  event.bytes(detail::event::file_version, "brain.Event:2");
  write(event.message());
}

TERN_NOINLINE void SummaryWriter::add_scalar(std::string_view tag, tern::detail::RealNumber value, Index global_step,
                                             std::optional<double> walltime, CallSite here) {
  const CallScope scope(here);
  io::WireWriter point, summary, event;
  point.bytes(detail::summary::tag, tag);
  point.float32(detail::summary::simple_value, float(value));
  summary.bytes(detail::summary::value, point.message());
  event.float64(detail::event::wall_time, walltime ? *walltime : detail::wall_time());
  if (global_step != 0) event.varint(detail::event::step, std::uint64_t(global_step));  // as protobuf leaves zeros out
  event.bytes(detail::event::summary, summary.message());
  write(event.message());
}

TERN_NOINLINE void SummaryWriter::write(std::string_view event) {
  const data::detail::TFRecordFrame frame(event);
  std::string record(frame.head, sizeof frame.head);
  record.append(event).append(frame.tail, sizeof frame.tail);
  file_.write(record.data(), Index(record.size()));  // a whole record, because TensorBoard may read at any time
}

TERN_COLD void TensorBoard::on_train_begin(const Report&) { writer_.emplace(log_dir_); }

TERN_COLD void TensorBoard::on_epoch_end(const Report& report) {
  const EpochReport& epoch = report.epochs.back();
  const std::string metric = report.metric.name;
  const auto add = [&](const std::string& tag, double value) {
    if (!std::isnan(value)) writer_->add_scalar(tag, value, epoch.epoch);
  };
  add("loss/train", epoch.loss);
  if (report.metric.of) add(metric + "/train", epoch.figure);
  add(metric + "/test", epoch.test_figure);
  add(metric + "/validation", epoch.validation_figure);
  add("lr", epoch.lr);
  add(std::string(report.unit) + "_per_second", epoch.samples_per_second());
}

TERN_COLD void TensorBoard::on_train_end(const Report&) { writer_->flush(); }

}}}  // namespace tern::train
