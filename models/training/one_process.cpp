#include "models/training/one_process.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// What a moment has beyond what is always there.
struct Moment {
  double gradients = 0;
  double activations = 0;
  double buffers = 0;

  double total() const { return gradients + activations + buffers; }
};

double all_kept(const OneProcessLoad& load) {
  double sum = 0;
  for (const LayerMemory& layer : load.layers) { sum += layer.kept; }
  return sum;
}

double all_gradients(const OneProcessLoad& load) {
  double sum = 0;
  for (const LayerMemory& layer : load.layers) { sum += layer.gradients; }
  return sum;
}

/// While each layer is in backward. `output_gradient`: on this GPU, while the last one is.
void add_backward(const OneProcessLoad& load, double output_gradient, std::vector<Moment>& moments) {
  Moment now{.gradients = 0, .activations = all_kept(load), .buffers = output_gradient};
  for (std::size_t layer = load.layers.size(); layer-- > 0;) {
    now.gradients += load.layers[layer].gradients;
    moments.push_back(now);
    now.activations -= load.layers[layer].kept;
    now.buffers = 0;
  }
}

MemoryUse fullest(MemoryUse always, const std::vector<Moment>& moments) {
  const auto less = [](const Moment& a, const Moment& b) { return a.total() < b.total(); };
  const Moment& most = *std::max_element(moments.begin(), moments.end(), less);
  always.gradients += most.gradients;
  always.activations += most.activations;
  always.buffers += most.buffers;
  return always;
}

}  // namespace

OneProcessMemory one_process_memory(const OneProcessLoad& load) {
  require(!load.layers.empty() && load.gpus >= 2, "{} layers on {} GPUs of one process", load.layers.size(), load.gpus);
  const double kept = all_kept(load);
  const double gradients = all_gradients(load);
  OneProcessMemory memory;
  std::vector<Moment> moments{{0, kept, load.output}, {0, kept, load.gpus * load.loss}, {2 * gradients, 0, 0}};
  add_backward(load, load.gpus * load.output_gradient, moments);
  memory.first = load.states;
  memory.first.buffers += load.buffers + load.inputs + load.targets + load.gpus * load.output;
  memory.first = fullest(memory.first, moments);
  moments = {{0, kept, load.output}};
  add_backward(load, load.output, moments);
  memory.others.parameters = load.states.parameters;
  memory.others.buffers = load.buffers + load.inputs;
  memory.others = fullest(memory.others, moments);
  return memory;
}

}  // namespace athanor
