#include "models/network/work_count.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

namespace {

struct Cost {
  std::string_view name;
  double nanoseconds = 0;
};

/// By Work, of one core of the 2-core x86-64 server of docs/performance.md while others use it, too.
/// tools/scripts/measure_effort prints how much there is of each in runs and what these took.
constexpr std::array<Cost, kWorks> kCosts{{
    {"packet_hop", 130},   // rings of 16 hosts in scenarios/levels.json: 9.8 million hops
    {"missed_line", 70},   // permutations of 1,024 and 8,192 hosts (tools/benchmarks/packets.cpp), beside those of 128
    {"connection", 2500},  // all-to-all of 1,024 hosts: a million connections, few events
    {"block_end", 600},    // tools/bench --benchmark_filter=fold
    {"primitive", 750},    // rings and trees by NCCL over 128 nodes; of three pods of 129 nodes 17 million took 20 s
    {"settled", 60},       // ring_all_reduce of 4,096 hosts, one of them with half the rate
    {"reshared", 20},      // flows_of_random_size: 10,000 ends, each among half as many flows, in 1.4 s
    {"message", 800},      // parameter servers: 106,000 in 0.06 to 0.09 s; lock_step_ring<FlowNetwork>
    {"slot_packet", 170},  // SwitchML of 100 MB over eight workers: 1.6 million in 0.27 s
    {"operation", 1000},   // steps of training whose calls are known
    {"machine_step", 1000},  // scenarios/threads_on_two_processors.json
    {"run", 50'000},         // sweeps of a ring: 0.8 ms for 16 sizes
    {"link", 10},            // bounds on a cluster of 65,536 GPUs
}};

}  // namespace

std::string_view name(Work work) { return kCosts[static_cast<std::size_t>(work)].name; }

WorkCount& WorkCount::operator+=(const WorkCount& other) {
  for (std::size_t i = 0; i < kWorks; ++i) { counts[i] += other.counts[i]; }
  bytes = std::max(bytes, other.bytes);
  return *this;
}

WorkCount& WorkCount::operator*=(double times) {
  for (double& each : counts) { each *= times; }
  return *this;
}

double seconds_of(const WorkCount& work) {
  double nanoseconds = 0;
  for (std::size_t i = 0; i < kWorks; ++i) { nanoseconds += work.counts[i] * kCosts[i].nanoseconds; }
  return nanoseconds * 1e-9;
}

WorkCount between(const WorkCount& low, const WorkCount& high, double part) {
  const auto at = [part](double from, double to) {
    return from > 0 && to > 0 ? from * std::pow(to / from, part) : from + (to - from) * part;
  };
  WorkCount work;
  for (std::size_t i = 0; i < kWorks; ++i) { work.counts[i] = at(low.counts[i], high.counts[i]); }
  work.bytes = at(low.bytes, high.bytes);
  return work;
}

void add_hops(double hops, double port_bytes, WorkCount& work) {
  constexpr double kCachedBytes = 3e6;
  work[Work::packet_hop] += hops;
  work[Work::missed_line] += hops * std::max(0.0, std::log2(port_bytes / kCachedBytes));
}

double packets_until_settled(double round_trip_s, double rate, double packet_bytes) {
  constexpr double kRows = 24;     // that are seen, and checked once
  constexpr double kDistance = 4;  // round trips between two, where nobody shares a port
  constexpr double kFewest = 300;
  return std::max(kFewest, kRows * kDistance * round_trip_s * rate / packet_bytes);
}

}  // namespace athanor
