#include "models/network/packet/network_parts.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "sim/random.hpp"

namespace athanor {

std::uint32_t NetworkParts::root(std::uint32_t flow) {
  while (parent_[flow] != flow) { flow = parent_[flow] = parent_[parent_[flow]]; }
  return flow;
}

std::vector<std::vector<ConnectionId>> NetworkParts::of(const std::vector<ConnectionId>& flows) {
  ++call_;
  parent_.resize(flows.size());
  std::iota(parent_.begin(), parent_.end(), 0U);
  for (std::uint32_t k = 0; k < flows.size(); ++k) {
    for_links_of(plan_, flows[k], [&](LinkIndex link) {
      if (seen_[link] != call_) {
        seen_[link] = call_;
        first_[link] = k;
      } else {
        parent_[root(k)] = root(first_[link]);
      }
    });
  }
  std::vector<std::vector<ConnectionId>> parts;
  std::vector<std::uint32_t> part_of(flows.size(), UINT32_MAX);
  for (std::uint32_t k = 0; k < flows.size(); ++k) {
    std::uint32_t& part = part_of[root(k)];
    if (part == UINT32_MAX) {
      part = static_cast<std::uint32_t>(parts.size());
      parts.emplace_back();
    }
    parts[part].push_back(flows[k]);
  }
  return parts;
}

std::vector<LinkIndex> NetworkParts::links_of(const std::vector<ConnectionId>& flows) const {
  std::vector<LinkIndex> links;
  for (const ConnectionId flow : flows) {
    for_links_of(plan_, flow, [&](LinkIndex link) { links.push_back(link); });
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

std::uint64_t NetworkParts::pattern_of(const std::vector<ConnectionId>& flows) const {
  std::uint64_t pattern = flows.size();
  const auto add = [&](std::int64_t figure) { pattern = join_hash(pattern, static_cast<std::uint64_t>(figure)); };
  std::unordered_map<std::uint32_t, std::int64_t> names;  // links, in the order in which they are met
  for (const ConnectionId flow : flows) {
    const PacketTopology::Flow& plan = plan_.flows[flow];
    for (const std::int64_t figure :
         {std::int64_t{plan.hops}, std::int64_t{plan.hops_back}, std::int64_t{plan.paths}, plan.cap.count()}) {
      add(figure);
    }
    for_links_of(plan_, flow, [&](LinkIndex number) {
      const auto [name, fresh] = names.try_emplace(number.value, static_cast<std::int64_t>(names.size()));
      add(name->second);
      if (!fresh) { return; }
      const PacketTopology::Link& link = plan_.links[number];
      const PacketTopology::Device& target = plan_.devices[link.target];
      add(link.rate.count());
      add(link.latency.count());
      add(link.framing.unit);
      add(target.host ? -1 : std::int64_t{target.spec});
    });
  }
  return pattern;
}

bool NetworkParts::meet(const std::vector<ConnectionId>& flows) const {
  std::unordered_set<std::uint32_t> used;
  for (const ConnectionId flow : flows) {
    const PacketTopology::Flow& plan = plan_.flows[flow];
    std::vector<std::uint32_t> own;
    for (std::uint32_t h = 0; h < plan.hops * plan.paths; ++h) { own.push_back(plan_.hops[plan.first_hop + h].value); }
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (const std::uint32_t link : own) {
      if (!used.insert(link).second) { return true; }
    }
  }
  return false;
}

std::vector<std::uint32_t> NetworkParts::kinds_of(const std::vector<ConnectionId>& flows) const {
  std::map<LinkIndex, std::uint32_t> users;
  for (const ConnectionId flow : flows) {
    const PacketTopology::Flow& plan = plan_.flows[flow];
    for (std::uint32_t h = 0; h < plan.hops * plan.paths; ++h) { ++users[plan_.hops[plan.first_hop + h]]; }
  }
  using Look = std::tuple<std::vector<LinkIndex>, std::uint32_t, Bandwidth>;
  std::map<Look, std::uint32_t> known;
  std::vector<std::uint32_t> kinds;
  std::uint32_t next = 0;
  for (const ConnectionId flow : flows) {
    const PacketTopology::Flow& plan = plan_.flows[flow];
    Look look{{}, plan.hops, plan.cap};
    for (std::uint32_t h = 0; h < plan.hops * plan.paths; ++h) {
      const LinkIndex link = plan_.hops[plan.first_hop + h];
      if (users[link] > 1) { std::get<0>(look).push_back(link); }
    }
    if (std::get<0>(look).empty()) {
      kinds.push_back(next++);
      continue;
    }
    const auto [found, fresh] = known.try_emplace(std::move(look), next);
    if (fresh) { ++next; }
    kinds.push_back(found->second);
  }
  return kinds;
}

}  // namespace athanor
