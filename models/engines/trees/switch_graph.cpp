#include "models/engines/trees/switch_graph.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "sim/words.hpp"

namespace athanor {

namespace {

/// Does it belong to the network, so that it may aggregate?
bool is_switch(VertexKind kind) {
  switch (kind) {
    case VertexKind::leaf:
    case VertexKind::spine:
    case VertexKind::core:
    case VertexKind::router: return true;
    case VertexKind::gpu:
    case VertexKind::process:
    case VertexKind::cpu:
    case VertexKind::memory:
    case VertexKind::pcie_switch:
    case VertexKind::nvswitch:
    case VertexKind::nic:
    case VertexKind::host:
    case VertexKind::custom: break;
  }
  return false;
}

/// The links that leave a vertex, in the order of its ports, until `see` returns true.
template <class See>
void each_out(const Fabric& fabric, VertexId from, const See& see) {
  const Fabric::OutLinks out = fabric.out(from);
  for (LinkId link{out.first}; link.value < out.first + out.count; ++link.value) {
    if (see(link)) { return; }
  }
}

/// The links between switches, by the numbers of their ends, and in the order of ports where there are several.
class Cables {
 public:
  Cables(const Fabric& fabric, const std::vector<VertexId>& vertices, const std::vector<std::uint32_t>& numbers) {
    for (const VertexId from : vertices) {
      const std::size_t begin = all_.size();
      each_out(fabric, from, [&](LinkId link) {
        const std::uint32_t to = numbers[fabric.target(link).value];
        if (to != SwitchGraph::kFar) { all_.emplace_back(to, link.value); }
        return false;
      });
      const auto first = all_.begin() + static_cast<std::ptrdiff_t>(begin);
      if (!std::is_sorted(first, all_.end())) { std::sort(first, all_.end()); }
      ends_.push_back(all_.size());
    }
  }

  /// Of the k-th link to a switch the k-th back: cables side by side keep their order at both ends. None where there
  /// are fewer.
  std::optional<LinkId> back(std::uint32_t from, std::uint32_t to, LinkId link) const {
    const std::span<const Cable> out = of(from);
    const auto there = std::lower_bound(out.begin(), out.end(), Cable{to, 0});
    const auto k = std::lower_bound(there, out.end(), Cable{to, link.value}) - there;
    const std::span<const Cable> other = of(to);
    const auto back = std::lower_bound(other.begin(), other.end(), Cable{from, 0});
    if (other.end() - back <= k || back[k].first != from) { return {}; }
    return LinkId{back[k].second};
  }

 private:
  using Cable = std::pair<std::uint32_t, std::uint32_t>;  ///< to, link

  std::span<const Cable> of(std::uint32_t from) const {
    const std::size_t begin = from == 0 ? 0 : ends_[from - 1];
    return std::span(all_).subspan(begin, ends_[from] - begin);
  }

  std::vector<Cable> all_;         ///< by switch, then sorted
  std::vector<std::size_t> ends_;  ///< by switch
};

}  // namespace

SwitchGraph::SwitchGraph(const Fabric& fabric, std::optional<std::uint8_t> network)
    : fabric_(fabric), network_(network), numbers_(fabric.vertices(), kFar) {
  for (VertexId v{0}; v.value < fabric.vertices(); ++v.value) {
    const Vertex& vertex = fabric.vertex(v);
    if (!is_switch(vertex.kind) || (network && vertex.network != *network)) { continue; }
    numbers_[v.value] = size();
    vertices_.push_back(v);
  }
  connect();
  for (std::uint32_t from = 0; from < size(); ++from) {
    each_out(fabric, vertices_[from], [&](LinkId link) {
      const VertexId device = fabric.target(link);
      if (numbers_[device.value] == kFar) { ports_.push_back({device, {from, link}}); }
      return false;
    });
    next_to_endpoints_.push_back(!ports_.empty() && ports_.back().second.on == from);
  }
  std::stable_sort(ports_.begin(), ports_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

bool SwitchGraph::carries(LinkId id) const {
  const Link& link = fabric_.link(id);
  if (link.down) { return false; }
  return !network_ || link.kind != LinkKind::network || link.network == *network_;
}

void SwitchGraph::connect() {
  first_edge_.assign(1, 0);
  const Cables cables(fabric_, vertices_, numbers_);
  for (std::uint32_t from = 0; from < size(); ++from) {
    each_out(fabric_, vertices_[from], [&](LinkId link) {
      const std::uint32_t to = numbers_[fabric_.target(link).value];
      if (to == kFar || !carries(link)) { return false; }
      const std::optional<LinkId> back = cables.back(from, to, link);
      if (back && carries(*back)) { edges_.push_back({to, link, *back}); }
      return false;
    });
    first_edge_.push_back(static_cast<std::uint32_t>(edges_.size()));
  }
}

std::vector<std::uint32_t> SwitchGraph::distances(std::uint32_t from) const {
  std::vector<std::uint32_t> distance(size(), kFar);
  std::vector<std::uint32_t> queue{from};
  distance[from] = 0;
  for (std::size_t k = 0; k < queue.size(); ++k) {
    for (const Edge& edge : edges(queue[k])) {
      if (distance[edge.to] != kFar) { continue; }
      distance[edge.to] = distance[queue[k]] + 1;
      queue.push_back(edge.to);
    }
  }
  return distance;
}

/// A port of a switch that a device hangs on.
std::optional<SwitchGraph::Attachment> SwitchGraph::port_to(VertexId device, std::uint32_t number) const {
  auto entry = std::lower_bound(ports_.begin(), ports_.end(), device,
                                [](const auto& port, VertexId wanted) { return port.first < wanted; });
  for (; entry != ports_.end() && entry->first == device; ++entry) {
    if (entry->second.on == number && carries(entry->second.port)) { return entry->second; }
  }
  return std::nullopt;
}

std::vector<std::optional<SwitchGraph::Attachment>> SwitchGraph::attachments(
    std::span<const VertexId> endpoints) const {
  std::vector<std::optional<Attachment>> found;
  std::vector<std::uint32_t> seen(fabric_.vertices(), 0);  // in which round
  for (const VertexId endpoint : endpoints) {
    found.push_back(attachment(endpoint, seen, static_cast<std::uint32_t>(found.size() + 1)));
  }
  return found;
}

std::optional<SwitchGraph::Attachment> SwitchGraph::attachment(VertexId endpoint, std::vector<std::uint32_t>& seen,
                                                               std::uint32_t round) const {
  std::vector<VertexId> queue{endpoint};
  seen[endpoint.value] = round;
  std::optional<Attachment> found;
  for (std::size_t k = 0; k < queue.size() && !found; ++k) {
    each_out(fabric_, queue[k], [&](LinkId link) {
      const VertexId next = fabric_.target(link);
      if (!carries(link) || seen[next.value] == round) { return false; }
      if (const std::uint32_t number = numbers_[next.value]; number != kFar) {
        found = port_to(queue[k], number);
        return found.has_value();
      }
      seen[next.value] = round;
      queue.push_back(next);
      return false;
    });
  }
  return found;
}

namespace {

bool is_in_place(const SwitchGraph& graph, const EngineLimits& limits, std::uint32_t number) {
  switch (limits.place) {
    case EnginePlace::every_switch: return true;
    case EnginePlace::leaf: return graph.next_to_endpoints(number);
    case EnginePlace::nvswitch:
    case EnginePlace::nic: return false;
  }
  return false;
}

std::vector<std::string> names_in_place(const SwitchGraph& graph, const EngineLimits& limits) {
  std::vector<std::string> names;
  for (std::uint32_t number = 0; number < graph.size(); ++number) {
    if (is_in_place(graph, limits, number)) { names.push_back(graph.fabric().name(graph.vertex(number))); }
  }
  return names;
}

}  // namespace

std::vector<bool> engine_places(const SwitchGraph& graph, const EngineLimits& limits) {
  std::vector<bool> places;
  for (std::uint32_t number = 0; number < graph.size(); ++number) {
    const bool named = limits.switches.empty() ||
                       std::any_of(limits.switches.begin(), limits.switches.end(), [&](const std::string& pattern) {
                         return matches_pattern(pattern, graph.fabric().name(graph.vertex(number)));
                       });
    places.push_back(named && is_in_place(graph, limits, number));
  }
  return places;
}

std::optional<Problem> wrong_places(const SwitchGraph& graph, const EngineLimits& limits) {
  if (limits.switches.empty()) { return std::nullopt; }
  const std::vector<std::string> names = names_in_place(graph, limits);
  for (const std::string& pattern : limits.switches) {
    const auto fits = [&](const std::string& name) { return matches_pattern(pattern, name); };
    if (std::any_of(names.begin(), names.end(), fits)) { continue; }
    const std::string_view what = limits.place == EnginePlace::leaf ? "switch next to hosts" : "switch";
    const std::string close = nearest(pattern, names);
    return Problem{"no-such-switch",
                   fmt::format("no {} is called \"{}\"", what, pattern),
                   {},
                   !close.empty() ? fmt::format("did you mean \"{}\"?", close)
                   : names.empty()
                       ? "the network has none"
                       : fmt::format("they are called as \"{}\" and \"{}\" are", names.front(), names.back())};
  }
  return std::nullopt;
}

}  // namespace athanor
