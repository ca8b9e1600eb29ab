#pragma once

#include "tools/cli/command.hpp"
#include "tools/cli/exit_code.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

/// The engines of networks with their limits; with --verbose also their costs, sources and what is assumed.
ExitCode list_engines(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
