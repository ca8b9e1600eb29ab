#include "topologies/network_structure.hpp"

namespace athanor {

Link from_switch(const CableSpec& cable) { return from_device(cable, cable.forwarding); }

Link from_device(const CableSpec& cable, Time forwarding) {
  return {cable.rate, cable.usable, cable.propagation + forwarding, LinkKind::network};
}

}  // namespace athanor
