#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/experiments/scenario/training_section.hpp"
#include "models/experiments/scenario/workload_jobs.hpp"
#include "models/experiments/training_speeds.hpp"
#include "models/jobs/node_list.hpp"

namespace athanor {

/// A training that jobs of a workload do, as a scenario writes it.
struct WorkloadTraining {
  std::string name;
  TrainingConfig config;
};

void visit(Fields& fields, ReadingContext& context, WorkloadTraining& training);
void visit(Fields& fields, ContentionRules& contention);

/// What is simulated of jobs that train.
struct WorkloadTrainings {
  std::vector<std::shared_ptr<const Training>> trainings;
  std::vector<JobActivity> activities;  ///< as Job::activity numbers them, from 1 on
  std::vector<std::string> notes;       ///< what a user may not have meant
};

/// Makes of trainings by name what can be simulated on as many GPUs as jobs ask for.
class TrainingResolution {
 public:
  /// Borrows all of them.
  TrainingResolution(ReadingContext& context, const ClusterConfig& described, const Cluster& cluster,
                     const NodeList& nodes, const std::vector<WorkloadTraining>& written)
      : context_(context), described_(described), cluster_(cluster), nodes_(nodes), written_(written) {}

  /// Gives a kind of job that trains its activity and its tasks: whole nodes where its GPUs make up such. What is in
  /// the way is added to the problems.
  void resolve(WorkloadJobKind& job);

  /// Of all jobs so far. What is written and nobody trains is a problem.
  WorkloadTrainings take();

 private:
  bool problem(const SourceLocation& place, std::string code, std::string message, std::string hint);
  /// UINT32_MAX where something is in the way.
  std::uint32_t training_on(std::uint32_t number, std::uint32_t gpus);
  std::uint32_t gpus_of(const WorkloadJobKind& job, const TrainingConfig& config);
  void spread(WorkloadJobKind& job, std::uint32_t gpus) const;
  bool is_possible(const WorkloadJobKind& job);

  ReadingContext& context_;
  const ClusterConfig& described_;
  const Cluster& cluster_;
  const NodeList& nodes_;
  const std::vector<WorkloadTraining>& written_;
  WorkloadTrainings all_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_;  ///< by number and GPUs, into all_.trainings
};

}  // namespace athanor
