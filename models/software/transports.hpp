#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace athanor {

/// What carries messages of NCCL and RCCL between nodes: NICs with the plugin that drives them.
struct Transport {
  std::string_view name;     ///< "ib"
  std::string_view meaning;  ///< one line for lists
  bool tunes = false;        ///< the plugin brings a tuner of its own, which decides in NCCL's place
};
const std::vector<Transport>& transports();
std::vector<std::string> transport_names();

}  // namespace athanor
