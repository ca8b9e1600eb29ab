#pragma once

#include <vector>

#include "models/profile.hpp"
#include "tools/calibrate/search.hpp"

namespace athanor {

/// A figure of a profile's "nccl" that tables may tell, with the bounds that healthy and sick stacks have kept.
struct StackParameter {
  FittedCost<Profile> cost;
  double prior = 1;  ///< where nothing is known: the middle of what was found on other stacks
};

/// All of them. Which of them a set of tables can tell is for the fit to find.
const std::vector<StackParameter>& stack_parameters();

}  // namespace athanor
