// Ranks that are processes, started by mpirun. Needs an MPI: link with CMake's tern::mpi, or compile with its mpicxx.
#pragma once
#include "communicator.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

struct MpiOptions {
  /// How many ranks of a machine share memory at most; 0: all. Between these groups tensors go by MPI, as they do
  /// between machines.
  int ranks_sharing_memory = 0;
};

/// MPI, from its construction to its end. A program has one, in main(), and its communicators end before it:
///
///   int main(int argc, char** argv) {
///     const distributed::Mpi mpi(argc, argv);
///     const distributed::Communicator world = mpi.world();
///
/// Ranks of one machine exchange tensors through memory that they share; between machines they go by MPI. What a rank
/// sums is the same on all of them. Where a rank leaves by an exception, the others' collectives end with an Error.
class TERN_API Mpi {
 public:
  /// Error if MPI was started already, has no support for threads, or is not the one that mpirun belongs to.
  Mpi(int& argc, char**& argv, const MpiOptions& options = {});
  ~Mpi();
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  /// All ranks that mpirun has started.
  Communicator world() const;

 private:
  MpiOptions options_;
  int exceptions_;  // under way when this was made
};

}}}  // namespace tern::distributed

// Not in the compiled library, so that programs without MPI do not need one.
#include "mpi.ipp"
