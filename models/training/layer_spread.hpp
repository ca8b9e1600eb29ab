#pragma once

#include <cstdint>
#include <vector>

#include "models/training/architecture.hpp"

namespace athanor {

/// Of a transformer, or of a list.
std::uint32_t layers_of(const TrainedModel& model);

/// Places of a pipeline that have something to do: of a transformer two more than layers, since embedding and output
/// may have a place of their own.
std::uint32_t most_places(const TrainedModel& model);

/// How many layers each place of the model has. Where places do not divide them, places in the middle have one more:
/// the first and the last have embedding and output to do, too. Requires one place or more, and no more than two of
/// them, the first and the last, without a layer.
std::vector<std::uint32_t> layers_of_places(std::uint32_t layers, std::uint32_t places);

/// Whether layers_of_places() gives every place as many, where embedding and output may count as a layer each.
bool spreads_evenly(const TrainedModel& model, std::uint32_t places);

}  // namespace athanor
