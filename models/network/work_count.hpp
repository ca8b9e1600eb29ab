#pragma once

namespace athanor {

/// How much there is to do for a simulation, counted before it is done: an estimate, since classes are not looked for.
/// Each count is of one kind of work, whose cost was measured (see priced()).
struct WorkCount {
  double packet_hops = 0;    ///< data packets and acknowledgements, each as often as a port sends it
  double missed_lines = 0;   ///< of these, those whose ports the caches do not hold, times how far beyond they are
  double connections = 0;    ///< laid out, with their lanes and routes, and compared
  double block_ends = 0;     ///< connections of a schedule whose classes are found node by node
  double primitives = 0;     ///< simulated by events
  double settled = 0;        ///< primitives of connections that share no link, which need no events
  double reshared = 0;       ///< flows whose rate is worked out anew when others begin or end
  double messages = 0;       ///< handed to a network, beside what their packets or primitives cost
  double operations = 0;     ///< of workloads
  double machine_steps = 0;  ///< primitives of ranks that share one machine
  double runs = 0;           ///< of a simulation: what is laid out, added up and reported once
  double links = 0;          ///< of the fabric, looked at once in a run
  double bytes = 0;          ///< of memory at once, beside the program and its fabric

  /// After each other: work adds up, and memory is that of the one with most.
  WorkCount& operator+=(const WorkCount& other);
  /// So many times, one after the other.
  WorkCount& operator*=(double times);
};

/// What simulating takes.
struct Effort {
  double seconds = 0;  ///< of one core
  double bytes = 0;
};

/// On a machine like that of docs/performance.md. Each kind of work costs what `tools/bench` measured of it; the
/// figures and where each comes from stand beside them.
Effort priced(const WorkCount& work);

/// The same where what has settled is skipped.
constexpr double kMostSkippedPackets = 300;  ///< of a message, those that are simulated until its flow has settled

/// Hops over ports that fill so much memory, all of them touched in turn.
void add_hops(double hops, double port_bytes, WorkCount& work);

}  // namespace athanor
