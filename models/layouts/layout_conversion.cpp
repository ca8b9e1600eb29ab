#include "models/layouts/layout_conversion.hpp"

#include <algorithm>
#include <set>

namespace athanor {

namespace {

bool is_plain(LayoutStepKind kind) {
  return kind == LayoutStepKind::slice || kind == LayoutStepKind::all_gather || kind == LayoutStepKind::all_reduce;
}

}  // namespace

bool LayoutConverter::fits(const TensorExtent& tensor, const TensorLayout& layout) const {
  return !most_bytes_ || Bytes{local_elements(layout, tensor.shape, mesh_) * tensor.element_bytes} <= *most_bytes_;
}

LayoutConverter::ReachedLayouts LayoutConverter::search(const TensorExtent& tensor, const TensorLayout& start,
                                                        bool plain) {
  using Place = std::tuple<Time, std::uint32_t, std::uint64_t>;
  ReachedLayouts reached{{start, {}}};
  std::map<Place, TensorLayout> open{{{Time::zero(), 0, 0}, start}};
  std::set<TensorLayout> settled;
  std::uint64_t order = 0;
  while (!open.empty()) {
    const TensorLayout layout = open.begin()->second;
    open.erase(open.begin());
    if (!settled.insert(layout).second) { continue; }
    const Reached here = reached.at(layout);
    if (layout != start && !fits(tensor, layout)) { continue; }
    for (LayoutStep& step : steps_from(layout, tensor.shape, mesh_)) {
      if (plain && !is_plain(step.kind)) { continue; }
      const bool is_free = step.kind == LayoutStepKind::slice;
      const Time took = is_free ? Time::zero() : price_(step, Bytes{step.elements * tensor.element_bytes});
      const Reached found{here.time + took, here.steps + 1, step, took};
      const auto old = reached.find(step.to);
      if (old != reached.end() && std::tie(old->second.time, old->second.steps) <= std::tie(found.time, found.steps)) {
        continue;
      }
      open.emplace(Place{found.time, found.steps, ++order}, step.to);
      reached.insert_or_assign(step.to, found);
    }
  }
  return reached;
}

std::optional<LayoutConversion> LayoutConverter::path(const ReachedLayouts& reached, const TensorLayout& to) {
  auto place = reached.find(to);
  if (place == reached.end()) { return std::nullopt; }
  LayoutConversion result{{}, {}, place->second.time};
  while (place->second.last) {
    result.steps.push_back(*place->second.last);
    result.times.push_back(place->second.last_time);
    place = reached.find(place->second.last->from);
  }
  std::reverse(result.steps.begin(), result.steps.end());
  std::reverse(result.times.begin(), result.times.end());
  return result;
}

const LayoutConverter::ReachedLayouts& LayoutConverter::from(const TensorExtent& tensor, const TensorLayout& start) {
  const std::pair key{tensor, start};
  const auto known = known_.find(key);
  if (known != known_.end()) { return known->second; }
  return known_.emplace(key, search(tensor, start, false)).first->second;
}

std::optional<LayoutConversion> LayoutConverter::find(const TensorExtent& tensor, const TensorLayout& from_layout,
                                                      const TensorLayout& to) {
  if (from_layout == to) { return LayoutConversion{}; }
  return path(from(tensor, from_layout), to);
}

std::optional<Time> LayoutConverter::time(const TensorExtent& tensor, const TensorLayout& from_layout,
                                          const TensorLayout& to) {
  if (from_layout == to) { return Time::zero(); }
  const ReachedLayouts& reached = from(tensor, from_layout);
  const auto place = reached.find(to);
  return place == reached.end() ? std::nullopt : std::optional(place->second.time);
}

std::optional<LayoutConversion> LayoutConverter::find_plain(const TensorExtent& tensor, const TensorLayout& from_layout,
                                                            const TensorLayout& to) {
  return path(search(tensor, from_layout, true), to);
}

}  // namespace athanor
