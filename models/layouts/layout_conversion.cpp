#include "models/layouts/layout_conversion.hpp"

#include <algorithm>

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
    edges.emplace_back();
    has_edges.push_back(false);
  }
  return place->second;
}

bool LayoutConverter::fits(const TensorExtent& tensor, const TensorLayout& layout) const {
  return !most_bytes_ || Bytes{local_elements(layout, tensor.shape, mesh_) * tensor.element_bytes} <= *most_bytes_;
}

std::vector<LayoutConverter::Edge>& LayoutConverter::edges(const TensorExtent& tensor, Space& space,
                                                           std::uint32_t from) {
  if (space.has_edges[from]) { return space.edges[from]; }
  std::vector<Edge> found;
  const TensorLayout layout = space.layouts[from];
  for (LayoutStep& step : steps_from(layout, tensor.shape, mesh_)) {
    const bool is_free = step.kind == LayoutStepKind::slice;
    const Bytes size{step.elements * tensor.element_bytes};
    Edge edge{{}, space.number(step.to), is_free || !bound_ ? Time::zero() : bound_(step, size), std::nullopt};
    if (is_free) { edge.time = Time::zero(); }
    edge.step = std::move(step);
    found.push_back(std::move(edge));
  }
  space.edges[from] = std::move(found);
  space.has_edges[from] = true;
  return space.edges[from];
}

const std::optional<Time>& LayoutConverter::time_of(const TensorExtent& tensor, Edge& edge) const {
  if (!edge.time) { edge.time = price_(edge.step, Bytes{edge.step.elements * tensor.element_bytes}); }
  return *edge.time;
}

void LayoutConverter::expand(const TensorExtent& tensor, Space& space, std::uint32_t from, std::uint32_t steps,
                             Search& search) {
  for (Edge& edge : edges(tensor, space, from)) {
    if (search.plain && !is_plain(edge.step.kind)) { continue; }
    search.open.insert({search.reached[from].time + edge.bound, steps + 1, ++search.order, from, &edge});
  }
  search.reached.resize(space.layouts.size());
}

bool LayoutConverter::advance(const TensorExtent& tensor, Space& space, std::uint32_t start, Search& search,
                              std::uint32_t to) {
  search.reached.resize(std::max(search.reached.size(), space.layouts.size()));
  if (search.order == 0) {
    search.reached[start].time = Time::zero();
    search.reached[start].settled = true;
    expand(tensor, space, start, 0, search);
  }
  while (!search.reached[to].settled && !search.open.empty()) {
    Candidate next = *search.open.begin();
    search.open.erase(search.open.begin());
    Reached& there = search.reached[next.edge->to];
    if (there.settled) { continue; }
    const std::optional<Time>& took = time_of(tensor, *next.edge);
    if (!took) { continue; }
    const Time time = search.reached[next.before].time + *took;
    if (time > next.time) {
      next.time = time;
      search.open.insert(next);
      continue;
    }
    there = {time, next.edge, next.before, true};
    if (fits(tensor, space.layouts[next.edge->to])) { expand(tensor, space, next.edge->to, next.steps, search); }
  }
  return search.reached[to].settled;
}

std::optional<LayoutConversion> LayoutConverter::find(const TensorExtent& tensor, const TensorLayout& from,
                                                      const TensorLayout& to, bool plain) {
  Space& space = spaces_[tensor];
  const std::uint32_t start = space.number(from);
  std::uint32_t place = space.number(to);
  Search& search = space.searches[{start, plain}];
  search.plain = plain;
  if (!advance(tensor, space, start, search, place)) { return std::nullopt; }
  LayoutConversion result{{}, {}, search.reached[place].time};
  while (search.reached[place].last != nullptr) {
    const Reached& reached = search.reached[place];
    result.steps.push_back(reached.last->step);
    result.times.push_back(**reached.last->time);
    place = reached.before;
  }
  std::reverse(result.steps.begin(), result.steps.end());
  std::reverse(result.times.begin(), result.times.end());
  return result;
}

std::optional<LayoutConversion> LayoutConverter::find(const TensorExtent& tensor, const TensorLayout& from,
                                                      const TensorLayout& to) {
  return find(tensor, from, to, false);
}

std::optional<LayoutConversion> LayoutConverter::find_plain(const TensorExtent& tensor, const TensorLayout& from,
                                                            const TensorLayout& to) {
  return find(tensor, from, to, true);
}

std::optional<Time> LayoutConverter::time(const TensorExtent& tensor, const TensorLayout& from,
                                          const TensorLayout& to) {
  if (from == to) { return Time::zero(); }
  Space& space = spaces_[tensor];
  const std::uint32_t start = space.number(from);
  const std::uint32_t place = space.number(to);
  Search& search = space.searches[{start, false}];
  if (!advance(tensor, space, start, search, place)) { return std::nullopt; }
  return search.reached[place].time;
}

}  // namespace athanor
