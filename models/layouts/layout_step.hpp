#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layouts/tensor_layout.hpp"
#include "sim/units.hpp"

namespace athanor {

enum class LayoutStepKind : std::uint8_t {
  slice,           ///< each device keeps its part of what it has: nothing is sent
  all_gather,      ///< the last axes of a dimension no longer shard it
  reduce_scatter,  ///< partial axes shard a dimension instead
  all_reduce,      ///< partial axes are none any longer
  all_to_all,      ///< the last axes of one dimension shard another instead
  permute,         ///< devices exchange what they have, each with one other
};
/// "slice", "all-gather", ...
std::string_view name(LayoutStepKind kind);

/// One collective, or slice, that takes a tensor from one layout to another.
struct LayoutStep {
  LayoutStepKind kind = LayoutStepKind::slice;
  MeshAxes axes{};  ///< whose devices form groups, major first; of a permutation: empty
  TensorLayout from;
  TensorLayout to;
  std::int64_t elements = 0;  ///< as Collective::count counts; of a permutation and a slice: what a device has then
};

/// All steps that lead on from a layout of a tensor. A collective takes several axes at once where they are the last of
/// a dimension, for blocks are contiguous then: to gather the major axis alone, the minor one has to be moved first.
/// Layouts that do not divide the shape are left out. Requires divides().
std::vector<LayoutStep> steps_from(const TensorLayout& layout, const TensorShape& shape, const DeviceMesh& mesh);

/// Of a permutation: by receiving device, who sends. Devices that keep what they have receive it from themselves; each
/// device sends to exactly one. Requires equally many blocks of each dimension, and the same partial axes.
std::vector<std::uint32_t> senders(const TensorLayout& from, const TensorLayout& to, const DeviceMesh& mesh);

}  // namespace athanor
