#pragma once

#include "tools/command_line/command.hpp"

namespace athanor {

/// `athanor plot topology SCENARIO|PRESET`: draws the cluster.
ExitCode plot_topology(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
