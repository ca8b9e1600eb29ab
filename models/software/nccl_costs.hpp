#pragma once

#include <array>
#include <cstdint>

#include "models/software/hop_cost.hpp"
#include "models/software/nccl.hpp"
#include "sim/config/fields.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"

namespace athanor {

/// Whose word decides what runs. NCCL's estimates are near enough to choose between algorithms, and less so between
/// protocols, whose switch points moved from version to version.
enum class NcclChoosing : std::uint8_t {
  tuner,      ///< NCCL's algorithm and protocol
  algorithm,  ///< NCCL's algorithm, and of its protocols the one that takes least simulated time
  fastest,    ///< of all that can run the one that takes least simulated time
};

/// What one of the protocols costs.
struct NcclProtocolCosts {
  Time step;          ///< of a thread block, for each message that it receives or sends: flags, barriers, fences
  Time node_latency;  ///< until a message within the node is seen, beside the links'; hidden while others are under way
  Bandwidth rate = Bandwidth::max();          ///< payload that one channel's thread block moves
  Time network_latency;                       ///< of a message between nodes: proxy threads, plugin, NICs
  Bandwidth network_rate = Bandwidth::max();  ///< payload of one channel between nodes
};

/// What a software stack adds to the hardware where NCCL runs the collectives: a handful of figures with a physical
/// meaning, of which `athanor calibrate` finds at most eight from measured tables.
struct NcclCosts {
  NcclVersion version;
  bool rccl = false;  ///< AMD's library
  NcclChoosing choosing = NcclChoosing::tuner;
  std::array<NcclProtocolCosts, kNcclProtocols> protocols;  ///< by NcclProtocol
  Ratio tree_share{6, 10};  ///< of a block's rate, each way, where threads are divided: trees, peers
  Ratio idle{3, 4};         ///< of a step of LL within a node that moves no data
  Time nvls_start;          ///< of algorithms that use NVSwitches as engines, once
  Time nvls_loop;           ///< of algorithms that use NVSwitches as engines, for each chunk of a head
  /// Mean of what one channel's way between nodes varies by: of n channels whose delays are exponential, the slowest
  /// comes (1/2 + 1/3 + ... + 1/n) of it later than one alone.
  Time network_jitter;
  Time peer_start;              ///< of each peer that a rank exchanges messages with, once per call: tasks of a group
  Ratio nvls_efficiency{1, 1};  ///< of the NVLinks' usable rate
  Ratio node_efficiency{1, 1};  ///< of links within nodes
  Ratio network_efficiency{1, 1};  ///< of links that messages between nodes cross
  /// Of the one process that drives all GPUs of a node, for each of them and per collective; zero: each GPU has its own
  /// process.
  Time host_launch_per_gpu;
  Time host_channel;  ///< of the one process that drives all GPUs, for each channel after the first
  /// Mean by which one rank starts late: of n ranks whose delays are exponential, the last comes (1/2 + ... + 1/n) of
  /// it later than one alone.
  Time launch_skew;

  const NcclProtocolCosts& of(NcclProtocol protocol) const { return protocols.at(static_cast<std::size_t>(protocol)); }
  NcclProtocolCosts& of(NcclProtocol protocol) { return protocols.at(static_cast<std::size_t>(protocol)); }
};

void visit(Fields& fields, NcclCosts& costs);
/// "2.27.5".
void visit_version(FieldValue& value, NcclVersion& version);

/// Mean by which the last of n independent exponential delays comes later than one of them does: 1/2 + 1/3 + ... + 1/n
/// of their mean. Exact to a millionth of the mean up to 4,096, and to a thousandth beyond. Requires n >= 1.
Time last_of(Time mean, std::uint32_t n);

/// How long a collective takes whose next launch is prepared while it runs. Both durations vary, and the longer one of
/// each round counts: where they are alike, that is more than either. The cube root of the sum of cubes is a fit to
/// published tables of single processes, not a law. Exact integer arithmetic.
Time overlapped_launch(Time device, Time host);

}  // namespace athanor
