#pragma once

#include "tools/cli/command.hpp"

namespace athanor {

/// `athanor plot topology SCENARIO|PRESET`: draws the cluster.
ExitCode plot_topology(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
