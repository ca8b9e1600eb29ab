#pragma once

#include "tools/cli/command.hpp"

namespace athanor {

/// `athanor list topologies`: every kind of fabric with its default routing; with --verbose and --json also its keys,
/// closed forms and source.
ExitCode list_topologies(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
