#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/execution/packet_layout.hpp"
#include "models/execution/simulate.hpp"
#include "models/network/queue_pairs.hpp"

namespace athanor {

class PacketNetwork;

/// The network of a plan at one of the levels, its queue pairs included: what is moved over connection c of the plan
/// goes over all of them.
class PlanNetwork {
 public:
  /// Borrows all of them but the options. At packet level: requires a plan that is not folded; throws as packet_plan().
  PlanNetwork(Simulator& simulator, const Plan& plan, const Fabric& fabric, const SimulationOptions& options,
              std::uint64_t seed, MoveListener& listener);
  ~PlanNetwork();
  PlanNetwork(const PlanNetwork&) = delete;
  PlanNetwork& operator=(const PlanNetwork&) = delete;

  Network& network();

  /// What each link of the plan has carried by `time`: payload (at packet level: of data packets, as if all were full).
  /// Requires that no link carried more than its rate, but at the ideal level, where they may.
  std::vector<LinkLoad> loads(Time time) const;
  /// Over which loads count, given that everything was delivered by `time`: longer where packets are sent again that
  /// need not have been, and while the last ones are acknowledged.
  Time observed(Time time) const;
  /// What became of packets; none at the other levels.
  std::optional<PacketCounters> packets() const;
  /// By link of the plan, then at packet level those that replies and further ways take; empty unless
  /// SimulationOptions::count_ports.
  std::vector<PortLoad> ports(Time time) const;

 private:
  bool is_paired() const { return plan_.queue_pairs > 1; }
  std::uint32_t links() const;
  LinkId id(std::uint32_t link) const;
  std::uint32_t members(std::uint32_t link) const;
  Bandwidth wire_rate(std::uint32_t link) const;
  Bytes payload_of(std::uint32_t link, Bytes wire) const;

  const Plan& plan_;
  const Fabric& fabric_;
  SimulationOptions options_;
  QueuePairs pairs_;
  std::optional<PacketsLaidOut> layout_;
  std::unique_ptr<Network> beneath_;
  PacketNetwork* packets_ = nullptr;  ///< `beneath_`, at packet level
};

}  // namespace athanor
