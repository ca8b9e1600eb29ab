#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/training/parallel_plan.hpp"
#include "models/training/pipeline/schedule.hpp"
#include "models/training/step/data_parallel.hpp"
#include "models/training/step/lanes.hpp"
#include "models/training/step/rank_grid.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// The communicators and channels of a step, each made when somebody first asks.
class StepDirectory {
 public:
  /// Adds the workers to the workload: of each lane one for each stage. Borrows all.
  StepDirectory(const ParallelPlan& plan, const PipelineSchedule& schedule, const StepLanes& lanes, Workload& workload);

  std::uint32_t worker(std::uint32_t lane, std::uint32_t stage) const { return lane * plan_.pipeline + stage; }
  /// The communicator within one stage that a lane is in.
  std::uint32_t of_stage(std::uint32_t lane, std::uint32_t stage, Parallelism use);
  /// Of those who hold the parameters of one place of the model: several stages, where the pipeline has replicas.
  DataGroups of_place(std::uint32_t lane, std::uint32_t place, bool experts);
  std::uint32_t ends_of_pipeline(std::uint32_t lane);
  std::uint32_t channel(std::uint32_t lane, const std::string& name, std::uint32_t from, std::uint32_t to);

 private:
  void add_workers();
  /// Lanes whose ranks wait for each other, of groups that `groups` makes when it is first asked.
  template <class Groups>
  const StepLanes::Part& part_of(std::uint32_t lane, const std::string& what, const Groups& groups);
  std::string name_in(const StepLanes::Part& part, const std::string& what) const;
  std::vector<std::uint32_t> workers(const StepLanes::Part& part, const std::vector<std::uint32_t>& stages) const;
  DataGroups shared_out(const std::vector<std::uint32_t>& workers, const EndpointGroups& all, const std::string& what);
  std::uint32_t add(const std::string& name, Parallelism use, std::vector<std::uint32_t> workers,
                    const EndpointGroups& groups);

  const ParallelPlan& plan_;
  const PipelineSchedule& schedule_;
  const StepLanes& lanes_;
  Workload& workload_;
  RankGrid dense_;
  RankGrid expert_;
  std::map<std::string, std::vector<StepLanes::Part>> parts_;
};

}  // namespace athanor
