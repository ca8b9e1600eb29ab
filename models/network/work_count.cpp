#include "models/network/work_count.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

namespace {

constexpr double kNano = 1e-9;

// Seconds of one core for one of each, on the 2-core x86-64 server of docs/performance.md; what
// tools/scripts/measure_effort prints holds them against whole runs.
constexpr double kPacketHop = 100 * kNano;    // permutation of 128 hosts in tools/benchmarks/packets.cpp, 2.6 MB
constexpr double kMissedLine = 60 * kNano;    // what the same takes longer a hop with 13 and with 69 MB
constexpr double kConnection = 2500 * kNano;  // all-to-all of 1,024 hosts: a million of them, few events
constexpr double kBlockEnd = 600 * kNano;     // tools/bench --benchmark_filter=fold
constexpr double kPrimitive = 1200 * kNano;   // 17 million of three pods of 129 nodes in 20 s
constexpr double kSettled = 60 * kNano;       // ring_all_reduce with one host of half the rate
constexpr double kReshared = 20 * kNano;      // flows_of_random_size: 10,000 ends of half as many flows
constexpr double kMessage = 1500 * kNano;     // lock_step_ring<FlowNetwork>
constexpr double kOperation = 1000 * kNano;   // steps of training whose calls are known
constexpr double kMachineStep = 400 * kNano;  // schedules on threads
constexpr double kRun = 50'000 * kNano;       // sweeps: 0.8 ms for 16 sizes of a ring
constexpr double kLink = 10 * kNano;          // the bounds of a cluster of 65,536 GPUs

constexpr double kCachedBytes = 3e6;  // ports of which all packets find in the caches

}  // namespace

WorkCount& WorkCount::operator+=(const WorkCount& other) {
  packet_hops += other.packet_hops;
  missed_lines += other.missed_lines;
  connections += other.connections;
  block_ends += other.block_ends;
  primitives += other.primitives;
  settled += other.settled;
  reshared += other.reshared;
  messages += other.messages;
  operations += other.operations;
  machine_steps += other.machine_steps;
  runs += other.runs;
  links += other.links;
  bytes = std::max(bytes, other.bytes);
  return *this;
}

WorkCount& WorkCount::operator*=(double times) {
  for (double* each : {&packet_hops, &missed_lines, &connections, &block_ends, &primitives, &settled, &reshared,
                       &messages, &operations, &machine_steps, &runs, &links}) {
    *each *= times;
  }
  return *this;
}

Effort priced(const WorkCount& work) {
  const double seconds = work.packet_hops * kPacketHop + work.missed_lines * kMissedLine +
                         work.connections * kConnection + work.block_ends * kBlockEnd + work.primitives * kPrimitive +
                         work.settled * kSettled + work.reshared * kReshared + work.messages * kMessage +
                         work.operations * kOperation + work.machine_steps * kMachineStep + work.runs * kRun +
                         work.links * kLink;
  return {seconds, work.bytes};
}

void add_hops(double hops, double port_bytes, WorkCount& work) {
  work.packet_hops += hops;
  work.missed_lines += hops * std::max(0.0, std::log2(port_bytes / kCachedBytes));
}

}  // namespace athanor
