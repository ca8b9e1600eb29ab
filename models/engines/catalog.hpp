#pragma once

#include "models/engines/engine.hpp"

namespace athanor {

/// The mode of an engine whose memory is a pool of packets: operations of one packet, as many under way as it holds.
Protocol packet_mode(std::string name, const AggregatorSettings& pool, Time latency);

// The parts of engine_catalog(), each defined in a file of its own under kinds/.

EngineModel sharp_v1_engine();     ///< InfiniBand EDR switches: low latency only
EngineModel sharp_v2_engine();     ///< HDR: streaming, one tree at a time in a switch
EngineModel sharp_v3_engine();     ///< NDR: one streaming tree per port
EngineModel sharp_v4_engine();     ///< XDR
EngineModel netreduce_engine();    ///< an FPGA beside the switch next to hosts
EngineModel panama_engine();       ///< FPGAs in the links of every switch, several trees
EngineModel roar_engine();         ///< a processing unit in the router
EngineModel switchml_engine();     ///< a programmable switch with a pool of slots
EngineModel atp_engine();          ///< a programmable switch whose slots jobs share, backed by a parameter server
EngineModel naca_engine();         ///< a composition of switches that aggregate and offloading NICs
EngineModel nvls_engine();         ///< NVSwitches
EngineModel nic_offload_engine();  ///< NICs that run the schedule for their hosts

}  // namespace athanor
