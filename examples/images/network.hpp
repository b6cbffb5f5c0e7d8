// A network for pictures whose class is not known: what training and tests need of it. So they are compiled once for a
// device, not for each network in each precision.
#pragma once
#include <tern/cuda.hpp>
#include <tern/distributed/communicator.hpp>
#include <tern/nn/module.hpp>
#include <tern/nn/replicas.hpp>
#include <tern/optim/sgd.hpp>

#include <memory>

#include "options.hpp"

template <Device D>
struct Network {
  double aux_weight = 0;  // of the loss of auxiliary heads
  std::vector<std::string> new_layers =
      {};               // which keep their random start, as the file of --weights has none that fit
  bool scaled = false;  // computes in half

  virtual ~Network() = default;
  virtual nn::AnyModule module() const = 0;
  virtual nn::Replicas& replicas() const = 0;
  virtual optim::SGD optimizer(const optim::SGDOptions& options) const = 0;
  /// [N, 3, size, size] to scores [N, classes], in float.
  virtual Tensor<D> scores(const Tensor<D>& images) = 0;
  /// The same in training, followed by the scores of auxiliary heads if there are any.
  virtual std::vector<Tensor<D>> training_scores(const Tensor<D>& images) = 0;
};

/// What a network is made for.
struct Setup {
  const ImageOptions& options;
  Index classes;
  const distributed::Communicator& world;
};

// The model that the options name, in each precision: compiled in a file of its own, which has all models, because they
// share most of what they are compiled to.
template <Device D>
std::unique_ptr<Network<D>> make_f32(const Setup& setup);
template <Device D>
std::unique_ptr<Network<D>> make_bf16(const Setup& setup);
template <Device D>
std::unique_ptr<Network<D>> make_bf16_weights(const Setup& setup);
std::unique_ptr<Network<Cuda>> make_f16(const Setup& setup);  // the CPU has no instructions for it
