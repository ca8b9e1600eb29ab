#pragma once

#include <string>
#include <string_view>

#include "tools/import/fabric/node_draft.hpp"
#include "topologies/scenario/presets.hpp"

namespace athanor {

/// The hardware behind a matrix, which itself has no rates: names of presets, "" where the user names none.
struct MatrixHardware {
  std::string gpu;          ///< gives NVLink and PCIe
  std::string nic;          ///< gives the port
  std::string socket_link;  ///< between CPUs
};

/// The matrix of `nvidia-smi topo -m`, of any driver: devices in columns and rows, X on the diagonal, NV#, PIX, PXB,
/// PHB, NODE and SYS (SOC of old drivers), then columns of affinity. A machine that has these relations:
///  - PIX: devices below one PCIe switch; PXB: below switches that a further switch joins;
///  - PHB and NODE: on one CPU; SYS: on different CPUs, all of which are joined with each other;
///  - NV#: by cables between GPUs where a GPU has as many NVLinks as its row asks for; else, with one number in the
///    whole matrix, by one NVSwitch. What PCIe is like between such GPUs, their NICs and NUMA nodes tell; else nothing.
/// Problems: a matrix that is cut off, not symmetric or that contradicts itself; names of presets that are not there or
/// are needed and absent.
DraftPort import_nvidia_smi(std::string_view text, const MatrixHardware& hardware, const Presets& presets,
                            FabricDraft& draft);

}  // namespace athanor
