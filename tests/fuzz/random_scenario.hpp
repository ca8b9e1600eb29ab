#pragma once

#include <string>

#include "tests/fuzz/draws.hpp"

namespace athanor::fuzz {

/// A small scenario that is valid, or refused for what its parts have to do with each other. `traces`: the folder of
/// those that are shipped.
Json random_scenario(RandomStream& random, const std::string& traces);

}  // namespace athanor::fuzz
