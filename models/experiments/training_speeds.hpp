#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "models/experiments/placed_training.hpp"
#include "models/jobs/job.hpp"
#include "models/jobs/speed.hpp"
#include "sim/id_vector.hpp"

namespace athanor {

/// What a job does that is simulated: steps of a training.
struct JobActivity {
  std::uint32_t training = 0;  ///< of TrainingSpeeds
  std::uint64_t steps = 0;     ///< that it takes; 0: as many as fit into its duration
};

/// How trainings on one fabric get on with each other.
struct ContentionRules {
  enum class Links : std::uint8_t {
    shared,   ///< as far as calls meet on links, they slow each other down
    ignored,  ///< each training has its links to itself
  };
  Links links = Links::shared;
  /// Trainings begin their steps at any time of the others': the mean over so many draws of when.
  std::uint32_t phases = 4;
  /// Trainings that meet are shifted in time against each other, where that keeps their calls apart (CASSINI).
  bool interleaved = false;
  enum class Priorities : std::uint8_t {
    none,
    by_intensity,  ///< who computes most for the time of its busiest link gets links first (Crux)
  };
  Priorities priorities = Priorities::none;
};

/// How fast a job that trains went, as a share of how fast it would be.
struct TrainingPace {
  double time = 0;   ///< in which it trained, in seconds
  double alone = 0;  ///< what its work would have taken where it was, without others
  double best = 0;   ///< what its work would have taken on the first nodes of an empty cluster
};

/// Jobs that train work as fast as their steps take where they are, beside the others that run: calls of their steps
/// are priced on the fabric, and steps of trainings that meet on links are simulated side by side, and beside streams.
/// What they do at full speed is what they do on the first nodes of an empty cluster.
class TrainingSpeeds final : public SpeedModel {
 public:
  using Trainings = std::vector<std::shared_ptr<const TrainingExperiment>>;

  /// `activities`: as Job::activity numbers them, from 1 on. `endpoints`: of each node of the list, in the order of its
  /// GPUs. `others`: of jobs that do nothing of that.
  TrainingSpeeds(Trainings trainings, std::vector<JobActivity> activities,
                 IdVector<NodeId, std::vector<std::uint32_t>> endpoints, ContentionRules rules,
                 std::unique_ptr<SpeedModel> others, const Platform& platform, const RunOptions& options);

  /// Gives jobs that are said in steps their durations. Throws as run_workload().
  void set_durations(JobList& jobs);

  JobPace pace(const RunningJob& running, WallTime done, const ClusterState& state) override;
  void stopped(JobId job, WallTime done, WallTime now) override;
  std::optional<double> expected(JobId job, WallTime done, std::uint32_t nodes, std::uint32_t gpus) override {
    return others_->expected(job, done, nodes, gpus);  // no training is elastic
  }
  bool depends_on_others() const override {
    return rules_.links == ContentionRules::Links::shared || others_->depends_on_others();
  }

  bool meets_streams() const override { return rules_.links == ContentionRules::Links::shared; }
  BesideStreams beside(const std::vector<LinkStream>& streams, const ClusterState& state) override;

  /// What a step of a job takes there alone, in seconds, and of which links. Requires a job that trains.
  struct LinkUse {
    double step = 0;
    std::map<std::uint32_t, double> busy;  ///< by link, seconds
  };
  LinkUse link_use(ActivityId activity, const Allocation& where);

  /// By job; none of those that never trained.
  const std::map<JobId, TrainingPace>& paces() const { return paces_; }
  std::uint64_t placements() const { return next_place_; }   ///< that were priced
  std::uint64_t side_by_side() const { return simulated_; }  ///< groups, with streams, that were simulated together

 private:
  using PlaceId = std::uint32_t;
  struct Place {
    PlaceId id = 0;
    std::unique_ptr<PlacedTraining> training;
  };
  /// A job that trains at present.
  struct Active {
    JobId job;
    Place* place = nullptr;
    Time step;    ///< beside others that train
    Time beside;  ///< and beside streams
  };
  /// Places and streams that meet: the shares of links that may be short.
  using Meeting = std::pair<std::vector<PlaceId>, std::vector<std::vector<std::pair<std::uint32_t, double>>>>;
  struct Together {
    std::vector<Time> steps;
    std::vector<double> streams;  ///< share of its rate that each has
  };
  /// Those who train, and streams, that meet on links.
  struct Group {
    std::vector<Active*> trainings;
    std::vector<std::uint32_t> streams;
  };
  struct Since {
    WallTime when;
    double alone = 1;  ///< speed, as a share of that of the best place
    double now = 1;
  };

  Place& place(std::uint32_t training, const Allocation& where);
  Place& place(std::uint32_t training, const std::vector<std::uint32_t>& endpoints);
  Time best(std::uint32_t training);
  std::vector<std::uint32_t> endpoints_of(const Allocation& where) const;
  void look_at(const ClusterState& state);
  /// What all those do beside each other.
  Together meet(std::vector<Active*> all, const std::vector<LinkStream>& streams);
  const Together& meet(const Group& group, const std::vector<LinkStream>& streams,
                       std::span<const std::uint32_t> links);
  using Streams = std::vector<std::vector<LinkShare>>;
  Together together(const std::vector<Active*>& group, const Streams& streams, std::span<const std::uint32_t> links);
  Together at_random(const std::vector<RepeatedStep>& steps, const Streams& streams, const std::vector<Active*>& group);
  Together interleaved(const std::vector<RepeatedStep>& steps, const Streams& streams,
                       const std::vector<Active*>& group);
  void forget();
  void account(JobId job, WallTime now);

  Trainings trainings_;
  std::vector<JobActivity> activities_;
  IdVector<NodeId, std::vector<std::uint32_t>> endpoints_;
  ContentionRules rules_;
  std::unique_ptr<SpeedModel> others_;
  std::stop_token stop_;
  CollectiveTimer timer_;
  std::vector<Workload> workloads_;  ///< by training
  std::map<std::uint32_t, Time> best_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, Place> places_;
  std::vector<PlacedTraining*> fresh_;  ///< that were priced since forget()
  std::map<Meeting, Together> together_;
  std::map<JobId, Active> active_;
  std::uint64_t seen_ = 0;  ///< ClusterState::changes() that active_ is of
  std::map<JobId, Since> since_;
  std::map<JobId, TrainingPace> paces_;
  std::size_t remembered_ = 0;
  PlaceId next_place_ = 0;
  std::uint64_t simulated_ = 0;
};

}  // namespace athanor
