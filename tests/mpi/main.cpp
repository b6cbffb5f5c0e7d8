// One rank of the checks that tests/mpi/run starts: `program CASE RANKS_SHARING_MEMORY`.
#include "distributed/parallel_cases.hpp"

#include <csignal>
#include <unistd.h>

#include <tern/distributed/mpi.hpp>

using namespace tern;
using distributed::Communicator;

namespace {

/// The differences to one rank's losses, printed by the first rank.
template <class T, class Make>
void compare(const Communicator& c, const char* name, const Make& make, const Shape& sample, double lr) {
  manual_seed(5 + std::uint64_t(c.rank()));
  const auto many = tern_test::losses_of<T>(c, make, sample, lr);
  manual_seed(5);
  const auto one = tern_test::losses_of<T>(c.split(c.rank()), make, sample, lr);
  double worst = 0;
  for (std::size_t i = 0; i < one.size(); ++i) worst = std::max(worst, std::abs(many[i] - one[i]) / one[i]);
  if (c.rank() == 0) std::printf("%s %s %.3g\n", name, tern::name_of(dtype_of<T>), worst);
}

template <class T>
void parallel(const Communicator& c) {
  compare<T>(c, "mlp", [] { return tern_test::SmallMlp<Cpu, T>(); }, {12}, 0.05);
  compare<T>(c, "lstm", [] { return tern_test::SmallLstm<Cpu, T>(); }, {5, 6}, 0.05);
  compare<T>(c, "resnet20", [] { return models::resnet20<Cpu, T>(); }, {3, 8, 8}, std::is_same_v<T, double> ? 0.01 : 1e-5);
}

/// Rank 1 does not come to the third sum. The others name it.
void fault(const Communicator& c, const std::string& kind) {
  c.set_timeout(1);
  const auto x = ones<Cpu>({100000});
  for (int call = 0;; ++call) {
    if (call == 2 && c.rank() == 1) {
      if (kind == "throws") throw std::runtime_error("rank 1: its own trouble");
      if (kind == "killed") std::raise(SIGKILL);
      if (kind == "leaves") return;
      if (kind == "late") usleep(3'000'000);
    }
    distributed::all_reduce(x, c);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const distributed::Mpi mpi(argc, argv, {.ranks_sharing_memory = argc > 2 ? std::atoi(argv[2]) : 0});
  const Communicator c = mpi.world();
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "collectives") {
    tern_test::check_collectives(c);
    if (c.rank() == 0) std::printf("collectives, %d ranks, %d share memory\n", c.size(), c.local_size());
  } else if (name == "parallel") {
    parallel<double>(c);
    parallel<float>(c);
  } else {
    fault(c, name);
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
