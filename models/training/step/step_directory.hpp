#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "models/training/pipeline/schedule.hpp"
#include "models/training/step/data_parallel.hpp"
#include "models/training/step/rank_grid.hpp"
#include "models/training/step/split_groups.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// The communicators and channels of a step, each made when somebody first asks.
class StepDirectory {
 public:
  StepDirectory(const ParallelPlan& plan, const PipelineSchedule& schedule, Workload& workload)
      : plan_(plan),
        schedule_(schedule),
        workload_(workload),
        dense_(RankGrid::dense(plan)),
        expert_(RankGrid::expert(plan)) {}

  /// Within one stage.
  std::uint32_t of_stage(std::uint32_t stage, Parallelism use) {
    const bool experts = use == Parallelism::expert;
    using Dimension = RankGrid::Dimension;
    const Dimension dimension = experts                       ? Dimension::expert
                                : use == Parallelism::context ? Dimension::context
                                                              : Dimension::tensor;
    return add(fmt::format("{} of stage {}", name(use), stage), use, {stage},
               (experts ? expert_ : dense_).groups(stage, {dimension}));
  }

  /// Of those who hold the parameters of one place of the model: several stages, where the pipeline has replicas.
  DataGroups of_place(std::uint32_t place, bool experts) {
    std::set<std::uint32_t> stages;
    for (std::uint32_t replica = 0; replica < schedule_.replicas; ++replica) {
      stages.insert(schedule_.stage_chunks[replica * schedule_.places() + place].stage);
    }
    const auto& grid = experts ? expert_ : dense_;
    EndpointGroups all;
    for (const std::uint32_t stage : stages) {
      const EndpointGroups groups = grid.groups(stage, {RankGrid::Dimension::context, RankGrid::Dimension::data});
      all.resize(groups.size());
      for (std::size_t i = 0; i < groups.size(); ++i) {
        all[i].insert(all[i].end(), groups[i].begin(), groups[i].end());
      }
    }
    return shared_out({stages.begin(), stages.end()}, all,
                      fmt::format("{}place {}", experts ? "experts of " : "", place));
  }

  std::uint32_t ends_of_pipeline() {
    const std::uint32_t first = schedule_.stage_chunks.front().stage;
    const std::uint32_t last = schedule_.stage_chunks[schedule_.places() - 1].stage;
    return add("embedding", Parallelism::embedding, {std::min(first, last), std::max(first, last)},
               dense_.pairs(first, last));
  }

  std::uint32_t channel(const std::string& name, std::uint32_t from, std::uint32_t to) {
    const auto is = [&](const Workload::Channel& each) { return each.name == name; };
    auto& channels = workload_.channels;
    const auto found = std::find_if(channels.begin(), channels.end(), is);
    const auto number = static_cast<std::uint32_t>(found - channels.begin());
    if (found == channels.end()) {
      channels.push_back({name, Parallelism::pipeline, from, to,
                          std::make_shared<const EndpointGroups>(dense_.pairs(from, to)), false});
    }
    return number;
  }

 private:
  DataGroups shared_out(const std::vector<std::uint32_t>& stages, const EndpointGroups& all, const std::string& what) {
    DataGroups result;
    const auto ranks = static_cast<std::uint32_t>(all.front().size());
    const bool whole = plan_.shard_group == 0 || plan_.sharding == Sharding::none;
    result.shard_ranks = whole ? ranks : std::min(ranks, plan_.shard_group);
    result.replicas = ranks / result.shard_ranks;
    result.shard = add("DP of " + what, Parallelism::data, stages, runs_of(all, result.shard_ranks));
    if (plan_.compression.knows_nodes()) {  // whose ranks follow each other
      result.node_ranks = std::min(ranks, plan_.compression.node_ranks);
      result.node = add("DP in nodes of " + what, Parallelism::data, stages, runs_of(all, result.node_ranks));
      result.nodes =
          add("DP between nodes of " + what, Parallelism::data, stages, same_places_of(all, result.node_ranks));
    }
    if (result.replicas == 1) { return result; }
    result.replicate = add("DP copies of " + what, Parallelism::data, stages, same_places_of(all, result.shard_ranks));
    return result;
  }

  std::uint32_t add(const std::string& name, Parallelism use, std::vector<std::uint32_t> workers,
                    EndpointGroups groups) {
    auto& all = workload_.communicators;
    const auto is = [&](const Workload::Communicator& each) { return each.name == name; };
    const auto found = std::find_if(all.begin(), all.end(), is);
    const auto number = static_cast<std::uint32_t>(found - all.begin());
    if (found == all.end()) {
      all.push_back({name, use, std::move(workers), std::make_shared<const EndpointGroups>(std::move(groups))});
    }
    return number;
  }

  const ParallelPlan& plan_;
  const PipelineSchedule& schedule_;
  Workload& workload_;
  RankGrid dense_;
  RankGrid expert_;
};

}  // namespace athanor
