#pragma once

#include <vector>

#include "models/in_network/engines/engine.hpp"

namespace athanor {

struct Algorithm;

/// The engines that the switches of a network have, and what happens to who gets none of them.
struct NetworkEngines {
  InNetworkEngine engine;
  /// What runs in place of an algorithm whose engines cannot be had; empty: nothing does, and the run fails.
  std::vector<const Algorithm*> fallback;
};

}  // namespace athanor
