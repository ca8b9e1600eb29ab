#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace athanor {

struct Transformer;
struct ParallelPlan;

/// Matrices that adapters may stand beside, by what comes out of them.
enum class LoraTarget : std::uint8_t { query, key, value, output, gate, up, down };

/// Matrices of one shape, as one GPU holds them.
struct LayerMatrix {
  double in = 0;
  double out = 0;
  double count = 1;      ///< not always whole: a share of several ranks
  bool experts = false;  ///< of routed experts, whose data-parallel ranks are others
  bool table = false;    ///< embedding, output, router: what Muon leaves to Adam
  std::optional<LoraTarget> target = {};

  double elements() const { return count * in * out; }
};

/// All matrices of a layer but the router's: queries, keys and values each by themselves, gate and up, too. From
/// model.layers on: of layers of further tokens. What they hold beside biases, norms and routers is layer_share().
std::vector<LayerMatrix> layer_matrices(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);

/// Embedding or output.
LayerMatrix vocabulary_matrix(const Transformer& model, const ParallelPlan& plan);

}  // namespace athanor
