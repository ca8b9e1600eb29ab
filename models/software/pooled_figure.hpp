#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"

namespace athanor {

/// By how much one part of a stack changes a figure.
struct PartEffect {
  std::string part;  ///< "gpu hopper"
  double factor = 1;
  double spread = 0;  ///< standard deviation of the factor's logarithm, as far as measurements tell it
};

/// A figure over all stacks that were measured.
struct PooledFigure {
  double typical = 1;             ///< of a stack of parts that nothing is known of
  double spread = 0;              ///< standard deviation of its logarithm, as far as measurements tell it
  double part_spread = 0;         ///< of what an unknown part changes it by
  double stack_spread = 0;        ///< of what a stack differs by from others of the same parts
  std::vector<PartEffect> parts;  ///< that are known, each once
};

/// The parts of which figures of a pool know something, each once, in alphabetical order.
std::vector<std::string> known_parts(std::span<const PooledFigure> figures);

/// All but `typical`, whose unit the figure has.
void visit_spreads(Fields& fields, PooledFigure& pooled);

/// What is expected of a figure on a stack.
struct ExpectedFigure {
  double value = 1;   ///< in the figure's unit
  double spread = 0;  ///< standard deviation of the logarithm
};

/// Of a stack of these parts; `differs`: stacks of the same parts have different ones.
ExpectedFigure expected(const PooledFigure& pooled, const std::vector<std::string>& parts, bool differs);

}  // namespace athanor
