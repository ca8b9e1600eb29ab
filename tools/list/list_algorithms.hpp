#pragma once

#include "tools/cli/command.hpp"

namespace athanor {

/// Of `athanor list algorithms` alone: --collective, --ranks, --size.
boost::program_options::options_description list_algorithms_options();

/// The catalog, or what it has for one collective, with what each algorithm costs over some ranks at some size; with
/// --verbose also what is known about it. Throws UsageError.
ExitCode list_algorithms(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
