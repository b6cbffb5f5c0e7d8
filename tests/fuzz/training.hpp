// The training whose checkpoint the target `checkpoint` reads.
#pragma once
#include <tern/data/dataset.hpp>
#include <tern/data/loader.hpp>
#include <tern/nn/linear.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/adam.hpp>
#include <tern/train/checkpoint.hpp>

struct Training {
  tern::nn::Linear<tern::Cpu> net{2, 1};
  tern::optim::Adam adam{net.parameters()};
  tern::optim::StepLR schedule{adam, {.step_size = 2}};
  tern::optim::ReduceLROnPlateau plateau{adam};
  tern::data::Loader<tern::Cpu, tern::data::TensorDataset<float>> batches{
      tern::data::TensorDataset<float>(tern::zeros<tern::Cpu>({8, 2})), {.batch_size = 2, .shuffle = true}};
};
