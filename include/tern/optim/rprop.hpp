// Rprop (Riedmiller, Braun: "A direct adaptive method for faster backpropagation learning: the RPROP algorithm", 1993).
#pragma once
#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct RpropOptions {
  double lr = 1e-2;
  std::pair<double, double> etas{0.5, 1.2};
  std::pair<double, double> step_sizes{1e-6, 50};
  bool maximize = false;  // steps uphill: by -g
};

/// Each element has a step size s, at first lr, which is multiplied by etas.second where g has the sign that it had in
/// the step before, and by etas.first where it has the other one, within step_sizes;  p ← p - s sign(g). Where the sign
/// has changed, p stays, and the next step leaves s as it is.
class TERN_API Rprop : public Grouped<Rprop, RpropOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  Rprop(const List& parameters, tern::detail::RealNumber lr, std::pair<double, double> etas,
        std::pair<double, double> step_sizes = {1e-6, 50}, CallSite here = {})
      : Grouped(parameters, {lr, etas, step_sizes}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "Rprop";
  static constexpr std::initializer_list<const char*> states{"prev", "step_size"};
  static void check(const RpropOptions& o) {
    if (!(o.etas.first > 0 && o.etas.first < 1 && o.etas.second > 1))
      Error::fail(name, {"etas must be between 0 and 1, and above 1, not ", o.etas.first, " and ", o.etas.second});
  }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);
};

template <class D, class T>
void Rprop::update(Optimizer& optimizer, const ParameterStep& step) {
  const RpropOptions& o = options_of(optimizer, step);
  const double less = o.etas.first, more = o.etas.second, least = o.step_sizes.first, most = o.step_sizes.second;
  const double uphill = o.maximize ? -1 : 1;
  const auto numbers = [lr = o.lr]<class N>(N t) {
    using std::min;
    return std::array{N(lr) * (1 - min(t - 1, N(1)))};  // lr in the first step
  };
  update_each<D, T, 2>(step, numbers, [=]<class V>(const auto& of_step, V& p, V g, V& before, V& size) {
    g = V(uphill) * g;
    const V agreement = g * before;
    size = (size + V(of_step[0])) * where(agreement > 0, V(more), where(agreement < 0, V(less), V(1)));
    size = min(max(size, V(least)), V(most));
    g = where(agreement < 0, V(0), g);
    p = p - sign(g) * size;
    before = g;
  });
}

TERN_OPTIMIZER(Rprop)

}}}  // namespace tern::optim
