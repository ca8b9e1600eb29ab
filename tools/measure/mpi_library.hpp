#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/execution/mpi/communicator.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "tools/measure/backend.hpp"

namespace athanor {

/// Why no collective of MPI does this, or nothing: types and reductions that MPI has not, counts beyond an int, places
/// of input and output that differ from MPI's.
std::optional<std::string> mpi_library_refuses(const Trial& trial);

/// A collective by the MPI library's own function for it: MPI_Allreduce, MPI_Bcast, ... Where ranks divide the payload
/// unevenly, the function with a count for each rank.
class MpiLibraryCollective {
 public:
  /// Requires a trial that is not refused, with as many ranks as processes, and buffers that outlive this.
  MpiLibraryCollective(const Communicator& communicator, const Trial& trial, const RankBuffers& buffers);

  /// Once. Throws SimulationError "mpi".
  void run() const;

 private:
  /// How many elements of one rank, and where they begin.
  struct Blocks {
    std::vector<int> counts;
    std::vector<int> offsets;
  };

  void make_parts();
  void make_exchange();
  int reduce() const;
  int exchange() const;
  int gather() const;
  int scatter() const;
  int send_receive() const;

  const Communicator& communicator_;
  Collective collective_;
  RankBuffers buffers_;
  MPI_Datatype type_;
  MPI_Op operation_;
  int count_ = 0;
  int root_ = 0;
  bool root_here_ = false;
  bool even_ = false;  ///< do all ranks have equal parts?
  Blocks parts_;       ///< of each rank
  Blocks outgoing_;    ///< of an all-to-all: to each rank
  Blocks incoming_;    ///< from each rank
};

}  // namespace athanor
