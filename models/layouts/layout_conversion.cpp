#include "models/layouts/layout_conversion.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace athanor {

namespace {

bool is_plain(LayoutStepKind kind) {
  return kind == LayoutStepKind::slice || kind == LayoutStepKind::all_gather || kind == LayoutStepKind::all_reduce;
}

}  // namespace

std::uint32_t LayoutConverter::Space::number(const TensorLayout& layout) {
  const auto [place, is_new] = numbers.emplace(layout, static_cast<std::uint32_t>(layouts.size()));
  if (is_new) {
    layouts.push_back(layout);
    steps.emplace_back();
    has_steps.push_back(false);
  }
  return place->second;
}

bool LayoutConverter::fits(const TensorExtent& tensor, const TensorLayout& layout) const {
  return !most_bytes_ || Bytes{local_elements(layout, tensor.shape, mesh_) * tensor.element_bytes} <= *most_bytes_;
}

const std::vector<LayoutConverter::PricedStep>& LayoutConverter::steps(const TensorExtent& tensor, Space& space,
                                                                       std::uint32_t from) {
  if (space.has_steps[from]) { return space.steps[from]; }
  std::vector<PricedStep> priced;
  const TensorLayout layout = space.layouts[from];
  for (LayoutStep& step : steps_from(layout, tensor.shape, mesh_)) {
    const bool is_free = step.kind == LayoutStepKind::slice;
    const Time time = is_free ? Time::zero() : price_(step, Bytes{step.elements * tensor.element_bytes});
    const std::uint32_t to = space.number(step.to);
    priced.push_back({std::move(step), to, time});
  }
  space.steps[from] = std::move(priced);
  space.has_steps[from] = true;
  return space.steps[from];
}

LayoutConverter::ReachedLayouts LayoutConverter::search(const TensorExtent& tensor, Space& space, std::uint32_t start,
                                                        bool plain) {
  using Place = std::tuple<Time, std::uint32_t, std::uint64_t, std::uint32_t>;  // time, steps, order, layout
  ReachedLayouts reached(space.layouts.size());
  std::set<Place> open{{Time::zero(), 0, 0, start}};
  std::vector<bool> settled(space.layouts.size());
  reached[start].time = Time::zero();
  std::uint64_t order = 0;
  while (!open.empty()) {
    const std::uint32_t here = std::get<3>(*open.begin());
    open.erase(open.begin());
    if (settled[here]) { continue; }
    settled[here] = true;
    if (here != start && !fits(tensor, space.layouts[here])) { continue; }
    const std::vector<PricedStep>& next = steps(tensor, space, here);
    reached.resize(space.layouts.size());
    settled.resize(space.layouts.size());
    for (const PricedStep& each : next) {
      if (plain && !is_plain(each.step.kind)) { continue; }
      const Reached found{reached[here].time + each.time, reached[here].steps + 1, &each, here};
      Reached& old = reached[each.to];
      if (std::tie(old.time, old.steps) <= std::tie(found.time, found.steps)) { continue; }
      open.emplace(found.time, found.steps, ++order, each.to);
      old = found;
    }
  }
  return reached;
}

std::optional<LayoutConversion> LayoutConverter::path(const ReachedLayouts& reached, std::uint32_t to) {
  if (to >= reached.size() || reached[to].time == Time::max()) { return std::nullopt; }
  LayoutConversion result{{}, {}, reached[to].time};
  while (reached[to].last != nullptr) {
    result.steps.push_back(reached[to].last->step);
    result.times.push_back(reached[to].last->time);
    to = reached[to].before;
  }
  std::reverse(result.steps.begin(), result.steps.end());
  std::reverse(result.times.begin(), result.times.end());
  return result;
}

const LayoutConverter::ReachedLayouts& LayoutConverter::from(const TensorExtent& tensor, Space& space,
                                                             std::uint32_t start) {
  const auto known = space.reached.find(start);
  if (known != space.reached.end()) { return known->second; }
  return space.reached.emplace(start, search(tensor, space, start, false)).first->second;
}

std::optional<LayoutConversion> LayoutConverter::find(const TensorExtent& tensor, const TensorLayout& from_layout,
                                                      const TensorLayout& to) {
  if (from_layout == to) { return LayoutConversion{}; }
  Space& all = space(tensor);
  const std::uint32_t start = all.number(from_layout);
  const ReachedLayouts& reached = from(tensor, all, start);
  return path(reached, all.number(to));
}

std::optional<Time> LayoutConverter::time(const TensorExtent& tensor, const TensorLayout& from_layout,
                                          const TensorLayout& to) {
  if (from_layout == to) { return Time::zero(); }
  Space& all = space(tensor);
  const std::uint32_t start = all.number(from_layout);
  const ReachedLayouts& reached = from(tensor, all, start);
  const std::uint32_t end = all.number(to);
  if (end >= reached.size() || reached[end].time == Time::max()) { return std::nullopt; }
  return reached[end].time;
}

std::optional<LayoutConversion> LayoutConverter::find_plain(const TensorExtent& tensor, const TensorLayout& from_layout,
                                                            const TensorLayout& to) {
  Space& all = space(tensor);
  const std::uint32_t start = all.number(from_layout);
  const ReachedLayouts reached = search(tensor, all, start, true);
  return path(reached, all.number(to));
}

}  // namespace athanor
