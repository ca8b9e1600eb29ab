#include "models/jobs/schedulers/gpus_ahead.hpp"

#include <algorithm>

#include "models/jobs/later.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

std::uint64_t milli_of(const Demand& demand) {
  return std::uint64_t{demand.gpus} * Inventory::kWhole + demand.gpu_milli;
}

}  // namespace

GpusAhead::GpusAhead(const ClusterState& state) : inventory_(state.inventory()) {
  const NodeList& nodes = inventory_.nodes();
  Milli free(std::max<std::size_t>(nodes.gpu_types.size(), 1));
  if (free.size() == 1) {
    free.front() = std::uint64_t{inventory_.free_gpus()} * Inventory::kWhole;
  } else {
    for (const NodeId node : nodes.nodes.ids()) {
      if (!inventory_.is_open(node)) { continue; }
      free[nodes.nodes[node].gpu_type] += std::uint64_t{inventory_.free_gpus(node).count()} * Inventory::kWhole;
    }
  }
  steps_.push_back({state.now(), std::move(free)});
  for (const auto& [end, job] : state.expected_ends()) {
    if (end == WallTime::max()) { break; }
    if (end > steps_.back().from) { steps_.push_back({end, steps_.back().free}); }
    for (const NodeShare& share : state.running(job).where) {
      const Demand& each = state.jobs().shape(job)[share.group].each;
      if (!inventory_.is_open(share.node)) { continue; }
      steps_.back().free[nodes.nodes[share.node].gpu_type] += share.tasks * milli_of(each);
    }
  }
}

GpusAhead::Milli GpusAhead::least(std::size_t step, WallTime end) const {
  Milli least = steps_[step].free;
  for (std::size_t i = step + 1; i < steps_.size() && steps_[i].from < end; ++i) {
    for (std::size_t type = 0; type < least.size(); ++type) {
      least[type] = std::min(least[type], steps_[i].free[type]);
    }
  }
  return least;
}

GpusAhead::Milli GpusAhead::share(const Shape& shape, Milli free) const {
  Milli taken(free.size());
  for (const TaskGroup& group : shape) {
    std::uint64_t left = group.tasks * milli_of(group.each);
    for (const std::uint16_t type : inventory_.types(group.each.gpu_types)) {
      const std::uint64_t part = std::min(left, free[type]);
      free[type] -= part;
      taken[type] += part;
      left -= part;
    }
    if (left > 0) { return {}; }
  }
  return taken;
}

WallTime GpusAhead::next_step(WallTime time) const {
  const auto next =
      std::upper_bound(steps_.begin(), steps_.end(), time, [](WallTime t, const Step& step) { return t < step.from; });
  return next == steps_.end() ? WallTime::max() : next->from;
}

WallTime GpusAhead::earliest(const Shape& shape, WallTime span, WallTime from) const {
  if (from == WallTime::max()) { return from; }
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    if (step + 1 < steps_.size() && steps_[step + 1].from <= from) { continue; }
    if (share(shape, steps_[step].free).empty()) { continue; }
    const WallTime begin = std::max(steps_[step].from, from);
    if (!share(shape, least(step, later(begin, span))).empty()) { return begin; }
  }
  return WallTime::max();
}

std::size_t GpusAhead::step_at(WallTime time) {
  const auto next =
      std::upper_bound(steps_.begin(), steps_.end(), time, [](WallTime t, const Step& step) { return t < step.from; });
  require(next != steps_.begin(), "nothing is known of the time before the profile begins");
  if ((next - 1)->from == time) { return static_cast<std::size_t>(next - 1 - steps_.begin()); }
  const Step split{time, (next - 1)->free};
  const auto index = static_cast<std::size_t>(next - steps_.begin());
  steps_.insert(next, split);
  return index;
}

void GpusAhead::reserve(const Shape& shape, WallTime from, WallTime span) {
  const WallTime end = later(from, span);
  const std::size_t first = step_at(from);
  const std::size_t last = end == WallTime::max() ? steps_.size() : step_at(end);
  const Milli taken = share(shape, least(first, end));
  require(!taken.empty(), "what is reserved is not free");
  for (std::size_t step = first; step < last; ++step) {
    for (std::size_t type = 0; type < taken.size(); ++type) { steps_[step].free[type] -= taken[type]; }
  }
}

}  // namespace athanor
