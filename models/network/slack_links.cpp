#include "models/network/slack_links.hpp"

#include <algorithm>

namespace athanor {

namespace {

std::ptrdiff_t crossings(std::span<const FlowGraph::Use> path, LinkIndex link) {
  return std::count_if(path.begin(), path.end(), [link](const FlowGraph::Use& use) { return use.link == link; });
}

Bandwidth sum_of_caps(Bandwidth sum, Bandwidth cap) {
  constexpr Bandwidth kMost = Bandwidth::max() / 4;  // far above any link
  return sum > kMost || cap > kMost ? Bandwidth::max() : sum + cap + Bandwidth{1};
}

}  // namespace

void SlackLinks::add(std::span<const FlowGraph::Use> path, Bandwidth cap,
                     const IdVector<LinkIndex, FlowGraph::Link>& links) {
  entries_.resize(links.size());
  for (const FlowGraph::Use& use : path) {
    Entry& entry = entries_[use.link.value];
    entry.caps = sum_of_caps(entry.caps, cap);
    if (entry.users++ == 0) { begin(entry, use.link, path, links); }
    if (entry.others == 0) { continue; }
    if (crossings(path, use.link) > 1) {  // it bears less than another of its rate
      entry.others = 0;
      continue;
    }
    const auto first = others_.begin() + entry.first;
    const auto end =
        std::remove_if(first, first + entry.others, [&](LinkIndex other) { return crossings(path, other) == 0; });
    entry.others = static_cast<std::uint32_t>(end - first);
  }
}

void SlackLinks::begin(Entry& entry, LinkIndex self, std::span<const FlowGraph::Use> path,
                       const IdVector<LinkIndex, FlowGraph::Link>& links) {
  entry.first = static_cast<std::uint32_t>(others_.size());
  for (const FlowGraph::Use& use : path) {
    if (use.link != self && links[use.link].rate <= links[self].rate) { others_.push_back(use.link); }
  }
  entry.others = static_cast<std::uint32_t>(others_.size()) - entry.first;
}

/// Of links that bear the same for the same, the one with the least number counts.
std::vector<bool> SlackLinks::find(const IdVector<LinkIndex, FlowGraph::Link>& links,
                                   const std::vector<bool>& kept) const {
  std::vector<bool> slack(links.size());
  for (LinkIndex self{0}; self.value < entries_.size(); ++self.value) {
    const Entry& entry = entries_[self.value];
    if (kept[self.value]) { continue; }
    slack[self.value] = entry.users > 0 && entry.caps <= links[self].rate;
    if (slack[self.value]) { continue; }
    const auto first = others_.begin() + entry.first;
    slack[self.value] = std::any_of(first, first + entry.others, [&](LinkIndex other) {
      if (links[other].rate < links[self].rate || kept[other.value]) { return true; }
      const std::uint32_t users = entries_[other.value].users;
      return users > entry.users || (users == entry.users && other < self);
    });
  }
  return slack;
}

void mark_slack_links(FlowGraph& graph) {
  SlackLinks found;
  for (const FlowGraph::Connection& connection : graph.connections) {
    found.add(std::span(graph.uses).subspan(connection.first_use, connection.uses), connection.cap, graph.links);
  }
  const std::vector<bool> slack = found.find(graph.links, std::vector<bool>(graph.links.size()));
  for (const LinkIndex link : graph.links.ids()) { graph.links[link].slack = slack[link.value]; }
}

}  // namespace athanor
