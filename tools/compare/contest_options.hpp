#pragma once

#include "tools/cli/command.hpp"
#include "tools/compare/contest.hpp"

namespace athanor {

/// --by, --base, --figure and --pareto, beside what simulations take.
boost::program_options::options_description contest_options();

/// What they ask for; empty where they are absent.
ContestRequest contest_request(const Invocation& invocation);

}  // namespace athanor
