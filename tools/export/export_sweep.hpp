#pragma once

#include "tools/cli/command.hpp"

namespace athanor {

/// `athanor export sweep FILE`: what a sweep found so far, for spreadsheets and programs. Needs neither the scenario
/// nor the athanor of the same version.
ExitCode export_sweep(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
