#pragma once

#include <cstdint>
#include <string>

#include "algorithms/schedule/collective.hpp"
#include "models/mpi/library.hpp"
#include "sim/units.hpp"

namespace athanor {

/// What a library of MPI decides by. Reductions are commutative.
struct MpiCall {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;
  std::uint32_t most_ranks_per_node = 1;
  Bytes payload;  ///< as scenarios count it: of all blocks, where a rank has one for each other
  Bytes element{4};
  bool uniform = true;  ///< every node has as many ranks
};

struct MpiChoice {
  std::string own;               ///< as the library calls it; "": its rules for this collective are not known here
  std::string algorithm;         ///< of the catalog; "": it has none that does this
  Bytes segment = Bytes::max();  ///< in which it goes; max: in one piece
  bool operator==(const MpiChoice&) const = default;
};

/// What the library takes. Requires one of mpi_names() and mpi_releases(), and at least one rank.
MpiChoice mpi_choice(const MpiLibrary& library, const MpiCall& call);

}  // namespace athanor
