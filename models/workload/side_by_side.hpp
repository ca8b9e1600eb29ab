#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "models/workload/call_estimate.hpp"
#include "models/workload/contested_step.hpp"
#include "models/workload/transfers.hpp"
#include "models/workload/workload.hpp"
#include "sim/time.hpp"

namespace athanor {

/// How much of a link a workload takes at most, beside what else it does at that time.
struct LinkDemand {
  std::uint32_t link = 0;
  double share = 0;  ///< above 0; above 1 where its own calls may be slowed down by each other
};

/// Of all links that it uses, in ascending order. `most`: as of most_at_once().
std::vector<LinkDemand> link_demand(const WorkloadEstimates& estimates, const std::vector<std::uint32_t>& most);

/// Workloads that belong together since links may be short for them.
struct LinkGroups {
  std::vector<std::uint32_t> of;     ///< by workload, its group; counted from 0 in the order of their first workloads
  std::vector<std::uint32_t> links;  ///< that may be short for several, in ascending order
};
LinkGroups groups_by_links(std::span<const std::vector<LinkDemand>* const> demands);

/// Of each estimate, whether it uses one of these links, which are in ascending order.
std::vector<bool> uses(const WorkloadEstimates& estimates, std::span<const std::uint32_t> links);

/// These estimates, and all others of the workload that may slow them down, directly or over others. `most`: as of
/// most_at_once().
std::vector<bool> with_contenders(const WorkloadEstimates& estimates, const std::vector<std::uint32_t>& most,
                                  std::vector<bool> contested);

/// A step that is done again and again.
struct RepeatedStep {
  const ContestedStep* step = nullptr;
  const WorkloadEstimates* estimates = nullptr;      ///< of its workload, on the fabric that all of them share
  const std::vector<std::uint32_t>* most = nullptr;  ///< its most_at_once()
  std::uint32_t priority = 0;                        ///< its transfers get links before those of lower ones
  Time behind = {};                                  ///< each repetition ends so much after all of it has been done
  std::uint32_t repetitions = 0;                     ///< after which it ends; 0: it goes on as long as the others
  bool counts = true;                                ///< others go on until it has been done often enough
};

/// A stretch of time.
struct TimeStretch {
  Time begin;
  Time end;
};

/// What a step did while it was repeated.
struct StepStory {
  std::vector<Time> ends;            ///< of each repetition
  std::vector<TimeStretch> sending;  ///< in which transfers were under way that others may meet, in order
};

/// Steps that are repeated on one fabric beside each other: each begins again when it has ended, or ends for good.
/// Streams, such as what is read from a storage, go on all the time between the calls of steps: each is one flow, as a
/// call is, and gets links behind all steps that have a priority above 0.
class StepsSideBySide {
 public:
  struct Outcome {
    std::vector<Time> periods;    ///< what each step takes from one repetition to the next
    std::vector<double> streams;  ///< share of its rate that each stream has on average
  };

  /// Requires steps that take time, and streams that leave each other room on all links: what each takes of links if
  /// it has its rate. Borrows what the steps point to.
  explicit StepsSideBySide(std::span<const RepeatedStep> steps, std::span<const std::vector<LinkShare>> streams = {});

  /// The mean of at least `repetitions` of each step behind the first one, in which each finds its place among the
  /// others. `begins`: of each for the first time. Throws Interrupted.
  Outcome run(std::span<const Time> begins, std::uint32_t repetitions, const std::stop_token& stop) const;
  std::vector<Time> periods(std::span<const Time> begins, std::uint32_t repetitions,
                            const std::stop_token& stop) const {
    return run(begins, repetitions, stop).periods;
  }

  struct Story {
    std::vector<StepStory> steps;
    std::vector<double> streams;  ///< share of its rate that each stream has on average
    std::uint64_t events = 0;
  };
  /// All that happens until each step that counts has been done `repetitions` times, or as often as it says itself; at
  /// least one counts. Throws as run().
  Story story(std::span<const Time> begins, std::uint32_t repetitions, const std::stop_token& stop) const;

 private:
  struct Step {
    RepeatedStep given;
    std::vector<std::uint32_t> works;  ///< by transfer, into works_
  };
  class Run;

  std::vector<Step> steps_;
  std::vector<Transfers::Work> works_;  ///< of those estimates that steps have something of, and of streams
  std::uint32_t first_stream_ = 0;      ///< of these
  CallShares shares_;
};

}  // namespace athanor
