#pragma once

#include "tools/cli/command.hpp"

namespace athanor {

/// `athanor export fabric SCENARIO|PRESET`: one cluster as GraphML, a platform of SimGrid, a .topo of htsim, Graphviz
/// or JSON.
ExitCode export_fabric(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
