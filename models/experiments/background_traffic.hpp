#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "models/traffic/traffic_matrix.hpp"
#include "models/workload/collective_timer.hpp"
#include "models/workload/side_by_side.hpp"

namespace athanor {

/// What messages of connections take alone, and of which links. Borrows the timer, whose software costs nothing.
class MessagePrices {
 public:
  explicit MessagePrices(CollectiveTimer& timer) : timer_(timer) {}

  const CallEstimate& of(const TrafficMatrix::Connection& connection, Bytes size);

 private:
  CollectiveTimer& timer_;
  std::map<std::pair<std::pair<std::uint32_t, std::uint32_t>, Bytes>, CallEstimate> known_;
};

/// The messages of a matrix as a step that is repeated: each begins when it is due, at the earliest when the one before
/// it on its connection has been delivered; all again when all have been delivered, and not before `every`.
class BackgroundMessages {
 public:
  /// Requires a matrix without a window, of which every message starts; its sizes take time. Throws as run_jobs().
  BackgroundMessages(const TrafficMatrix& matrix, std::optional<Time> every, MessagePrices& prices);
  BackgroundMessages(const BackgroundMessages&) = delete;
  BackgroundMessages& operator=(const BackgroundMessages&) = delete;

  /// Others do not wait for it. Borrows from this.
  RepeatedStep step() const;
  const std::vector<LinkDemand>& demand() const { return demand_; }

 private:
  void add_message(const TrafficMatrix& matrix, std::uint32_t number, MessagePrices& prices);
  void begin_behind(const TrafficMatrix& matrix);

  std::deque<CallEstimate> own_;
  WorkloadEstimates estimates_;
  std::map<const CallEstimate*, std::uint32_t> numbers_;
  std::vector<std::uint32_t> most_;
  ContestedStep step_;
  std::vector<LinkDemand> demand_;
};

/// What a stream over each connection takes of links, if it has `rate` bytes a second. Throws
/// SimulationError("traffic-too-fast") where a link would have to carry more than it can for all of them.
std::vector<std::vector<LinkShare>> streams_of(const TrafficMatrix& matrix, Bandwidth rate, const Cluster& cluster,
                                               MessagePrices& prices);

/// Gives messages starts as independent senders have them: exponential times of this mean from one to the next.
void spread_by_chance(TrafficMatrix& matrix, Time mean, std::uint64_t seed);

}  // namespace athanor
