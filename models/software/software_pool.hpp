#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/software/prediction_error.hpp"
#include "models/software/stack_parts.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// By how much one part of a stack changes a figure.
struct PartEffect {
  std::string part;  ///< one of parts_of
  double factor = 1;
  double spread = 0;  ///< standard deviation of the factor's logarithm, as far as tables tell it
};

/// A figure over all stacks that were measured.
struct PooledFigure {
  double typical = 1;             ///< in Figure's unit: of a stack of parts that nothing is known of
  double spread = 0;              ///< standard deviation of its logarithm, as far as tables tell it
  double part_spread = 0;         ///< of what an unknown part changes it by
  double stack_spread = 0;        ///< of what a stack differs by from others of the same parts
  std::vector<PartEffect> parts;  ///< that are known, each once
};

/// What all measured stacks together tell of the figures of one that was not measured: `athanor calibrate --backend
/// pool` makes it.
struct SoftwarePool {
  std::string name;
  std::string description;
  std::string source;
  std::vector<PooledFigure> figures;    ///< in the order of figures()
  std::vector<PredictionError> errors;  ///< of what it and its stacks' own fits predict; empty: nothing was held out
};

void visit(Fields& fields, SoftwarePool& pool);

/// What is expected of a figure on a stack.
struct ExpectedFigure {
  double value = 1;   ///< in Figure's unit; within its bounds
  double spread = 0;  ///< standard deviation of the logarithm
};
ExpectedFigure expected(const PooledFigure& pooled, const Figure& figure, const StackParts& parts);

/// NCCL or RCCL of these parts, without any figure.
Profile blank_profile(const StackParts& parts);

/// The profile of a stack of these parts with the figures that are expected; its version of the library is the default.
Profile pooled_profile(const SoftwarePool& pool, const StackParts& parts);

}  // namespace athanor
