#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/workload/workload.hpp"

namespace athanor {

/// Whose text of layers.
enum class LayerFormat : std::uint8_t { astra, simai };

/// A text of layers, and what it cannot say.
struct LayerExport {
  std::string text;
  std::uint64_t layers = 0;
  std::vector<std::string> notes;
};

/// Writes a workload as the text of ASTRA-sim 1 or of SimAI: a line for each piece of computing between calls that are
/// waited for, times in whole nanoseconds. What comes before the first backward computation is forward, the rest
/// backward, whose last lines are carried out first; calls of data-parallel ranks that nothing but the optimizer waits
/// for are those of weight gradients, and what is computed behind the last of them is its update. Read back
/// (read_astra(), read_simai()), it is the same chain. Throws SimulationError("not-in-layers") for what such a text
/// cannot say: several workers (a pipeline), calls of other groups than these have (tensor-parallel ranks side by side,
/// data-parallel ones apart; experts with SimAI alone), of data-parallel ranks in forward, or of other kinds.
LayerExport write_layers(const Workload& workload, LayerFormat format);

}  // namespace athanor
