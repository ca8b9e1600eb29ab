#pragma once

#include "models/engines/engine.hpp"

namespace athanor {

/// The mode of an engine whose memory is a pool of packets: operations of one packet, as many under way as it holds.
Protocol packet_mode(std::string name, const SlotSettings& pool, Time latency);

// The parts of engine_catalog(), each defined in a file of its own under kinds/.

InNetworkEngine sharp_v1_engine();     ///< InfiniBand EDR switches: low latency only
InNetworkEngine sharp_v2_engine();     ///< HDR: streaming, one tree at a time in a switch
InNetworkEngine sharp_v3_engine();     ///< NDR: one streaming tree per port
InNetworkEngine sharp_v4_engine();     ///< XDR
InNetworkEngine netreduce_engine();    ///< an FPGA beside the switch next to hosts
InNetworkEngine panama_engine();       ///< FPGAs in the links of every switch, several trees
InNetworkEngine roar_engine();         ///< a processing unit in the router
InNetworkEngine switchml_engine();     ///< a programmable switch with a pool of slots
InNetworkEngine atp_engine();          ///< the same, whose slots jobs share, backed by a parameter server
InNetworkEngine naca_engine();         ///< a composition of switches that aggregate and offloading NICs
InNetworkEngine nvls_engine();         ///< NVSwitches
InNetworkEngine nic_offload_engine();  ///< NICs that run the schedule for their hosts

}  // namespace athanor
