#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/failures/failure_rules.hpp"
#include "models/jobs/inventory.hpp"
#include "models/jobs/node_list.hpp"
#include "sim/event_queue.hpp"
#include "sim/random.hpp"

namespace athanor {

/// When parts of a cluster fail: the superposition of what each does. Failures of jobs are drawn by whoever runs them.
class FailureProcess {
 public:
  /// A part that has failed, and until when its nodes are lost.
  struct Failure {
    std::uint32_t source = 0;   ///< of the rules
    std::vector<NodeId> nodes;  ///< that it takes away
    WallTime repaired;
  };

  /// Throws SimulationError("no-tier").
  FailureProcess(const FailureRules& rules, const NodeList& nodes, std::uint64_t seed);

  /// When the next part fails; max: none does.
  WallTime next() const { return events_.empty() ? WallTime::max() : events_.top().when; }
  /// Takes the next one.
  Failure take();
  /// The mean time between failures that hit a job there; max: none does. Of parts that age it is the one in the long
  /// run.
  WallTime mttf(const Allocation& where) const;
  /// When a job that starts now fails by itself, and by which source; max: never.
  std::pair<WallTime, std::uint32_t> job_failure(WallTime now);

 private:
  /// A part that fails.
  struct Part {
    std::uint32_t source = 0;
    std::uint32_t number = 0;  ///< a node, or a domain of the source's tier
  };
  struct Domains {
    std::vector<std::vector<NodeId>> nodes;
  };

  void add_parts(std::uint32_t source, const NodeList& nodes);
  void schedule(std::uint32_t part, WallTime from);
  double lemon_factor(const Part& part) const;
  const std::vector<std::vector<NodeId>>& domains(std::uint32_t source) const { return domains_[source].nodes; }

  const FailureRules& rules_;
  const NodeList& nodes_;
  std::vector<RandomStream> streams_;  ///< of each source
  RandomStream lemons_;
  std::vector<bool> is_lemon_;
  std::vector<Part> parts_;
  std::vector<Domains> domains_;  ///< of each source that is a tier
  EventQueueOf<WallTime> events_;
  std::uint64_t orders_ = 0;
};

}  // namespace athanor
