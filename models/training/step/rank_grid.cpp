#include "models/training/step/rank_grid.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/check.hpp"

namespace athanor {

namespace {

using Dimension = RankGrid::Dimension;

constexpr std::array<std::string_view, 5> kNames{"tp", "cp", "ep", "dp", "pp"};  // by Dimension

std::vector<Dimension> dimensions_of(std::string_view order) {
  std::vector<Dimension> dimensions;
  while (!order.empty()) {
    const std::size_t end = std::min(order.find('-'), order.size());
    const auto found = std::find(kNames.begin(), kNames.end(), order.substr(0, end));
    if (found == kNames.end()) { return {}; }
    dimensions.push_back(static_cast<Dimension>(found - kNames.begin()));
    order.remove_prefix(std::min(order.size(), end + 1));
  }
  return dimensions;
}

}  // namespace

bool is_rank_order(const std::string& order) {
  std::vector<Dimension> dimensions = dimensions_of(order);
  std::sort(dimensions.begin(), dimensions.end());
  return dimensions.size() == kNames.size() &&
         std::adjacent_find(dimensions.begin(), dimensions.end()) == dimensions.end();
}

RankGrid::RankGrid(std::vector<std::uint32_t> sizes, const std::string& order)
    : sizes_(std::move(sizes)), order_(dimensions_of(order)), strides_(sizes_.size()) {
  require(is_rank_order(order), "'{}' is no order of ranks", order);
  std::uint32_t stride = 1;
  for (const Dimension each : order_) {
    strides_[static_cast<std::size_t>(each)] = stride;
    stride *= size(each);
  }
}

RankGrid RankGrid::dense(const ParallelPlan& plan) {
  return {{plan.tensor, plan.context, 1, plan.data, plan.pipeline}, plan.order};
}

RankGrid RankGrid::expert(const ParallelPlan& plan) {
  const std::uint32_t stage = plan.tensor * plan.context * plan.data;
  require(stage % (plan.expert * plan.expert_tensor) == 0, "{} ranks of a stage for {} x {} of experts", stage,
          plan.expert, plan.expert_tensor);
  return {{plan.expert_tensor, 1, plan.expert, stage / (plan.expert * plan.expert_tensor), plan.pipeline}, plan.order};
}

std::uint32_t RankGrid::rank(const std::vector<std::uint32_t>& coordinates) const {
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) { rank += coordinates[i] * strides_[i]; }
  return rank;
}

/// Goes through all values of these coordinates, those that come first in the order fastest.
template <class See>
void RankGrid::for_each(const std::vector<Dimension>& dimensions, std::vector<std::uint32_t>& coordinates,
                        See see) const {
  std::vector<Dimension> varying;
  for (const Dimension each : order_) {
    if (std::count(dimensions.begin(), dimensions.end(), each) > 0) { varying.push_back(each); }
  }
  for (;;) {
    see();
    std::size_t at = 0;
    for (; at < varying.size(); ++at) {
      std::uint32_t& value = coordinates[static_cast<std::size_t>(varying[at])];
      if (++value < size(varying[at])) { break; }
      value = 0;
    }
    if (at == varying.size()) { return; }
  }
}

EndpointGroups RankGrid::groups(std::uint32_t stage, const std::vector<Dimension>& dimensions) const {
  std::vector<Dimension> others;
  for (const Dimension each : order_) {
    const bool varies = std::count(dimensions.begin(), dimensions.end(), each) > 0;
    if (!varies && each != Dimension::pipeline) { others.push_back(each); }
  }
  std::vector<std::uint32_t> coordinates(sizes_.size());
  coordinates[static_cast<std::size_t>(Dimension::pipeline)] = stage;
  EndpointGroups groups;
  for_each(others, coordinates, [&] {
    std::vector<std::uint32_t>& group = groups.emplace_back();
    for_each(dimensions, coordinates, [&] { group.push_back(rank(coordinates)); });
  });
  return groups;
}

EndpointGroups RankGrid::pairs(std::uint32_t from, std::uint32_t to) const {
  EndpointGroups pairs;
  std::vector<std::uint32_t> coordinates(sizes_.size());
  auto& stage = coordinates[static_cast<std::size_t>(Dimension::pipeline)];
  for_each({Dimension::tensor, Dimension::context, Dimension::expert, Dimension::data}, coordinates, [&] {
    stage = from;
    const std::uint32_t first = rank(coordinates);
    stage = to;
    pairs.push_back({first, rank(coordinates)});
  });
  return pairs;
}

}  // namespace athanor
