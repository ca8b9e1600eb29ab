#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/units.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

/// The inside of a node written out device by device, for machines that the keys of a regular node cannot say: nested
/// PCIe switches, links of different rates, several NVSwitches. GPUs come first, NICs last, as NodeTemplate numbers
/// them; a GPU's or NIC's number is its place among its kind.
struct NodeGraph {
  struct Cable {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    Link link;  ///< each direction; without what a NIC adds when it forwards
  };
  std::vector<VertexKind> devices;
  std::vector<Cable> cables;

  std::uint32_t count(VertexKind kind) const;
};

/// What is wrong with it, one sentence each: no GPU, too many devices, an order that is not GPUs first and NICs last,
/// switches of the network inside, cables that begin or end nowhere. Empty: nothing.
std::vector<std::string> faults(const NodeGraph& graph);

/// The devices of one half, with half of the CPUs (of the GPUs, where there is one CPU or none): every device belongs
/// to the CPU that is fewest PCIe, C2C and socket links away, the first of equals; NVSwitches stay outside.
std::vector<std::uint32_t> first_half(const NodeGraph& graph);

}  // namespace athanor
