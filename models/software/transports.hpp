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
  std::string_view also{};   ///< of NICs of this other usual transport it may carry messages as well; "": of none
};
const std::vector<Transport>& transports();
std::vector<std::string> transport_names();

/// What carries messages where nobody says it: the one of this preset of NICs ("": not known), else NCCL's own.
std::string_view usual_transport(std::string_view nic, bool infiniband);

/// Whether it may be what carries messages of NICs with that usual transport.
bool may_drive(std::string_view transport, std::string_view usual);

}  // namespace athanor
