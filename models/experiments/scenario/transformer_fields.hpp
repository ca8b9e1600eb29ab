#pragma once

#include "models/training/architecture.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// A model's own fields, over what `model` holds already: a transformer's ("layers" is a number), which then override,
/// or a list of plain layers. `from_nothing`: there is no model yet, so that what has no default must be there.
void read_architecture(Fields& fields, bool from_nothing, TrainedModel& model);

}  // namespace athanor
