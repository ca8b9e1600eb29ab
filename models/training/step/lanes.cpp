#include "models/training/step/lanes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "models/training/step/rank_grid.hpp"
#include "sim/check.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using Kinds = std::vector<std::uint32_t>;  ///< by stage

/// Ranks of one copy, by column and stage.
std::vector<Kinds> ranks_of_copy(const ParallelPlan& plan, const RankGrid& grid, std::uint32_t copy) {
  std::vector<Kinds> columns;
  for (std::uint32_t context = 0; context < plan.context; ++context) {
    for (std::uint32_t tensor = 0; tensor < plan.tensor; ++tensor) {
      Kinds& column = columns.emplace_back();
      for (std::uint32_t stage = 0; stage < plan.pipeline; ++stage) {
        column.push_back(grid.rank({tensor, context, 0, copy, stage}));
      }
    }
  }
  return columns;
}

bool all_alike(const ParallelPlan& plan, const std::vector<std::uint32_t>& kind_of_rank) {
  const auto equal = [](const std::vector<std::uint32_t>& list, std::size_t count) {
    return std::all_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](std::uint32_t each) { return each == list.front(); });
  };
  return (kind_of_rank.empty() || equal(kind_of_rank, plan.ranks())) &&
         equal(plan.mixed.micro_batches, plan.mixed.micro_batches.size());
}

/// "copies 0 to 3", "copies 0, 2, 4 and 13 more".
std::string name_of(const std::vector<std::uint32_t>& copies) {
  if (copies.size() == 1) { return fmt::format("copy {}", copies.front()); }
  if (copies.back() - copies.front() + 1 == copies.size()) {
    return fmt::format("copies {} to {}", copies.front(), copies.back());
  }
  std::vector<std::string> words;
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < std::min(copies.size(), kMost); ++i) { words.push_back(fmt::format("{}", copies[i])); }
  if (copies.size() > kMost) { words.push_back(fmt::format("{} more", copies.size() - kMost)); }
  return fmt::format("copies {}", joined(words, " and "));
}

}  // namespace

/// What of a copy decides what its ranks do.
struct StepLanes::CopyTraits {
  std::uint32_t micro_batches = 0;
  std::vector<Kinds> columns;  ///< by tensor and context rank
  auto operator<=>(const CopyTraits&) const = default;
  bool alike() const {
    return std::all_of(columns.begin(), columns.end(), [&](const Kinds& each) { return each == columns.front(); });
  }
};

StepLanes::StepLanes(const ParallelPlan& plan, const std::vector<std::uint32_t>& kind_of_rank) {
  const std::vector<std::uint32_t>& own = plan.mixed.micro_batches;
  require(own.empty() || own.size() == plan.data, "micro-batches of {} copies, of {}", own.size(), plan.data);
  if (all_alike(plan, kind_of_rank)) {
    all_ = {{Kinds(plan.pipeline, kind_of_rank.empty() ? 0 : kind_of_rank.front()), plan.micro_batches(),
             plan.ranks() / plan.pipeline, ""}};
    return;
  }
  const RankGrid grid = RankGrid::dense(plan);
  of_rank_.resize(plan.ranks());
  std::map<CopyTraits, std::vector<std::uint32_t>> classes;
  for (std::uint32_t copy = 0; copy < plan.data; ++copy) {
    std::vector<Kinds> columns = ranks_of_copy(plan, grid, copy);
    for (Kinds& column : columns) {
      for (std::uint32_t& rank : column) { rank = kind_of_rank.empty() ? 0 : kind_of_rank.at(rank); }
    }
    classes[{own.empty() ? plan.micro_batches() : own[copy], std::move(columns)}].push_back(copy);
  }
  for (const auto& [traits, copies] : classes) {
    const std::vector<std::uint32_t> of_column = add_class(plan, traits, copies);
    for (const std::uint32_t copy : copies) {
      const std::vector<Kinds> ranks = ranks_of_copy(plan, grid, copy);
      for (std::size_t column = 0; column < ranks.size(); ++column) {
        for (const std::uint32_t rank : ranks[column]) { of_rank_[rank] = of_column[column]; }
      }
    }
  }
}

std::vector<std::uint32_t> StepLanes::add_class(const ParallelPlan& plan, const CopyTraits& traits,
                                                const std::vector<std::uint32_t>& copies) {
  std::map<std::pair<Kinds, std::size_t>, std::uint32_t> numbers;
  std::vector<std::uint32_t> of_column;
  for (std::size_t column = 0; column < traits.columns.size(); ++column) {
    const std::size_t apart = plan.context == 1 || traits.alike() ? 0 : column;
    const auto [found, fresh] =
        numbers.try_emplace({traits.columns[column], apart}, static_cast<std::uint32_t>(all_.size()));
    if (fresh) {
      const std::string part = traits.alike() ? "" : fmt::format(", part {}", numbers.size() - 1);
      all_.push_back({traits.columns[column], traits.micro_batches, 0, name_of(copies) + part});
    }
    all_[found->second].ranks += static_cast<std::uint32_t>(copies.size());
    of_column.push_back(found->second);
  }
  return of_column;
}

std::vector<StepLanes::Part> StepLanes::parts_of(EndpointGroups groups) const {
  if (all_.size() == 1) { return {{{0}, std::move(groups)}}; }
  std::vector<std::uint32_t> root(all_.size());  // the least lane that each has met
  std::iota(root.begin(), root.end(), 0U);
  const auto find = [&](std::uint32_t lane) {
    while (root[lane] != lane) { lane = root[lane]; }
    return lane;
  };
  std::vector<bool> present(all_.size());
  for (const std::vector<std::uint32_t>& group : groups) {
    for (const std::uint32_t rank : group) {
      const auto [least, most] = std::minmax({find(of(group.front())), find(of(rank))});
      root[most] = least;
      present[of(rank)] = true;
    }
  }
  std::map<std::uint32_t, Part> parts;
  for (std::uint32_t lane = 0; lane < all_.size(); ++lane) {
    if (present[lane]) { parts[find(lane)].lanes.push_back(lane); }
  }
  for (std::vector<std::uint32_t>& group : groups) {
    Part& part = parts[find(of(group.front()))];
    part.groups.push_back(std::move(group));
  }
  std::vector<Part> list;
  for (auto& [first, part] : parts) { list.push_back(std::move(part)); }
  return list;
}

EndpointGroups StepLanes::of_lane(std::uint32_t lane, EndpointGroups pairs) const {
  if (all_.size() > 1) {
    std::erase_if(pairs, [&](const std::vector<std::uint32_t>& pair) { return of(pair.front()) != lane; });
  }
  return pairs;
}

}  // namespace athanor
