#pragma once

#include <vector>

#include "sim/error.hpp"
#include "tools/cli/exit_code.hpp"

namespace athanor {

/// What an exception means to users.
struct Failure {
  ExitCode code = ExitCode::simulation_failed;
  std::vector<Problem> problems;  ///< at least one
};

/// Of the exception that is being handled: user errors as they are, lack of memory, and defects of athanor itself.
/// Throws on what is none of these. Requires to be called within a catch block.
Failure current_failure();

}  // namespace athanor
