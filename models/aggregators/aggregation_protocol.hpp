#pragma once

#include <cstdint>
#include <vector>

#include "models/aggregators/aggregation_transport.hpp"
#include "models/engines/trees/tree_builder.hpp"
#include "models/network/packet/ring.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// What all protocols have in common by which jobs share slots: jobs that start, workers that wait for results with a
/// timeout, and an end.
class AggregationProtocol : public PacketHandler, public Actor {
 public:
  /// Borrows all of them.
  AggregationProtocol(Simulator& simulator, AggregationTransport& carrier, const std::vector<AggregationJob>& jobs,
                      const AggregatorSettings& settings, const Cluster& cluster);

  /// To be called once, when the carrier is open. Throws SimulationError("timeout-too-short").
  void start();
  /// Requires that the simulator has run. Throws SimulationError("given-up") where a job did not end.
  std::vector<AggregationJobResult> take_results();
  /// When the last job ended.
  Time end() const { return end_; }

  void on_event(std::uint64_t what) override;

 protected:
  std::uint32_t packets(std::uint32_t job) const { return static_cast<std::uint32_t>(results_[job].packets); }
  AggregationJobResult& result(std::uint32_t job) { return results_[job]; }

  /// Of switches that add up, for ranks on these endpoints. Throws as build_aggregation_tree().
  PlacedTree tree_of(const std::vector<VertexId>& endpoints) const;

  /// A connection between two that handle packets of a job, with the costs of whoever it ends at. `span` as
  /// AggregationTransport's.
  enum class End : std::uint8_t { worker, aggregator, server };
  ConnectionId connect(std::uint32_t job, VertexId from, End sender, VertexId to, End receiver, std::uint32_t span);

  /// Worker `worker` has just sent a packet for the try-th time: it may time out.
  void start_timer(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence, std::uint32_t tries);
  /// Throws SimulationError("given-up") at the last of all tries.
  void check_tries(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence, std::uint32_t tries) const;
  /// What worker `worker` has of the vector: so that every result can be checked.
  static std::uint64_t own_part(std::uint32_t worker) { return std::uint64_t{worker} + 1; }
  /// Requires that a result holds every worker's part once.
  void check_sum(std::uint32_t job, const AggregationPacket& packet) const;
  /// A worker has got all results.
  void worker_ends(std::uint32_t job);

  /// The job begins: all its workers send what they may.
  virtual void begin(std::uint32_t job) = 0;
  /// Does the worker still wait for that packet, since it sent it for the try-th time?
  virtual bool waits(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence, std::uint32_t tries) const = 0;
  /// It waited in vain.
  virtual void time_out(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence) = 0;
  /// Of a packet of the job, of the farthest worker, where nothing waits.
  virtual Time round_trip(std::uint32_t job) const = 0;

  AggregationTransport& carrier_;
  const std::vector<AggregationJob>& jobs_;
  const AggregatorSettings& settings_;
  const Cluster& cluster_;

 private:
  struct Timer {
    Time deadline;
    std::uint32_t job = 0;
    std::uint32_t worker = 0;
    std::uint32_t sequence = 0;
    std::uint32_t tries = 0;
  };
  static constexpr std::uint64_t kTimers = UINT64_MAX;  ///< what events mean, beside numbers of jobs

  void work_off_timers();
  Bandwidth busy_rate() const;

  Simulator& simulator_;
  ActorId self_;
  std::vector<AggregationJobResult> results_;
  std::vector<std::uint32_t> workers_left_;  ///< by job
  Ring<Timer> timers_;                       ///< all have one duration, so that the oldest ends first
  bool timers_pending_ = false;
  Time end_;
};

}  // namespace athanor
