#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/software/figures.hpp"
#include "models/software/nccl_costs.hpp"
#include "models/software/transports.hpp"

namespace athanor {

/// What a stack of communication software and the machine below it consist of, as far as costs depend on it.
struct StackParts {
  bool rccl = false;         ///< AMD's library
  std::string gpu{};         ///< its generation: "hopper", "cdna3"; "": not known
  std::string link{};        ///< what joins GPUs of a node: "nvlink", "xgmi", "pcie"; "": there is one per node
  std::string transport{};   ///< of transports(), between nodes; "": there is one node
  bool one_process = false;  ///< drives all GPUs of a node; else each GPU has its own
  bool operator==(const StackParts&) const = default;
};

/// "hopper" of the name of a GPU in Profile::Domain, "9.0"; "" where no generation of that name is known.
std::string gpu_generation(std::string_view name);

/// Whose word decides what runs: the library's own algorithm with the fastest of its protocols, or the fastest of all
/// where a tuner decides that nobody knows: the plugin's, or RCCL's, whose tables were made on the machines themselves.
NcclChoosing choosing_of(const StackParts& parts);

/// Which parts of a stack a figure is a property of, from the general to the particular: "gpu hopper",
/// "gpu hopper nvlink". Parts that are not known are left out.
std::vector<std::string> parts_of(const Figure& figure, const StackParts& parts);

/// Whether runs on a stack depend on the figure at all: none between nodes where there is one node.
bool matters(const Figure& figure, const StackParts& parts);

}  // namespace athanor
