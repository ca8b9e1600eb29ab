#include "tests/models/layouts/moved_elements.hpp"

#include "sim/check.hpp"

namespace athanor::testing {

namespace {

std::vector<std::int64_t> place_of(std::int64_t index, const TensorShape& shape) {
  std::vector<std::int64_t> place(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    place[i] = index % shape[i];
    index /= shape[i];
  }
  return place;
}

std::int64_t index_of(const std::vector<std::int64_t>& place, const TensorShape& shape) {
  std::int64_t index = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) { index = index * shape[i] + place[i]; }
  return index;
}

/// The part-th of so many equal parts along a dimension.
HeldBlock part(const HeldBlock& whole, std::size_t dimension, std::int64_t parts, std::int64_t which) {
  HeldBlock result{whole.shape, {}};
  result.shape[dimension] /= parts;
  for (std::int64_t i = 0; i < elements(result.shape); ++i) {
    std::vector<std::int64_t> place = place_of(i, result.shape);
    place[dimension] += which * result.shape[dimension];
    result.elements.push_back(whole.elements[static_cast<std::size_t>(index_of(place, whole.shape))]);
  }
  return result;
}

HeldBlock joined(const std::vector<HeldBlock>& parts, std::size_t dimension) {
  HeldBlock result{parts.front().shape, {}};
  result.shape[dimension] *= static_cast<std::int64_t>(parts.size());
  for (std::int64_t i = 0; i < elements(result.shape); ++i) {
    std::vector<std::int64_t> place = place_of(i, result.shape);
    const HeldBlock& from = parts[static_cast<std::size_t>(place[dimension] / parts.front().shape[dimension])];
    place[dimension] %= from.shape[dimension];
    result.elements.push_back(from.elements[static_cast<std::size_t>(index_of(place, from.shape))]);
  }
  return result;
}

HeldBlock added(const std::vector<HeldBlock>& blocks) {
  HeldBlock sum = blocks.front();
  for (std::size_t b = 1; b < blocks.size(); ++b) {
    for (std::size_t i = 0; i < sum.elements.size(); ++i) {
      require(sum.elements[i].index == blocks[b].elements[i].index, "what is added is the same element");
      for (const std::uint32_t term : blocks[b].elements[i].terms) {
        require(sum.elements[i].terms.insert(term).second, "no term is added twice");
      }
    }
  }
  return sum;
}

/// The dimension that has fewer (`fewer`) or more axes behind the step.
std::size_t changed(const LayoutStep& step, bool fewer) {
  for (std::size_t i = 0; i < step.from.dimensions.size(); ++i) {
    const std::size_t before = step.from.dimensions[i].size();
    const std::size_t after = step.to.dimensions[i].size();
    if (fewer ? after < before : after > before) { return i; }
  }
  require(false, "the step changes a dimension");
  return 0;
}

/// What member number `own` of a group has after the step.
HeldBlock result_of(const LayoutStep& step, const std::vector<HeldBlock>& group, std::size_t own) {
  const auto count = static_cast<std::int64_t>(group.size());
  const auto which = static_cast<std::int64_t>(own);
  switch (step.kind) {
    case LayoutStepKind::slice: return part(group[own], changed(step, false), count, which);
    case LayoutStepKind::all_gather: return joined(group, changed(step, true));
    case LayoutStepKind::all_reduce: return added(group);
    case LayoutStepKind::reduce_scatter: return part(added(group), changed(step, false), count, which);
    case LayoutStepKind::all_to_all: {
      std::vector<HeldBlock> received;
      for (const HeldBlock& each : group) { received.push_back(part(each, changed(step, false), count, which)); }
      return joined(received, changed(step, true));
    }
    case LayoutStepKind::permute: break;
  }
  return group[own];
}

}  // namespace

std::vector<HeldBlock> held_in(const TensorLayout& layout, const TensorShape& shape, const MeshAxes& summed,
                               const DeviceMesh& mesh) {
  std::vector<HeldBlock> result;
  const TensorShape local = local_shape(layout, shape, mesh);
  for (std::uint32_t device = 0; device < mesh.devices(); ++device) {
    const std::vector<std::uint32_t> own = mesh.coordinates(device);
    std::set<std::uint32_t> terms;
    for (std::uint32_t other = 0; other < mesh.devices(); ++other) {
      const std::vector<std::uint32_t> there = mesh.coordinates(other);
      if (mesh.place(there, layout.partial) == mesh.place(own, layout.partial)) {
        terms.insert(mesh.place(there, summed));
      }
    }
    HeldBlock block{local, {}};
    for (std::int64_t i = 0; i < elements(local); ++i) {
      std::vector<std::int64_t> place = place_of(i, local);
      for (std::size_t d = 0; d < place.size(); ++d) { place[d] += mesh.place(own, layout.dimensions[d]) * local[d]; }
      block.elements.push_back({index_of(place, shape), terms});
    }
    result.push_back(std::move(block));
  }
  return result;
}

std::vector<HeldBlock> carried_out(const LayoutStep& step, const std::vector<HeldBlock>& held, const DeviceMesh& mesh) {
  std::vector<HeldBlock> result(held.size());
  if (step.kind == LayoutStepKind::permute) {
    const std::vector<std::uint32_t> from = senders(step.from, step.to, mesh);
    for (std::size_t device = 0; device < held.size(); ++device) { result[device] = held[from[device]]; }
    return result;
  }
  for (const std::vector<std::uint32_t>& group : mesh.groups(step.axes)) {
    std::vector<HeldBlock> blocks;
    for (const std::uint32_t device : group) { blocks.push_back(held[device]); }
    for (std::size_t i = 0; i < group.size(); ++i) { result[group[i]] = result_of(step, blocks, i); }
  }
  return result;
}

}  // namespace athanor::testing
