#pragma once

#include <string>
#include <string_view>

#include "tools/import/fabric/node_draft.hpp"

namespace athanor {

/// A machine as NCCL writes it with NCCL_TOPO_DUMP_FILE: CPUs, nested PCIe switches, GPUs in the order of their device
/// numbers, NICs in the order of theirs, one NVSwitch for all. Branches without a GPU or NIC are left out, as NCCL
/// does, and so are NICs slower than the fastest, with a note. Rates: models/nccl/machine/link_rates.hpp. The draft
/// gets the identity of the first GPU and CPU.
///
/// Problems: malformed XML, several hosts in one file, no GPU, devices that come twice, NVLinks to nowhere or that the
/// other GPU does not have, GPUs and CPUs without a known rate.
/// Returns the port of the NICs.
DraftPort import_nccl_xml(std::string_view text, const std::string& file, FabricDraft& draft);

}  // namespace athanor
