#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "models/layouts/layout_step.hpp"

namespace athanor::testing {

/// An element of a tensor as a device has it: which, and which terms of its sum. Terms are counted along the axes that
/// the tensor is partial over when the test begins.
struct HeldElement {
  std::int64_t index = 0;
  std::set<std::uint32_t> terms;
  bool operator==(const HeldElement&) const = default;
};

/// The elements of one device, in row-major order.
struct HeldBlock {
  TensorShape shape;
  std::vector<HeldElement> elements;
  bool operator==(const HeldBlock&) const = default;
};

/// What devices hold of a tensor in this layout. `summed`: axes whose terms the tensor is a sum of, of which those that
/// the layout is not partial over have been added up.
std::vector<HeldBlock> held_in(const TensorLayout& layout, const TensorShape& shape, const MeshAxes& summed,
                               const DeviceMesh& mesh);

/// Really carries a step out: blocks are cut, sent, joined and added. Requires that what is added is the same element,
/// and no term of it twice.
std::vector<HeldBlock> carried_out(const LayoutStep& step, const std::vector<HeldBlock>& held, const DeviceMesh& mesh);

}  // namespace athanor::testing
