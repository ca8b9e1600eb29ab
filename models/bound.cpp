#include "models/bound.hpp"

#include <algorithm>

#include "sim/check.hpp"

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

Time route_latency(const Cluster& cluster, std::uint32_t from, std::uint32_t to) {
  std::vector<LinkId> path;
  cluster.router->route({cluster.endpoints[from], cluster.endpoints[to], 0}, path);
  Time latency;
  for (const LinkId link : path) { latency += cluster.fabric->link(link).latency; }
  return latency;
}

/// Of the longest way from the root; without a root every rank depends on every other, rank 0 too. Of many ranks a
/// sample is looked at: a lower bound stays one.
Time longest_latency(const Cluster& cluster, const Collective& collective) {
  if (collective.kind == CollectiveKind::send_receive) {
    return route_latency(cluster, collective.root, (collective.root + 1) % collective.ranks);
  }
  constexpr std::uint32_t kSamples = 64;
  const std::uint32_t stride = std::max(1U, collective.ranks / kSamples);
  Time longest;
  for (std::uint32_t rank = 0; rank < collective.ranks; rank += stride) {
    longest = std::max(longest, route_latency(cluster, collective.root, rank));
  }
  return longest;
}

void raise(Bound& bound, Time time, const std::string& why) {
  if (time > bound.time) { bound = {time, why}; }
}

}  // namespace

Bound lower_bound(const Cluster& cluster, const Collective& collective, Bytes size, bool in_network) {
  const std::int64_t ranks = collective.ranks;
  require(ranks >= 1 && ranks <= static_cast<std::int64_t>(cluster.endpoints.size()), "{} ranks on {} endpoints", ranks,
          cluster.endpoints.size());
  Bound bound{Time::zero(), "latency"};
  if (ranks == 1) { return bound; }
  const bool whole = ranks == static_cast<std::int64_t>(cluster.endpoints.size());
  const std::vector<Cut> cuts = natural_cuts(cluster);
  Bandwidth widest;  // endpoint: no rank is faster, so that it bounds the average rank
  for (const Cut& cut : cuts) {
    if (cut.inside == 1) { widest = std::max({widest, cut.out, cut.in}); }
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
  raise(bound, longest_latency(cluster, collective), "latency");
  return bound;
}

}  // namespace athanor
