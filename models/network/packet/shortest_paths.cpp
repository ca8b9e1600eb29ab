#include "models/network/packet/shortest_paths.hpp"

#include <algorithm>
#include <queue>

namespace athanor {

namespace {

constexpr std::uint32_t kFar = 0xffffffff;
constexpr std::size_t kMostSeen = 16'384;  // paths that are looked at before some of them are taken

}  // namespace

bool ShortestPaths::balances(VertexKind kind) {
  switch (kind) {
    case VertexKind::leaf:
    case VertexKind::spine:
    case VertexKind::core:
    case VertexKind::router:
    case VertexKind::custom: return true;
    case VertexKind::gpu:
    case VertexKind::cpu:
    case VertexKind::memory:
    case VertexKind::pcie_switch:
    case VertexKind::nvswitch:
    case VertexKind::nic:
    case VertexKind::host: return false;
  }
  return false;
}

/// In links to `to`, by vertex. Goes backwards along the links that leave, as each has another one back; where that is
/// down extend() finds it out.
std::vector<std::uint32_t> ShortestPaths::distances(VertexId to) const {
  std::vector<std::uint32_t> distance(fabric_.vertices(), kFar);
  std::queue<VertexId> next;
  distance[to.value] = 0;
  for (next.push(to); !next.empty(); next.pop()) {
    const VertexId at = next.front();
    const auto [first, count] = fabric_.out(at);
    for (LinkId link{first}; link.value < first + count; ++link.value) {
      const VertexId neighbour = fabric_.target(link);
      const Link& figures = fabric_.link(link);
      if (figures.down || figures.kind != LinkKind::network || distance[neighbour.value] != kFar) { continue; }
      if (!balances(fabric_.vertex(neighbour).kind)) { continue; }
      distance[neighbour.value] = distance[at.value] + 1;
      next.push(neighbour);
    }
  }
  return distance;
}

void ShortestPaths::extend(Path& path, VertexId at, const std::vector<std::uint32_t>& distance,
                           std::vector<Path>& found) const {
  if (distance[at.value] == 0) { found.push_back(path); }
  const auto [first, count] = fabric_.out(at);
  for (LinkId link{first}; link.value < first + count && found.size() < kMostSeen; ++link.value) {
    const Link& figures = fabric_.link(link);
    const std::uint32_t left = distance[fabric_.target(link).value];
    if (figures.down || figures.kind != LinkKind::network || left == kFar || left + 1 != distance[at.value]) {
      continue;
    }
    path.push_back(link);
    extend(path, fabric_.target(link), distance, found);
    path.pop_back();
  }
}

const std::vector<ShortestPaths::Path>& ShortestPaths::between(VertexId from, VertexId to) {
  const auto [place, fresh] = known_.try_emplace({from.value, to.value});
  if (!fresh) { return place->second; }
  std::vector<Path> found;
  Path path;
  const std::vector<std::uint32_t> distance = distances(to);
  if (distance[from.value] != kFar) { extend(path, from, distance, found); }
  const std::size_t taken = std::min(found.size(), kMostPaths);
  for (std::size_t w = 0; w < taken; ++w) { place->second.push_back(std::move(found[w * found.size() / taken])); }
  return place->second;
}

}  // namespace athanor
