#include "models/network/packet/congestion/round_trip.hpp"

#include "models/network/packet/packet_links.hpp"

namespace athanor {

Time base_round_trip(const ControlSite& site, ConnectionId number) {
  PacketLinks& links = site.links;
  const PacketTopology::Flow& flow = links.plan().flows[number];
  const auto along = [&](std::uint32_t first, std::uint32_t hops, Bytes bytes) {
    Time time;
    for (std::uint32_t hop = first; hop < first + hops; ++hop) {
      const LinkIndex link = links.plan().hops[hop];
      const PacketTopology::Device& target = links.plan().devices[links.link(link).target];
      const bool cut_through = !target.host && links.plan().switches[target.spec].cut_through;
      time += links.link(link).latency;
      if (!cut_through) { time += links.port(link).duration(static_cast<std::uint32_t>(bytes.count())); }
    }
    return time;
  };
  return along(flow.first_hop, flow.hops, site.packet) + along(flow.first_hop_back, flow.hops_back, site.reply);
}

bool has_hops(const ControlSite& site, ConnectionId flow) { return site.links.plan().flows[flow].hops > 0; }

}  // namespace athanor
