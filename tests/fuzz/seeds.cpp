// Writes seeds that the library itself makes: FOLDER/safetensors/* and FOLDER/checkpoint/*. The folders exist.
#include <tern/ops/ops.hpp>

#include "training.hpp"

using namespace tern;

int main(int, char** arguments) {
  const std::string folder = arguments[1];
  io::save_safetensors(folder + "/safetensors/empty", {});
  io::save_safetensors(
      folder + "/safetensors/several",
      {{"a", zeros<Cpu, bool>({3})}, {"b.c", zeros<Cpu>({2, 0})}, {"\"\xc3\xa4", zeros<Cpu, half>({1, 2})}},
      {{"format", "pt"}, {"\n", "\\"}});
  Training training;
  const auto save = [&](const char* name) {
    train::save_checkpoint(folder + "/checkpoint/" + name, training.net, training.adam, training.schedule,
                           training.plateau, training.batches);
  };
  save("new");
  training.net(ones<Cpu>({3, 2})).sum().backward();
  training.adam.step();
  training.schedule.step();
  save("trained");
}
