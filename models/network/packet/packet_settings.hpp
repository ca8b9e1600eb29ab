#pragma once

#include "models/network/packet/packet.hpp"
#include "models/network/packet/packet_topology.hpp"
#include "models/network/packet/transport.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// What a scenario says of the packet level.
struct PacketSettings {
  PacketSettings();

  bool takes_many_paths() const { return transport.spray || fabric.load_balancing != LoadBalancing::none; }

  TransportSpec transport;
  LinkFraming pcie = kPcieFraming;
  LinkFraming nvlink = kNvlinkFraming;
  SwitchSpec fabric;  ///< switches of the network
  SwitchSpec node;    ///< what forwards inside nodes: NVSwitches, PCIe switches, sockets, NICs. Never loses anything
};

void visit(Fields& fields, PacketSettings& settings);

}  // namespace athanor
