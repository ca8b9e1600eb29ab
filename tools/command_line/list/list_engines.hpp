#pragma once

#include "tools/command_line/command.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/streams.hpp"

namespace athanor {

/// The engines of networks with their limits; with --verbose also their costs, sources and what is assumed.
ExitCode list_engines(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
