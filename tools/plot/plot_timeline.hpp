#pragma once

#include "tools/cli/command.hpp"

namespace athanor {

/// `athanor plot timeline TRACE.json`: draws what `run --trace` wrote of training or of a replayed trace.
ExitCode plot_timeline(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
