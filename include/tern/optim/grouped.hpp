// Groups of parameters, each with its own options. They are the part of an optimiser that depends on the options' type.
#pragma once
#include <optional>

#include "../core/options.hpp"
#include "optimizer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

/// The optimiser with the update rule Rule:
///
///     optim::SGD sgd(net.parameters(), {.lr = 0.1});
///     optim::SGD sgd(net.parameters(), 0.1, 0.9);  // the first options in PyTorch's order
///     optim::SGD sgd({{net.body.parameters(), {.lr = 1e-4}}, {net.head.parameters(), {.lr = 1e-2}}});
///     optim::SGD sgd({{net.body.parameters(), {.lr = 1e-4}}, {net.head.parameters()}}, {.lr = 1e-2, .momentum = 0.9});
///     optim::SGD sgd({x, y}, {.lr = 0.1});  // tensors that require a gradient
///
/// Rule has a name; the names of its states, in the order of update_each's arguments; check(options), which throws if
/// an option is wrong; and update<D, T>(optimizer, step), which takes a step. Options has lr, and momentum or betas if
/// the rule has them. Rule has a constructor for options by position, a template so that it is compiled where it is
/// called; the learning rate alone is one here.
template <class Rule, class Options>
class Grouped : public Optimizer {
 public:
  /// A list of parameters that share options: a network's, or tensors that require a gradient.
  struct List {
    template <class... P>
    List(const tern::detail::Parameters<P...>& list) : parameters(list), ops_for(&Optimizer::ops_for<Rule, P...>) {}
    template <class X>
    List(const std::vector<X>& tensors) : List(tern::detail::parameters_of(tensors)) {}
    template <Device D, Element T>
    List(std::initializer_list<Tensor<D, T>> tensors) : List(std::vector<Tensor<D, T>>(tensors)) {}
    std::vector<NamedTensor> parameters;
    const SlotOps* (*ops_for)(const AnyTensor& parameter);
  };
  template <class O>
  struct GroupWith {
    template <std::convertible_to<List> P>
    GroupWith(const P& parameters, O o = {}) : list(parameters), options(o) {}
    template <Device D, Element T>
    GroupWith(std::initializer_list<Tensor<D, T>> tensors, O o = {}) : list(tensors), options(o) {}
    List list;
    O options;
  };
  /// PyTorch's {'params': …, 'lr': …}. Options that are not given have the rule's defaults.
  using Group = GroupWith<Options>;
  /// What a group gives in place of options that all groups share.
  struct Own {
    std::optional<double> lr = {}, weight_decay = {};
  };
  using SharingGroup = GroupWith<Own>;

  Grouped(const List& parameters, Options options = {}, CallSite here = {}) : Optimizer(Rule::name, Rule::states) {
    const CallScope scope(here);
    add(parameters, options);
  }
  template <tern::detail::PlainNumber N>
  Grouped(const List& parameters, N lr, CallSite here = {})
      : Grouped(parameters, Options{.lr = static_cast<double>(lr)}, here) {}
  [[gnu::noinline, gnu::cold]] Grouped(std::initializer_list<Group> groups, CallSite here = {})
      : Optimizer(Rule::name, Rule::states) {
    const CallScope scope(here);
    if (groups.size() == 0) Error::fail(Rule::name, {"there are no parameters"});
    for (const Group& group : groups) add_param_group(group);
  }
  /// Groups that share options, but for a learning rate and a weight decay of their own.
  [[gnu::noinline, gnu::cold]] Grouped(std::initializer_list<SharingGroup> groups, const Options& shared,
                                       CallSite here = {})
      : Optimizer(Rule::name, Rule::states) {
    const CallScope scope(here);
    if (groups.size() == 0) Error::fail(Rule::name, {"there are no parameters"});
    for (const auto& [list, own] : groups) {
      Options options = shared;
      if (own.lr) options.lr = *own.lr;
      if constexpr (requires { options.weight_decay; }) {
        if (own.weight_decay) options.weight_decay = *own.weight_decay;
      } else if (own.weight_decay) {
        Error::fail(Rule::name, {"there is no weight decay: ", *own.weight_decay});
      }
      add(list, options);
    }
  }

  /// Adds a group, which states all its options: `{p, {.lr = 0.1}}` has the rule's defaults for the rest, not the other
  /// groups'; those are `param_groups()[0]`, which can be copied. Error if one of its parameters is in another group.
  /// Graphs that were captured with this optimiser must be captured again.
  void add_param_group(const Group& group, CallSite here = {}) {
    const CallScope scope(here);
    add(group.list, group.options);
  }
  /// The options of each group. They may be changed between steps.
  std::vector<Options>& param_groups() { return options_; }

  /// Changes over to the parameters of a network that to() or clone() made from the present one. The state is
  /// converted. Error if the names differ.
  template <class Net>
  void to(const Net& net) {
    to({List(net.parameters())});
  }
  /// The same for several groups, with one list for each.
  [[gnu::noinline, gnu::cold]] void to(std::initializer_list<List> lists) {
    std::vector<detail::ParameterList> plain;
    for (const List& list : lists) plain.push_back({list.parameters, list.ops_for});
    follow(plain.data(), plain.size());
  }

 protected:
  static const Options& options_of(Optimizer& optimizer, const ParameterStep& step) {
    return static_cast<Grouped&>(optimizer).options_[step.group()];
  }

 private:
  [[gnu::noinline, gnu::cold]] void add(const List& list, const Options& options) {
    detail::check(Rule::name, "lr", options.lr);
    Rule::check(options);
    if constexpr (requires { Rule::check_parameters(list.parameters); }) Rule::check_parameters(list.parameters);
    std::vector<Options> grown(options_.size() + 1, options);
    for (std::size_t i = 0; i < options_.size(); ++i) grown[i] = options_[i];
    Optimizer::add({list.parameters, list.ops_for});
    options_.swap(grown);
  }

  Rates rates(std::size_t group) final {
    Options& o = options_[group];
    if constexpr (requires { o.momentum; }) return {&o.lr, &o.momentum};
    else if constexpr (requires { o.betas.first; }) return {&o.lr, &o.betas.first};
    else return {&o.lr, nullptr};
  }

  std::vector<Options> options_;
};

}}}  // namespace tern::optim

/// The steps of a rule that most programs use.
#define TERN_OPTIMIZER(Rule)                                                     \
  TERN_INSTANCE(void Rule::update<Cpu, float>(Optimizer&, const ParameterStep&)) \
  TERN_CUDA_INSTANCE(void Rule::update<Cuda, float>(Optimizer&, const ParameterStep&))
