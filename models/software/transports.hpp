#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace athanor {

/// What carries messages of NCCL and RCCL between nodes: NICs with the plugin that drives them.
struct Transport {
  std::string_view name;     ///< "ib"
  std::string_view meaning;  ///< one line for lists
  std::string_view nics{};   ///< how presets of NICs are called that it is of alone: "EFA"; "": of no NIC alone
  bool tunes = false;        ///< the plugin brings a tuner of its own, which decides in NCCL's place
};
const std::vector<Transport>& transports();
std::vector<std::string> transport_names();

/// What carries messages where nobody says it: the one of this preset of NICs ("": not known), else NCCL's own.
std::string_view usual_transport(std::string_view nic, bool infiniband);

/// Whether NICs whose usual transport is the one may be driven by the other as well: Ethernet by any plugin for it, EFA
/// with and without GPUDirect. NCCL's own is one for InfiniBand and RoCE.
bool may_drive(std::string_view transport, std::string_view usual);

}  // namespace athanor
