#pragma once

#include <vector>

#include "tools/calibrate/pool/pooled_model.hpp"

namespace athanor {

/// What each case of the tables was measured on: the machine of its scenario, the transport of its profile, after which
/// the stack is called, and the processes that the measurement names. Throws UsageError where a case has no NCCL, or
/// several nodes and no transport.
std::vector<StackCase> stack_cases(const Tables& tables);

/// Those of the tables that belong to a stack.
Tables tables_of_stack(const Tables& tables, const std::vector<StackCase>& cases, const std::string& stack);

}  // namespace athanor
