#pragma once

#include <exception>

#include "tools/cli/exit_code.hpp"

namespace athanor {

/// How a process ends that does not say why, where several do the same and one of them speaks: with the code of that
/// one. Null: only the one that writes has failed.
ExitCode silent_end(const std::exception_ptr& error);

}  // namespace athanor
