#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/in_network/engine_limits.hpp"
#include "models/profile.hpp"

namespace athanor {

/// One kind of engine in the network, as public documents describe it.
struct InNetworkEngine {
  std::string name;     ///< "sharp_v2", ...: in scenarios
  std::string summary;  ///< one line
  EngineLimits limits;
  /// Does a job keep its streaming tree for itself? Else jobs take turns, operation by operation.
  bool exclusive = true;
  /// How its messages travel: costs of hops to and from engines, sizes, chunks. What the host's software costs is that
  /// of the profile.
  std::vector<Protocol> modes;
  std::string source;   ///< of the limits and costs
  std::string assumed;  ///< what no public document says; "": nothing
};

/// All engines, each defined in a file of its own under engines/.
std::span<const InNetworkEngine> engine_catalog();

/// Throws ScenarioError ("unknown-engine") with the nearest name and all names.
const InNetworkEngine& find_engine(std::string_view name);

}  // namespace athanor
