#pragma once

#include <cstdint>
#include <vector>

#include "models/software/profile.hpp"
#include "tools/calibrate/search.hpp"

namespace athanor {

/// Figures that sizes tell together: what a call costs once, what each protocol costs, what links carry.
enum class FigureGroup : std::uint8_t { links, call, ll, ll128, simple };

/// A figure of a profile's "nccl" that tables may tell, with the bounds that healthy and sick stacks have kept.
struct StackParameter {
  FittedCost<Profile> cost;
  FigureGroup group = FigureGroup::call;
  double pull = 0.1;  ///< towards what the search began with: the square root of the loss that an e-fold adds
};

/// All of them. Which of them a set of tables can tell is for the fit to find.
const std::vector<StackParameter>& stack_parameters();

}  // namespace athanor
