#include "models/experiments/fabric_load.hpp"

#include <algorithm>
#include <optional>

#include "sim/check.hpp"
#include "sim/id_vector.hpp"

namespace athanor {

namespace {

bool is_switch(const Vertex& vertex) { return vertex.node == kNoNode && vertex.kind >= VertexKind::leaf; }

/// The switch that a link between switches counts for: the lower one, its source where both are alike.
std::optional<VertexId> owner_of(LinkId link, const Fabric& fabric) {
  const VertexId from = fabric.source(link);
  const VertexId to = fabric.target(link);
  if (fabric.link(link).kind != LinkKind::network) { return {}; }
  if (!is_switch(fabric.vertex(from)) || !is_switch(fabric.vertex(to))) { return {}; }
  return fabric.vertex(to).kind < fabric.vertex(from).kind ? to : from;
}

/// One job that uses a link.
struct Use {
  double since = 0;
  double until = 0;
  double busy = 0;  ///< share of that time
};

/// How long no, one, two, three or more jobs use a link.
FabricLoad::SharedBy shared_by(const std::vector<Use>& uses, double end) {
  std::vector<std::pair<double, int>> changes;
  for (const Use& use : uses) {
    changes.emplace_back(use.since, 1);
    changes.emplace_back(use.until, -1);
  }
  std::sort(changes.begin(), changes.end());
  FabricLoad::SharedBy times = {};
  double last = 0;
  std::size_t jobs = 0;
  for (const auto& [when, by] : changes) {
    times[std::min(jobs, times.size() - 1)] += when - last;
    last = when;
    jobs = static_cast<std::size_t>(static_cast<int>(jobs) + by);
  }
  times[0] += end - last;
  return times;
}

/// Adds what a link sends to the spans of time, in seconds; returns all of it.
double add_busy(const std::vector<Use>& uses, double width, std::vector<double>& spans) {
  double sum = 0;
  for (const Use& use : uses) {
    sum += use.busy * (use.until - use.since);
    auto span = static_cast<std::size_t>(use.since / width);
    for (double from = use.since; from < use.until && span < spans.size(); ++span) {
      const double to = std::min(use.until, width * static_cast<double>(span + 1));
      spans[span] += use.busy * std::max(0.0, to - from);
      from = to;
    }
  }
  return sum;
}

/// Who uses which link when.
class LinkUses {
 public:
  LinkUses(const JobsRun& run, const JobList& jobs, TrainingSpeeds& trainings)
      : run_(run), jobs_(jobs), trainings_(trainings) {}

  std::map<std::uint32_t, std::vector<Use>> find() {
    std::map<JobId, double> had;
    for (const JobStint& stint : run_.stints) { had[stint.job] += seconds(stint.until - stint.since); }
    for (const JobStint& stint : run_.stints) {
      const auto pace = trainings_.paces().find(stint.job);
      if (pace == trainings_.paces().end() || had[stint.job] <= 0) { continue; }
      const TrainingSpeeds::LinkUse& use = use_of(stint);
      const double steps = pace->second.alone / use.step / had[stint.job];  // a second
      for (const auto& [link, busy] : use.busy) {
        if (busy > 0) { uses_[link].push_back({seconds(stint.since), seconds(stint.until), busy * steps}); }
      }
    }
    return std::move(uses_);
  }

 private:
  /// A job that begins again where it was does the same there.
  const TrainingSpeeds::LinkUse& use_of(const JobStint& stint) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> where{{jobs_.jobs[stint.job].activity.value, 0}};
    for (const NodeShare& share : stint.where) {
      for (std::uint32_t gpu = 0; gpu < GpuSet::kMost; ++gpu) {
        if (share.gpus.has(gpu)) { where.emplace_back(share.node.value, gpu); }
      }
    }
    const auto [found, fresh] = known_.try_emplace({stint.job, std::move(where)});
    if (fresh) { found->second = trainings_.link_use(jobs_.jobs[stint.job].activity, stint.where); }
    return found->second;
  }

  const JobsRun& run_;
  const JobList& jobs_;
  TrainingSpeeds& trainings_;
  std::map<std::pair<JobId, std::vector<std::pair<std::uint32_t, std::uint32_t>>>, TrainingSpeeds::LinkUse> known_;
  std::map<std::uint32_t, std::vector<Use>> uses_;
};

/// Shares of time of what are sums over links, in seconds.
void average(FabricLoad::OfSwitch& of, double width, double end) {
  const double links = of.links;
  for (std::size_t span = 0; span < of.busy.size(); ++span) {
    const double length = std::min(width, end - width * static_cast<double>(span));
    of.busy[span] = length > 0 ? of.busy[span] / (length * links) : 0;
  }
  for (double& time : of.shared) { time /= end * links; }
  of.busiest /= end;
}

}  // namespace

FabricLoad fabric_load(const JobsRun& run, const JobList& jobs, const Fabric& fabric, TrainingSpeeds& trainings,
                       std::uint32_t spans) {
  require(spans > 0, "no span of time");
  FabricLoad load;
  const double end = seconds(run.ended);
  if (end <= 0) { return load; }
  load.width = end / spans;
  const std::map<std::uint32_t, std::vector<Use>> uses = LinkUses(run, jobs, trainings).find();
  std::map<std::pair<VertexKind, VertexId>, FabricLoad::OfSwitch> switches;
  for (std::uint32_t link = 0; link < fabric.links(); ++link) {
    const auto owner = owner_of(LinkId{link}, fabric);
    if (!owner) { continue; }
    FabricLoad::OfSwitch& of = switches[{fabric.vertex(*owner).kind, *owner}];
    ++of.links;
    of.busy.resize(spans);
    static const std::vector<Use> kNone;
    const auto found = uses.find(link);
    const std::vector<Use>& those = found == uses.end() ? kNone : found->second;
    of.busiest = std::max(of.busiest, add_busy(those, load.width, of.busy));
    const FabricLoad::SharedBy shared = shared_by(those, end);
    for (std::size_t jobs_there = 0; jobs_there < shared.size(); ++jobs_there) {
      of.shared[jobs_there] += shared[jobs_there];
    }
  }
  for (auto& [key, of] : switches) {
    of.name = fabric.name(key.second);
    average(of, load.width, end);
    load.switches.push_back(std::move(of));
  }
  return load;
}

}  // namespace athanor
