#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/workload/workload.hpp"

namespace athanor {

/// What was written of a workload, and what Chakra's traces cannot say.
struct ChakraExport {
  std::uint32_t ranks = 0;
  std::uint64_t nodes = 0;
  std::vector<std::string> notes;
};

/// Writes a workload as execution traces of MLCommons Chakra, in protobuf: PREFIX.RANK.et for each rank, and
/// PREFIX.comm_group.json, as ASTRA-sim takes it, with the ranks of each process group; the traces have these in
/// METADATA nodes, too. Durations are whole microseconds, of which each stream carries on what rounding leaves.
/// Throws SimulationError("unknown-ranks") as ranks_of_workers(), and ("not-in-chakra") where a worker computes on more
/// streams than a rank of Chakra has resources, or messages are received in another order than sent; FileError where a
/// file cannot be written, or files of more ranks are there.
ChakraExport write_chakra(const Workload& workload, const std::string& prefix);

}  // namespace athanor
