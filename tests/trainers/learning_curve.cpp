#include "support/catch.hpp"

#include <tern/tern.hpp>

#include "../../examples/support/learning_curve.hpp"

namespace trainers_learning_curve {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a learning curve draws every epoch's loss and accuracies where they belong") {
  train::Report report;
  report.epochs.push_back({.loss = 2, .figure = 0.25, .test_figure = 0.5});
  report.epochs.push_back({.loss = std::nan(""), .figure = 0.5, .test_figure = 0.5});
  report.epochs.push_back({.loss = 1, .figure = 1, .test_figure = 0.75});
  const std::string svg = support::learning_curve_svg(report, "resnet20", "cifar10");
  // From x = 70 to 630; the loss from 240 (0) up to 40 (its maximum), without what is no number; accuracies from 490 to
  // 290.
  CHECK_THAT(svg, ContainsSubstring("points='70.0,40.0 630.0,140.0 '"));
  CHECK_THAT(svg, ContainsSubstring("points='70.0,440.0 350.0,390.0 630.0,290.0 '"));
  CHECK_THAT(svg, ContainsSubstring("points='70.0,390.0 350.0,390.0 630.0,340.0 '"));
  CHECK_THAT(svg, ContainsSubstring("epochs 1 to 3 of resnet20 on cifar10"));
  CHECK(support::learning_curve_svg({}, "mlp", "mnist").find("nan") == std::string::npos);
}

TEST_CASE("a learning curve of losses draws that of training beside that of tests") {
  train::Report report;
  report.metric = train::mean_loss;
  report.epochs.push_back({.loss = 2, .figure = std::nan(""), .test_figure = 4});
  report.epochs.push_back({.loss = 1, .figure = std::nan(""), .test_figure = 3});
  const std::string svg = support::learning_curve_svg(report, "resnet20", "cifar10");
  CHECK_THAT(svg, ContainsSubstring("stroke='#d55e00' stroke-width='2' points='70.0,390.0 630.0,440.0 '"));
  CHECK_THAT(svg, ContainsSubstring("points='70.0,290.0 630.0,340.0 '"));
}

}  // namespace trainers_learning_curve
