#include "models/training/step/step_directory.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "models/training/step/split_groups.hpp"
#include "sim/check.hpp"

namespace athanor {

using Dimension = RankGrid::Dimension;

StepDirectory::StepDirectory(const ParallelPlan& plan, const PipelineSchedule& schedule, const StepLanes& lanes,
                             Workload& workload)
    : plan_(plan),
      schedule_(schedule),
      lanes_(lanes),
      workload_(workload),
      dense_(RankGrid::dense(plan)),
      expert_(RankGrid::expert(plan)) {
  add_workers();
}

void StepDirectory::add_workers() {
  for (const StepLane& lane : lanes_.all()) {
    for (std::uint32_t stage = 0; stage < plan_.pipeline; ++stage) {
      const std::string of = lane.name.empty() ? "" : " of " + lane.name;
      workload_.workers.push_back({fmt::format("stage {}{}", stage, of), lane.ranks, {}, {}, {}});
    }
  }
  if (lanes_.all().size() == 1) { return; }
  for (std::uint32_t stage = 0; stage < plan_.pipeline; ++stage) {
    for (const auto& group : dense_.groups(stage, {Dimension::tensor, Dimension::context, Dimension::data})) {
      for (const std::uint32_t rank : group) {
        workload_.workers[worker(lanes_.of(rank), stage)].endpoints.push_back(rank);
      }
    }
  }
  for (Workload::Worker& each : workload_.workers) { std::sort(each.endpoints.begin(), each.endpoints.end()); }
}

template <class Groups>
const StepLanes::Part& StepDirectory::part_of(std::uint32_t lane, const std::string& what, const Groups& groups) {
  const auto [found, fresh] = parts_.try_emplace(what);
  if (fresh) { found->second = lanes_.parts_of(groups()); }
  for (const StepLanes::Part& part : found->second) {
    if (std::binary_search(part.lanes.begin(), part.lanes.end(), lane)) { return part; }
  }
  require(false, "lane {} has no {}", lane, what);
  return found->second.front();
}

std::string StepDirectory::name_in(const StepLanes::Part& part, const std::string& what) const {
  if (part.lanes.size() == lanes_.all().size()) { return what; }
  return fmt::format("{} of {}{}", what, lanes_.all()[part.lanes.front()].name,
                     part.lanes.size() > 1 ? " and others" : "");
}

std::vector<std::uint32_t> StepDirectory::workers(const StepLanes::Part& part,
                                                  const std::vector<std::uint32_t>& stages) const {
  std::vector<std::uint32_t> all;
  for (const std::uint32_t lane : part.lanes) {
    for (const std::uint32_t stage : stages) { all.push_back(worker(lane, stage)); }
  }
  return all;
}

std::uint32_t StepDirectory::of_stage(std::uint32_t lane, std::uint32_t stage, Parallelism use) {
  const bool experts = use == Parallelism::expert;
  const Dimension dimension = experts                       ? Dimension::expert
                              : use == Parallelism::context ? Dimension::context
                                                            : Dimension::tensor;
  const std::string what = fmt::format("{} of stage {}", name(use), stage);
  const StepLanes::Part& part =
      part_of(lane, what, [&] { return (experts ? expert_ : dense_).groups(stage, {dimension}); });
  return add(name_in(part, what), use, workers(part, {stage}), part.groups);
}

DataGroups StepDirectory::of_place(std::uint32_t lane, std::uint32_t place, bool experts) {
  std::set<std::uint32_t> stages;
  for (std::uint32_t replica = 0; replica < schedule_.replicas; ++replica) {
    stages.insert(schedule_.stage_chunks[replica * schedule_.places() + place].stage);
  }
  const auto& grid = experts ? expert_ : dense_;
  const std::string what = fmt::format("{}place {}", experts ? "experts of " : "", place);
  const StepLanes::Part& part = part_of(lane, what, [&] {
    EndpointGroups all;
    for (const std::uint32_t stage : stages) {
      const EndpointGroups groups = grid.groups(stage, {Dimension::context, Dimension::data});
      all.resize(groups.size());
      for (std::size_t i = 0; i < groups.size(); ++i) {
        all[i].insert(all[i].end(), groups[i].begin(), groups[i].end());
      }
    }
    return all;
  });
  return shared_out(workers(part, {stages.begin(), stages.end()}), part.groups, name_in(part, what));
}

std::uint32_t StepDirectory::ends_of_pipeline(std::uint32_t lane) {
  const std::uint32_t first = schedule_.stage_chunks.front().stage;
  const std::uint32_t last = schedule_.stage_chunks[schedule_.places() - 1].stage;
  const std::vector<std::uint32_t> stages{std::min(first, last), std::max(first, last)};
  const StepLanes::Part part{{lane}, lanes_.of_lane(lane, dense_.pairs(first, last))};
  return add(name_in(part, "embedding"), Parallelism::embedding, workers(part, stages), part.groups);
}

std::uint32_t StepDirectory::channel(std::uint32_t lane, const std::string& name, std::uint32_t from,
                                     std::uint32_t to) {
  const std::string& of = lanes_.all()[lane].name;
  const std::string own = of.empty() ? name : name + " of " + of;
  auto& channels = workload_.channels;
  const auto found =
      std::find_if(channels.begin(), channels.end(), [&](const Workload::Channel& each) { return each.name == own; });
  const auto number = static_cast<std::uint32_t>(found - channels.begin());
  if (found == channels.end()) {
    channels.push_back({own, Parallelism::pipeline, worker(lane, from), worker(lane, to),
                        std::make_shared<const EndpointGroups>(lanes_.of_lane(lane, dense_.pairs(from, to))), false});
  }
  return number;
}

DataGroups StepDirectory::shared_out(const std::vector<std::uint32_t>& workers, const EndpointGroups& all,
                                     const std::string& what) {
  DataGroups result;
  const auto ranks = static_cast<std::uint32_t>(all.front().size());
  const bool whole = plan_.shard_group == 0 || plan_.sharding == Sharding::none;
  result.shard_ranks = whole ? ranks : std::min(ranks, plan_.shard_group);
  result.replicas = ranks / result.shard_ranks;
  result.shard = add("DP of " + what, Parallelism::data, workers, runs_of(all, result.shard_ranks));
  if (plan_.compression.knows_nodes()) {  // whose ranks follow each other
    result.node_ranks = std::min(ranks, plan_.compression.node_ranks);
    result.node = add("DP in nodes of " + what, Parallelism::data, workers, runs_of(all, result.node_ranks));
    result.nodes =
        add("DP between nodes of " + what, Parallelism::data, workers, same_places_of(all, result.node_ranks));
  }
  if (result.replicas == 1) { return result; }
  result.replicate = add("DP copies of " + what, Parallelism::data, workers, same_places_of(all, result.shard_ranks));
  return result;
}

std::uint32_t StepDirectory::add(const std::string& name, Parallelism use, std::vector<std::uint32_t> workers,
                                 const EndpointGroups& groups) {
  auto& all = workload_.communicators;
  const auto is = [&](const Workload::Communicator& each) { return each.name == name; };
  const auto found = std::find_if(all.begin(), all.end(), is);
  const auto number = static_cast<std::uint32_t>(found - all.begin());
  if (found == all.end()) {
    all.push_back({name, use, std::move(workers), std::make_shared<const EndpointGroups>(groups)});
  }
  return number;
}

}  // namespace athanor
