#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/time.hpp"

namespace athanor {

/// How long a stage takes for layers [first, first + count) of a model.
using StageCost = std::function<Time(std::uint32_t stage, std::uint32_t first, std::uint32_t count)>;

/// Of each stage, its number of layers, at least one and at most `most[stage]`, so that the slowest stage is as fast as
/// can be; of such splits one of the least sum over stages; of these the one with most layers on early stages. Exact,
/// by dynamic programming over stages and layers. Empty: `most` leaves no room. Requires `most` of every stage, and
/// costs that do not fall with `count`.
std::vector<std::uint32_t> balanced_layers(std::uint32_t layers, const std::vector<std::uint32_t>& most,
                                           const StageCost& cost);

/// A copy of the model, whose pipeline takes fill + (n - 1) pace for n micro-batches.
struct CopyPace {
  Time fill;
  Time pace;
};

/// Of each copy, how many of `micro_batches` it gets, at least one, so that the slowest copy is as fast as can be. Each
/// further one goes to the copy that is then done first (of equal ones the first), which is exact: times grow with
/// every micro-batch, and a split with a smaller maximum would have to take one from a copy that had been done later
/// without it. Requires at least as many as copies.
std::vector<std::uint32_t> balanced_batch(std::uint32_t micro_batches, const std::vector<CopyPace>& copies);

}  // namespace athanor
