#pragma once

#include <string>

#include "models/aggregators/run_aggregation.hpp"

namespace athanor::testing {

/// Slots with packets of 1,000 bytes on the wire, 900 of them payload, on links of 10 GB/s: one takes 100 ns.
constexpr Time kPacketTime{100'000};
constexpr Bytes kPayload{900};
constexpr Time kCable{1'000'000};

/// `racks` leaves of four hosts under spines (and, beyond eight racks, under cores), or, of one rack, any number of
/// hosts on one switch.
Cluster racks_of_four(std::uint32_t racks);
Cluster one_rack(std::uint32_t hosts);

AggregatorSettings slots_of(AggregatorPolicy policy, std::uint32_t slots);

/// All-reduce of so many full packets on endpoints first, first + 1, ...; with a server on the one behind them.
AggregationJob job_on(const Cluster& cluster, std::uint32_t first, std::uint32_t workers, std::int64_t packets);

AggregationResult run(const Cluster& cluster, const std::vector<AggregationJob>& jobs,
                      const AggregatorSettings& settings, NetworkLevel level = NetworkLevel::flow,
                      std::uint64_t seed = 1);

/// Code of the SimulationError that it ends with; "": none.
std::string refusal_of(const Cluster& cluster, const std::vector<AggregationJob>& jobs,
                       const AggregatorSettings& settings);

}  // namespace athanor::testing
