#include "models/training/layer_spread.hpp"

#include "sim/check.hpp"

namespace athanor {

std::uint32_t layers_of(const TrainedModel& model) {
  return model.transformer ? model.transformer->layers : static_cast<std::uint32_t>(model.layers.size());
}

std::uint32_t most_places(const TrainedModel& model) { return layers_of(model) + (model.transformer ? 2 : 0); }

std::vector<std::uint32_t> layers_of_places(std::uint32_t layers, std::uint32_t places) {
  require(places >= 1 && layers >= 1 && layers + 2 >= places, "{} layers at {} places", layers, places);
  std::vector<std::uint32_t> counts(places, layers / places);
  const std::uint32_t more = layers % places;
  const std::uint32_t first = (places - more) / 2;
  for (std::uint32_t i = 0; i < more; ++i) { ++counts[first + i]; }
  return counts;
}

bool spreads_evenly(const TrainedModel& model, std::uint32_t places) {
  const std::uint32_t layers = layers_of(model);
  for (std::uint32_t counted = layers; counted <= most_places(model); ++counted) {
    if (counted % places == 0) { return true; }
  }
  return false;
}

}  // namespace athanor
