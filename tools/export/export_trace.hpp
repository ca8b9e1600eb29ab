#pragma once

#include "tools/cli/command.hpp"

namespace athanor {

/// `athanor export trace FILE|PATTERN`: a trace of any format that is read, as Athanor's own JSON.
ExitCode export_trace(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
