#include "models/execution/path_layout.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {
constexpr std::uint32_t kNone = 0xffffffff;
}  // namespace

std::uint32_t striped(std::uint32_t queue_pairs, const Cluster& cluster) {
  const std::uint32_t nics = cluster.nics_per_endpoint;
  return (queue_pairs + nics - 1) / nics * nics;
}

PathLayout::PathLayout(Plan& plan, const Cluster& cluster)
    : plan_(plan),
      fabric_(*cluster.fabric),
      routes_(*cluster.router, *cluster.fabric),
      numbers_(cluster.fabric->links(), kNone) {
  require(plan.queue_pairs > 0, "connections of no queue pair");
}

void PathLayout::open(RouteRequest request, std::uint32_t pair) {
  path_.clear();
  if (pair > 0) { request.flow = join_hash(request.flow, pair); }
  request.channel += pair;
  routes_.open(request, path_);
}

std::uint32_t PathLayout::number(LinkId link) {
  std::uint32_t& number = numbers_[link.value];
  if (number == kNone) {
    number = static_cast<std::uint32_t>(plan_.links.size());
    plan_.links.push_back(link);
    plan_.link_members.push_back(1);
    plan_.network.links.push_back({fabric_.link(link).usable});
  }
  return number;
}

/// A share of what the whole connection may take, and of its first grain, on the present path.
void PathLayout::add_pair(const ConnectionCost& cost) {
  Time latency = cost.latency;
  const auto first_use = static_cast<std::uint32_t>(plan_.network.uses.size());
  for (const LinkId link : path_) {
    latency += fabric_.link(link).latency;
    plan_.network.uses.push_back({number(link), 1});
  }
  const bool capped = cost.cap != Bandwidth::max();
  const Bandwidth cap = capped ? std::max(cost.cap / plan_.queue_pairs, Bandwidth{1}) : cost.cap;
  const Bytes grain{ceil_div(cost.grain.count(), plan_.queue_pairs)};
  plan_.network.connections.push_back({latency, cap, grain, first_use, static_cast<std::uint32_t>(path_.size())});
}

}  // namespace athanor
