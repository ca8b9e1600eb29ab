#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/experiments/training.hpp"
#include "models/traffic/traffic_matrix.hpp"
#include "models/workload/collective_timer.hpp"
#include "models/workload/side_by_side.hpp"
#include "models/workload/time_shifts.hpp"

namespace athanor {

/// One of several jobs on one fabric: the same step again and again.
struct SideJob {
  std::string name;
  std::string what;                          ///< "training of GPT-2 on 8 A100"
  std::shared_ptr<const Workload> workload;  ///< by rank
  std::vector<std::uint32_t> endpoints;      ///< of the cluster, by rank; no other job has them
  std::shared_ptr<const Training> training;  ///< null: it is none
  Time start;                                ///< of its first step
  std::uint32_t priority = 0;                ///< its calls get links before those of lower ones
  std::uint32_t steps = 0;                   ///< after which it ends; 0: it goes on as long as others are to be done
};

/// Traffic that no job waits for.
struct SideTraffic {
  std::string name;
  TrafficMatrix matrix;           ///< of one round
  std::optional<Bandwidth> rate;  ///< of each connection, without an end; none: its messages are sent
  std::optional<Time> every;      ///< its messages begin again; none: when all have been delivered
};

/// Who decides when first steps begin.
enum class ShiftRule : std::uint8_t {
  given,    ///< SideJob::start
  cassini,  ///< compatible_shifts()
};

/// Who decides who gets links first.
enum class PriorityRule : std::uint8_t {
  given,  ///< SideJob::priority
  crux,   ///< priority_classes() of intensities that are corrected for how jobs meet
};

struct SideBySideSetup {
  std::vector<SideJob> jobs;  ///< at least one
  std::vector<SideTraffic> traffic;
  std::uint32_t steps = 10;   ///< that each job does, which does not say itself
  std::uint32_t warm_up = 0;  ///< first steps that do not count in means; fewer than any job does
  ShiftRule shifts = ShiftRule::given;
  PriorityRule priorities = PriorityRule::given;
  std::uint32_t classes = 8;  ///< of priorities, at most
  std::vector<std::string> notes;
};

/// What became of one of the jobs.
struct SideJobResult {
  Time alone;  ///< of a step while nothing else uses the links
  Time start;  ///< of its first step
  std::uint32_t priority = 0;
  double intensity =
      0;  ///< seconds in which its GPUs compute, all together, for each in which its busiest link is busy
  double computing = 0;     ///< of a step: seconds of all its GPUs together
  std::vector<Time> steps;  ///< each
  Time sending;             ///< in these, calls were under way that others may meet
  Time overlapped;          ///< of that, while others that it shares a link with had some under way, too
  StepStory story;          ///< of all that it did, also behind these steps

  /// Of steps from `warm_up` on. Requires some.
  Time mean(std::uint32_t warm_up) const;
};

/// A link that may be short for several.
struct ContestedLink {
  std::uint32_t link = 0;
  std::vector<std::uint32_t> users;  ///< jobs, then traffic, as they are numbered in the setup, traffic behind jobs
};

struct SideBySideResult {
  std::vector<SideJobResult> jobs;
  std::vector<ContestedLink> links;  ///< in ascending order
  std::optional<TimeShifts> shifts;  ///< where they were looked for
  std::vector<double> traffic;       ///< of what is sent at a rate, by SideTraffic: share of it that it had; else -1
  std::uint64_t events = 0;
};

/// Prices the calls of all jobs on the cluster, and repeats their steps beside each other and beside the traffic: calls
/// and messages go as fast as links leave them room, max-min fair within a priority, as calls of one step do.
/// `pricing`: of jobs; `bare`: of messages, without software. Throws as run_workload() and streams_of().
SideBySideResult simulate_side_by_side(const SideBySideSetup& setup, const PricingSettings& pricing,
                                       const PricingSettings& bare, const std::stop_token& stop);

}  // namespace athanor
