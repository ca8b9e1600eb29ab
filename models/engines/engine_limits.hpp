#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/schedule/reduction.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"

namespace athanor {

/// Where an engine of the network sits.
enum class EnginePlace : std::uint8_t {
  every_switch,  ///< in switches of all tiers
  leaf,          ///< in, or beside, the switches next to hosts alone
  nvswitch,      ///< in the NVSwitches of a node; no aggregation manager
  nic,           ///< in the NICs; no aggregation manager
};

/// What engines of one kind can do, as their documents say; what those do not limit is at its maximum.
struct EngineLimits {
  EnginePlace place = EnginePlace::every_switch;
  std::vector<std::string> switches =
      {};                               ///< names, with * and ?, of those that have an engine; empty: all of the place
  std::uint32_t children = UINT32_MAX;  ///< of one node of a tree: ranks and other nodes
  std::uint32_t trees = UINT32_MAX;     ///< of low latency, in the whole fabric
  std::uint32_t streams = UINT32_MAX;   ///< streaming trees, in the whole fabric
  std::uint32_t streams_per_switch = UINT32_MAX;  ///< streaming trees that may be active in one switch
  std::uint32_t streams_per_port = UINT32_MAX;    ///< streaming trees over one port between switches, or to a host
  std::uint32_t workers = UINT32_MAX;             ///< of one job
  std::uint32_t jobs_per_switch = UINT32_MAX;     ///< jobs that hold memory of one switch
  Bytes message = Bytes::max();                   ///< of one operation
  std::vector<DataType> types = {};               ///< that it adds; empty: all
  std::vector<Reduction> reductions = {};         ///< empty: all
};

/// How jobs come by the memory of a programmable switch that adds up packets.
enum class AggregatorPolicy : std::uint8_t {
  /// SwitchML (Sapio et al., "Scaling Distributed Machine Learning with In-Network Aggregation", NSDI 2021): each job
  /// has slots of its own, packet k is added up in slot k mod slots, and the sum is multicast by the switch.
  static_pool,
  /// ATP (Lao et al., "ATP: In-network Aggregation for Multi-tenant Learning", NSDI 2021): all jobs share all slots; a
  /// packet whose slot is taken goes on to the job's parameter server as it is.
  best_effort,
};

/// What a pool of slots, the packets and the hosts are like.
struct AggregatorSettings {
  AggregatorPolicy policy = AggregatorPolicy::static_pool;
  /// Packets that one switch adds up at a time. static_pool: divided evenly among the jobs, each with a second copy of
  /// itself that is not counted here. best_effort: 0 means a parameter server alone.
  std::uint32_t slots = 512;
  Bytes payload{1024};  ///< of a full packet: what a slot holds
  Bytes header{52};     ///< of a packet on the wire, whatever its payload; SwitchML: 180 bytes hold 32 elements of 4
  std::uint32_t window = 0;     ///< most packets that a worker has under way; 0: as many as its job has slots
  Ratio loss{0, 1};             ///< probability that a packet is lost, on each of its ways between two that handle it
  Time timeout{1'000'000'000};  ///< after which a worker sends a packet again
  /// best_effort: a worker sends the oldest packet without a result again, once, when it has got the results of so many
  /// later ones since. 0: it waits for the timeout.
  std::uint32_t later_results = 3;
  std::uint32_t most_tries = 100;  ///< sendings of one packet by one worker, after which the run is given up
  EngineLimits engines = {};       ///< which switches add up, and for how many below them
  Time pipeline_latency;  ///< of a switch, for each packet that it handles; packets follow each other without gap
  Bandwidth port_rate = Bandwidth::max();  ///< most that a switch takes in from one worker or switch, on the wire
  Time host_latency;      ///< of software, for each packet that a host receives; overlaps with other packets
  Time host_packet_time;  ///< that a host is busy for each packet it sends, and a server for each it receives
  /// best_effort: switches mark packets that find more than this waiting to leave for the same neighbour; a worker
  /// halves its window, once in a window, when a result is marked, and else grows it by one packet a window, up to
  /// `window`. max: nothing is marked.
  Bytes mark_above = Bytes::max();
};

/// What became of one all-reduce over slots.
struct AggregationJobResult {
  Time time;                           ///< from its start to the last result at the last worker
  std::uint64_t packets = 0;           ///< that the vector is cut into
  std::uint64_t results = 0;           ///< that workers used: packets x workers
  std::uint64_t retransmissions = 0;   ///< packets that workers sent again
  std::uint64_t repeated_results = 0;  ///< that workers got and had no use for
  std::uint64_t marked_results = 0;    ///< best_effort: of the results used, those that tell of a queue
  std::uint64_t lost = 0;              ///< packets, of any kind
  std::uint64_t collisions = 0;        ///< best_effort: packets that found their slot taken by another one
  std::uint64_t server_packets = 0;    ///< best_effort: that reached the parameter server
  std::uint64_t server_additions =
      0;                     ///< best_effort: that the server had to make, one for each packet beside the first
  Time lossless_round_trip;  ///< of a packet of the farthest worker where nothing waits
};

/// Of the additions that join the parts of a job's workers, those that switches made; 1 for one worker.
double share_in_switches(const AggregationJobResult& job);

}  // namespace athanor
