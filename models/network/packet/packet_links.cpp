#include "models/network/packet/packet_links.hpp"

#include <algorithm>
#include <map>

namespace athanor {

PacketLinks::PacketLinks(const PacketTopology& plan, LinkListener& listener)
    : plan_(plan),
      listener_(listener),
      own_(std::make_unique<All>()),
      all_(*own_),
      ports_(all_.ports),
      lanes_(all_.lanes),
      counters_(all_.counters),
      crossing_(all_.crossing),
      landed_(all_.landed) {
  ports_.reserve(plan.links.size());
  lanes_.reserve(plan.links.size());
  for (const PacketTopology::Link& link : plan.links) {
    const PacketTopology::Device& target = plan.devices[link.target];
    ports_.emplace_back(link.rate, link.framing);
    const bool cut_through = !target.host && plan.switches[target.spec].cut_through;
    lanes_.push_back({{}, 0, Time::zero(), link.latency, link.target, target.host, cut_through});
  }
  for (const LinkIndex link : plan.links.ids()) {
    if (under_credits(link)) { ports_[link].await_credits(credits(link)); }
  }
}

PacketLinks::PacketLinks(PacketLinks& of, LinkListener& listener)
    : plan_(of.plan_),
      listener_(listener),
      all_(of.all_),
      ports_(all_.ports),
      lanes_(all_.lanes),
      counters_(all_.counters),
      crossing_(all_.crossing),
      landed_(all_.landed) {}

void PacketLinks::set_crossing(LinkIndex link) {
  if (crossing_.empty()) {
    crossing_.resize(plan_.links.size());
    landed_.resize(plan_.links.size());
  }
  crossing_[link] = 1;
  lanes_[link].crosses = true;
}

namespace {

/// A class of the port at the source of a link: link * kServices + class.
using Queue = std::uint32_t;

Queue queue_of(LinkIndex link, std::uint8_t service) { return link.value * kServices + service; }

class Waiting {
 public:
  explicit Waiting(const PacketLinks& links) : links_(links) {
    stopped_.resize(links.plan().links.size() * kServices);
    moving_.resize(stopped_.size());
    for (const LinkIndex link : links.plan().links.ids()) {
      for (std::uint8_t service = 0; service < kServices; ++service) { look_at(link, service); }
      const Port::Leaving leaving = links.port(link).leaving();
      if (leaving.bytes > 0) { moving_[queue_of(leaving.ingress, leaving.service)] = true; }
    }
    leave_what_stands();
  }

  std::vector<LinkIndex> circle() const {
    const auto first = std::find(stopped_.begin(), stopped_.end(), true);
    if (first == stopped_.end()) { return {}; }
    std::vector<Queue> cycle;
    auto at = static_cast<Queue>(first - stopped_.begin());
    for (; std::find(cycle.begin(), cycle.end(), at) == cycle.end(); at = held_at_.at(at).front()) {
      cycle.push_back(at);
    }
    cycle.erase(cycle.begin(), std::find(cycle.begin(), cycle.end(), at));
    std::vector<LinkIndex> links;
    for (const Queue queue : cycle) { links.emplace_back(queue / kServices); }
    return links;
  }

 private:
  /// Whose buffers the packets of this queue fill, and whether it was stopped.
  void look_at(LinkIndex link, std::uint8_t service) {
    const Port& port = links_.port(link);
    const Ring<Port::Waiting>& packets = port.waiting(service);
    const Queue queue = queue_of(link, service);
    stopped_[queue] = !packets.empty() && port.stands(service);
    if (links_.plan().devices[links_.link(link).source].host) { return; }  // holds nobody's buffer
    for (std::uint32_t p = 0; p < packets.size(); ++p) {
      std::vector<Queue>& places = held_at_[queue_of(packets.at(p).packet.ingress, service)];
      if (places.empty() || places.back() != queue) { places.push_back(queue); }
    }
  }

  /// Takes out whoever waits for something that moves, until nothing changes.
  void leave_what_stands() {
    const auto goes_on = [&](Queue queue) {
      const auto places = held_at_.find(queue);
      if (moving_[queue] || places == held_at_.end()) { return true; }
      return std::any_of(places->second.begin(), places->second.end(), [&](Queue at) { return !stopped_[at]; });
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (Queue queue = 0; queue < stopped_.size(); ++queue) {
        if (!stopped_[queue] || !goes_on(queue)) { continue; }
        stopped_[queue] = false;
        changed = true;
      }
    }
  }

  const PacketLinks& links_;
  std::vector<bool> stopped_;                    ///< by queue
  std::vector<bool> moving_;                     ///< by the queue that fills it: a packet is leaving the buffer
  std::map<Queue, std::vector<Queue>> held_at_;  ///< by the queue that fills a buffer: where its packets wait
};

}  // namespace

std::vector<LinkIndex> waiting_circle(const PacketLinks& links) { return Waiting(links).circle(); }

}  // namespace athanor
