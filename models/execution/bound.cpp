#include "models/execution/bound.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// Bytes that must leave and enter a set of `inside` of `ranks` ranks, whatever the algorithm.
struct Crossing {
  Bytes out;
  Bytes in;
};

Bytes share(Bytes size, std::int64_t parts, std::int64_t of) {
  return Bytes{static_cast<std::int64_t>(Wide{size.count()} * parts / of)};
}

/// A set may reduce its own contributions to one vector and needs one copy of any result, hence no factor `inside`.
Crossing crossing(CollectiveKind kind, Bytes size, std::int64_t inside, std::int64_t ranks) {
  const std::int64_t outside = ranks - inside;
  switch (kind) {
    case CollectiveKind::all_reduce: return {size, size};
    case CollectiveKind::reduce_scatter: return {share(size, outside, ranks), share(size, inside, ranks)};
    case CollectiveKind::all_gather: return {share(size, inside, ranks), share(size, outside, ranks)};
    case CollectiveKind::all_to_all: {
      const Bytes block = share(size, 1, ranks);
      return {block * (inside * outside), block * (inside * outside)};
    }
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::send_receive: return {};  // one direction only, and which depends on where the root is
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::barrier: return {};
  }
  return {};
}

/// Bytes that the busiest rank of an exchange of unequal blocks must send or receive.
Bytes exchanged_by_rank(const Collective& collective, Bytes size) {
  const Elements count = collective.count;
  return count == Elements::zero() ? Bytes::zero() : share(size, collective.sizes->exchanged().count(), count.count());
}

/// Bytes that an average rank must send, or the root must send or receive, where only ranks reduce and copy.
Bytes sent_by_rank(const Collective& collective, Bytes size, bool in_network) {
  const std::int64_t ranks = collective.ranks;
  switch (collective.kind) {
    case CollectiveKind::all_reduce: return in_network ? size : share(size, 2 * (ranks - 1), ranks);
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather: return in_network ? Bytes::zero() : share(size, ranks - 1, ranks);
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter: return share(size, ranks - 1, ranks);
    case CollectiveKind::all_to_all_v: return exchanged_by_rank(collective, size);
    case CollectiveKind::barrier: return Bytes::zero();
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_receive: return size;  // the root's own link, or the last receiver's
  }
  return {};
}

constexpr Time kUnreached{std::numeric_limits<std::int64_t>::max()};

/// The least latency from a vertex to each, over any devices that pass on: a rank may forward what is not for it.
std::vector<Time> least_latencies(const Fabric& fabric, VertexId from) {
  std::vector<Time> least(fabric.vertices(), kUnreached);
  using Reached = std::pair<std::int64_t, std::uint32_t>;  // picoseconds, vertex
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
  least[from.value] = Time::zero();
  open.emplace(0, from.value);
  while (!open.empty()) {
    const auto [when, vertex] = open.top();
    open.pop();
    if (when > least[vertex].count()) { continue; }
    const Fabric::OutLinks out = fabric.out(VertexId{vertex});
    for (LinkId link{out.first}; link.value < out.first + out.count; ++link.value) {
      const VertexId next = fabric.target(link);
      const Time there = Time{when} + fabric.link(link).latency;
      if (fabric.link(link).down || there >= least[next.value]) { continue; }
      least[next.value] = there;
      open.emplace(there.count(), next.value);
    }
  }
  return least;
}

/// To the rank that is farthest from the root; without a root every rank depends on every other, rank 0 too.
Time longest_latency(const Cluster& cluster, const Collective& collective) {
  const std::vector<Time> least = least_latencies(*cluster.fabric, cluster.endpoints[collective.root]);
  const auto latency = [&](std::uint32_t rank) { return least[cluster.endpoints[rank].value]; };
  Time longest;
  const bool one = collective.kind == CollectiveKind::send_receive;
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    if (one && rank != (collective.root + 1) % collective.ranks) { continue; }
    if (latency(rank) != kUnreached) { longest = std::max(longest, latency(rank)); }
  }
  return longest;
}

/// Around an endpoint alone: not the switch or the node that it has for itself, whose links are others.
bool is_device(const Cut& cut, const Cluster& cluster) {
  const Fabric& fabric = *cluster.fabric;
  const VertexKind kind = fabric.vertex(cluster.endpoints.front()).kind;
  const auto is_own = [&](LinkId link) { return fabric.vertex(fabric.source(link)).kind == kind; };
  return cut.inside == 1 && std::all_of(cut.links_out.begin(), cut.links_out.end(), is_own);
}

void raise(Bound& bound, Time time, const std::string& why) {
  if (time > bound.time) { bound = {time, why}; }
}

}  // namespace

Bound lower_bound(const Cluster& cluster, const Collective& collective, Bytes size, bool in_network) {
  Bound bound = lower_bound_of_many(cluster, collective, size, in_network);
  if (collective.ranks > 1) { raise(bound, longest_latency(cluster, collective), "latency"); }
  return bound;
}

Bound lower_bound_of_many(const Cluster& cluster, const Collective& collective, Bytes size, bool in_network) {
  const std::int64_t ranks = collective.ranks;
  require(ranks >= 1 && ranks <= static_cast<std::int64_t>(cluster.endpoints.size()), "{} ranks on {} endpoints", ranks,
          cluster.endpoints.size());
  Bound bound{Time::zero(), "latency"};
  if (ranks == 1) { return bound; }
  const bool whole = ranks == static_cast<std::int64_t>(cluster.endpoints.size());
  const std::vector<Cut> cuts = natural_cuts(cluster);
  Bandwidth widest;  // endpoint: no rank is faster, so that it bounds the average rank
  for (const Cut& cut : cuts) {
    if (is_device(cut, cluster)) { widest = std::max({widest, cut.out, cut.in}); }
  }
  if (widest > Bandwidth::zero()) {
    raise(bound, transfer_time(sent_by_rank(collective, size, in_network), widest), "endpoints");
  }
  for (const Cut& cut : cuts) {
    if (!whole || cut.inside == 0 || cut.inside >= ranks) { continue; }  // of a part it is unknown who is inside
    const Crossing bytes = crossing(collective.kind, size, cut.inside, ranks);
    if (bytes.out > Bytes::zero()) { raise(bound, transfer_time(bytes.out, cut.out), cut.name); }
    if (bytes.in > Bytes::zero()) { raise(bound, transfer_time(bytes.in, cut.in), cut.name); }
  }
  return bound;
}

}  // namespace athanor
