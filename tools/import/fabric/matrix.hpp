#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/import/fabric/draft.hpp"

namespace athanor {

/// How two devices of a machine are joined, nearest first.
enum class Nearness : std::uint8_t { self, pix, pxb, phb, node, sys, nvlink };

/// "PIX", ...; "NV" for NVLinks.
std::string_view name(Nearness nearness);

/// The matrix of `nvidia-smi topo -m`.
struct TopologyMatrix {
  struct Cell {
    Nearness nearness = Nearness::self;
    std::uint32_t nvlinks = 0;
  };
  struct Device {
    std::string label;     ///< "GPU0", "NIC0", "mlx5_0"
    std::string name;      ///< of the legend, where it has one: "mlx5_0" for NIC0
    std::string affinity;  ///< NUMA node as it is written, else the CPUs; "" where the row has none
    bool gpu = false;
    int line = 0;
    std::vector<Cell> row;
  };
  std::vector<Device> devices;
  int line = 1;  ///< of the header
};

/// Reads it; what is wrong is a problem of the draft: no header, rows that are cut off, missing or come twice, words
/// that are no relation, two halves that differ.
TopologyMatrix read_matrix(std::string_view text, FabricDraft& draft);

}  // namespace athanor
