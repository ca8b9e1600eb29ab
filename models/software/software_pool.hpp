#pragma once

#include <string>
#include <vector>

#include "models/software/pooled_figure.hpp"
#include "models/software/prediction_error.hpp"
#include "models/software/stack_parts.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

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

/// Within the figure's bounds.
ExpectedFigure expected(const PooledFigure& pooled, const Figure& figure, const StackParts& parts);

/// NCCL or RCCL of these parts, without any figure.
Profile blank_profile(const StackParts& parts);

/// The profile of a stack of these parts with the figures that are expected; its version of the library is the default.
Profile pooled_profile(const SoftwarePool& pool, const StackParts& parts);

}  // namespace athanor
