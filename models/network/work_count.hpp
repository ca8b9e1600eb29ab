#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace athanor {

/// What simulations are made of, each of which has a cost of its own.
enum class Work : std::uint8_t {
  packet_hop,    ///< a data packet or an acknowledgement that a port sends
  missed_line,   ///< such a hop for each time that the ports are twice what caches hold
  connection,    ///< of a schedule: laid out, with its lane and its route, and compared with others
  block_end,     ///< the same where classes are found node by node
  primitive,     ///< simulated by events
  settled,       ///< a primitive of connections that share no link, which needs no events
  reshared,      ///< a flow whose rate is worked out anew when another begins or ends
  message,       ///< handed to a network, beside what its packets or primitives cost
  slot_packet,   ///< of engines that add up packet by packet, from one that handles it to the next
  operation,     ///< of a workload
  machine_step,  ///< a primitive of ranks that share one machine
  run,           ///< of a simulation: what is laid out, added up and reported once
  link,          ///< of the fabric, looked at once in a run
};
constexpr std::size_t kWorks = 13;

std::string_view name(Work work);

/// How much there is to do for a simulation, counted before it is done.
struct WorkCount {
  std::array<double, kWorks> counts{};
  double bytes = 0;  ///< of memory at once, beside the program and its fabric

  double& operator[](Work work) { return counts[static_cast<std::size_t>(work)]; }
  double operator[](Work work) const { return counts[static_cast<std::size_t>(work)]; }

  /// After each other: work adds up, and memory is that of the one with most.
  WorkCount& operator+=(const WorkCount& other);
  /// So many times, one after the other.
  WorkCount& operator*=(double times);
};

/// Seconds of one core on a machine like that of docs/performance.md, from what each kind of work was measured to cost
/// there.
double seconds_of(const WorkCount& work);

/// What lies between two counts, at a part from 0 to 1 of the way: by a constant factor where both have some.
WorkCount between(const WorkCount& low, const WorkCount& high, double part);

/// Hops over ports that fill so much memory, all of them touched in turn.
void add_hops(double hops, double port_bytes, WorkCount& work);

/// What a port and its link take of memory at packet level.
constexpr double kPortBytes = 1300;

/// Packets of a flow at this rate, in bytes a second, until it is known to have settled (FastForward): some hundred
/// round trips, whose packets are all simulated.
double packets_until_settled(double round_trip_s, double rate, double packet_bytes);

/// How much longer it takes where it is looked for what has settled, and nothing has.
constexpr double kLooking = 1.25;

}  // namespace athanor
