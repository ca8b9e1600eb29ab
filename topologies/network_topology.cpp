#include "topologies/network_topology.hpp"

namespace athanor {

Link from_switch(const CableSpec& cable) { return from_device(cable, cable.forwarding); }

Link from_device(const CableSpec& cable, Time forwarding) {
  return {cable.rate, cable.usable, cable.propagation + forwarding, LinkKind::network};
}

CableSpec host_cable(const CableSpec& cable, const Population& population, std::uint32_t attachment) {
  if (!population.mixed()) { return cable; }
  const NodeKind& kind = population.kinds[population.home(population.attachment(attachment)).kind];
  if (kind.port_rate >= cable.rate) { return cable; }
  return {kind.port_rate, kind.port_usable, cable.propagation, cable.forwarding};
}

}  // namespace athanor
