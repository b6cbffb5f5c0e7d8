// The training whose checkpoint the target `checkpoint` reads.
#pragma once
#include <tern/nn/linear.hpp>
#include <tern/optim/adam.hpp>
#include <tern/train/checkpoint.hpp>

struct Training {
  tern::nn::Linear<tern::Cpu> net{2, 1};
  tern::optim::Adam adam{net.parameters()};
  tern::optim::StepLR schedule{adam, {.step_size = 2}};
};
