#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/software/channel_nics.hpp"
#include "models/software/costs.hpp"
#include "models/software/hop_cost.hpp"
#include "sim/config/fields.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"

namespace athanor {

/// What engines in switches of the network cost, and what they hold.
struct EngineCost {
  Time latency;                              ///< of every message to or from an engine, pipelined
  Time host_latency;                         ///< more of it between a rank and an engine: software and NIC
  Bandwidth rate = Bandwidth::max();         ///< payload rate of one channel on one hop; max: only links limit
  Time overhead;                             ///< of an engine, per message that it adds up or multicasts
  Bandwidth reduce_rate = Bandwidth::max();  ///< of an engine: bytes of each input after the first; max: line rate
  Bytes grain;                               ///< an engine passes on what it has of a message; 0: whole messages
  Ratio payload{1, 1};  ///< payload bytes per byte on the wire between an engine and its neighbours in the tree
  std::uint32_t outstanding = 0;  ///< chunks of a channel under way at once (EngineTreeShape::outstanding)
  bool streaming = false;         ///< takes a streaming tree, not one of low latency
};

/// How a library that was asked carries out one call.
struct LibraryLayout {
  Layout of_bytes;                                    ///< for elements of one byte
  std::shared_ptr<const ChannelNics> nics = nullptr;  ///< by which channels leave and enter nodes; none: routers choose
};

/// One way in which a communication library moves data (NCCL: LL, LL128, Simple, and NVLS's own).
struct Protocol {
  std::string name = "none";
  std::vector<std::string> algorithms;  ///< that use it; empty: every one without an engine
  Bytes from;                           ///< payload sizes at which it is a candidate
  Bytes to = Bytes::max();
  Time start;     ///< once per collective, beside the launch
  Time overhead;  ///< per primitive that sends or receives
  Bandwidth unpack_rate =
      Bandwidth::max();  ///< of what a primitive receives and does not pass on: copied out of buffers
  HopCost node;          ///< within a node
  HopCost network;       ///< between nodes
  HopCost engine;        ///< to and from the engine of NVSwitches
  EngineCost aggregation;
  Ratio payload{1, 1};  ///< payload bytes per byte on the wire
  Bytes grain;          ///< receivers start on the first grain; 0: on the whole message
  Bytes engine_grain;   ///< of NVSwitches, which stream: they pass on the first grain; 0: whole messages
  SendEnd send_end = SendEnd::delivered;
  Bytes eager = Bytes::max();              ///< larger messages ask their receiver first ...
  Time handshake;                          ///< ... and begin to move so much later
  std::uint32_t slots = 8;                 ///< at least what the schedule needs
  std::uint32_t channels = 1;              ///< most
  Bytes least_per_channel{1};              ///< payload that makes one more channel worth while
  Bytes chunk = Bytes::max();              ///< most payload of one chunk; max: one loop
  std::vector<std::uint32_t> halve_below;  ///< the chunk is halved, in turn, while there are fewer loops than this
  std::uint32_t slices = 1;
  bool rotate = true;                    ///< channel c's ring leaves each node from GPU c
  std::optional<LibraryLayout> library;  ///< in place of channels to rotate; not in files
};

void visit(Fields& fields, Protocol& protocol);

}  // namespace athanor
