#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/cli/command.hpp"
#include "tools/numerics/comparison.hpp"

namespace athanor {

/// Of `athanor numerics`.
boost::program_options::options_description numerics_options();

/// What is added up. Throws UsageError, also where the inputs would not fit into memory.
NumericsRequest numerics_request(const Invocation& invocation);

/// In which ways: every algorithm that was asked for, those with engines in every arithmetic that was. `note` is told
/// which algorithms "all" leaves out and why. Throws UsageError for an arithmetic that the type does not have or that
/// nobody would use, ScenarioError for an algorithm that is unknown or does not fit though it was named.
std::vector<NumericsSubject> numerics_subjects(const Invocation& invocation, const NumericsRequest& request,
                                               const std::function<void(const std::string&)>& note);

}  // namespace athanor
