#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/checkpoints.hpp"
#include "models/jobs/failures/failure_rules.hpp"
#include "models/jobs/inventory.hpp"
#include "models/jobs/node_list.hpp"
#include "sim/event_queue.hpp"
#include "sim/random.hpp"

namespace athanor {

/// When parts of a cluster fail, or begin to be slow: the superposition of what each does. Failures of jobs are drawn
/// by whoever runs them.
class FailureProcess {
 public:
  /// A part that has failed, and until when its nodes are lost; or that slows them down, for as long as somebody says
  /// by renew().
  struct Failure {
    std::uint32_t source = 0;   ///< of the rules
    std::uint32_t part = 0;     ///< which one, of all
    std::vector<NodeId> nodes;  ///< that it takes away, or slows down
    WallTime repaired;          ///< of one that takes them away
  };

  /// Throws SimulationError("no-tier").
  FailureProcess(const FailureRules& rules, const NodeList& nodes, std::uint64_t seed);

  /// When the next part fails; max: none does.
  WallTime next() const { return events_.empty() ? WallTime::max() : events_.top().when; }
  /// Takes the next one.
  Failure take();
  /// A part that was slow works from then on as well as others, and fails again sometime.
  void renew(std::uint32_t part, WallTime from) { schedule(part, from); }
  /// A span of that source, of what it draws.
  WallTime draw(std::uint32_t source, const RandomSpan& span) { return span.draw(streams_[source]); }
  /// A node is as good as new from then on, and no lemon any more; max: it is gone for good.
  void replace(NodeId node, WallTime from);
  /// The mean time between failures that hit a job there; max: none does. Of parts that age it is the one in the long
  /// run. What slows nodes down does not count; nor, where there is a `memory`, what leaves copies of all that the job
  /// keeps there, if it begins again in place.
  WallTime mttf(const Allocation& where, const MemoryCheckpoints* memory = nullptr) const;
  /// When a job that starts now fails by itself, and by which source; max: never.
  std::pair<WallTime, std::uint32_t> job_failure(WallTime now);

 private:
  /// A part that fails.
  struct Part {
    std::uint32_t source = 0;
    std::uint32_t number = 0;  ///< a node, or a domain of the source
    std::uint64_t order = 0;   ///< of its next failure; events of other orders are void
  };
  /// Nodes that fail together, of a source that is a tier or a rack.
  struct Domains {
    std::vector<std::vector<NodeId>> nodes;
    IdVector<NodeId, std::uint32_t> of_node;
  };

  static Domains domains_of(const FailureSource& source, const NodeList& nodes);
  void add_parts(std::uint32_t source, const NodeList& nodes);
  void schedule(std::uint32_t part, WallTime from);
  /// Drops events that are void.
  void drop_void();
  bool is_of_node(const Part& part) const { return domains_[part.source].nodes.empty(); }
  /// What comes without memory from several things comes without memory from their node. What is slow stays so for
  /// a while, and each thing by itself.
  bool is_pooled(const FailureSource& source) const {
    return source.between.law == RandomSpan::Law::exponential && !source.slows();
  }
  double lemon_factor(const Part& part) const;

  const FailureRules& rules_;
  const NodeList& nodes_;
  std::vector<RandomStream> streams_;  ///< of each source
  RandomStream lemons_;
  std::vector<bool> is_lemon_;
  std::vector<Part> parts_;
  std::vector<Domains> domains_;  ///< of each source
  EventQueueOf<WallTime> events_;
  std::uint64_t orders_ = 0;
};

}  // namespace athanor
