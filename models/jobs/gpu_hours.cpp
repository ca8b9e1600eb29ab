#include "models/jobs/gpu_hours.hpp"

#include <algorithm>

#include "models/jobs/inventory.hpp"

namespace athanor {

namespace {

constexpr double kHour = 3600;

/// GPUs that one task's share of a node comes to: shares of one GPU in thousandths.
double gpus_in_use(const NodeShare& share, const Shape& shape) {
  return static_cast<double>(gpu_milli_of({share}, shape)) / Inventory::kWhole;
}

struct Stay {
  WallTime since;
  WallTime until;
  double gpus = 0;
};

IdVector<NodeId, std::vector<Stay>> stays_of(const JobsRun& run, const JobList& jobs, const NodeList& nodes) {
  IdVector<NodeId, std::vector<Stay>> stays(nodes.count());
  for (const JobStint& stint : run.stints) {
    for (const NodeShare& share : stint.where) {
      stays[share.node].push_back({stint.since, stint.until, gpus_in_use(share, jobs.shape(stint.job))});
    }
  }
  return stays;
}

double overlap(WallTime since, WallTime until, const Stay& stay) {
  return std::max(0.0, seconds(std::min(until, stay.until)) - seconds(std::max(since, stay.since)));
}

/// In GPU seconds, of all GPUs of a node that were down but for those that jobs held still.
double down_seconds(WallTime since, WallTime until, double gpus, const std::vector<Stay>& stays) {
  double held = 0;
  for (const Stay& stay : stays) { held += stay.gpus * overlap(since, until, stay); }
  return std::max(0.0, gpus * seconds(until - since) - held);
}

}  // namespace

IdVector<NodeId, NodeHours> hours_by_node(const JobsRun& run, const JobList& jobs, const NodeList& nodes) {
  const IdVector<NodeId, std::vector<Stay>> stays = stays_of(run, jobs, nodes);
  IdVector<NodeId, NodeHours> hours(nodes.count());
  for (const NodeId node : nodes.nodes.ids()) {
    for (const Stay& stay : stays[node]) { hours[node].used += stay.gpus * seconds(stay.until - stay.since) / kHour; }
  }
  IdVector<NodeId, WallTime> up(nodes.count());  // outages of one node may overlap
  for (const Outage& outage : run.outages) {
    const WallTime since = std::max(outage.since, up[outage.node]);
    const WallTime until = std::min(outage.until, run.ended);
    if (until <= since) { continue; }
    up[outage.node] = until;
    hours[outage.node].down += down_seconds(since, until, nodes.nodes[outage.node].gpus, stays[outage.node]) / kHour;
  }
  for (const NodeId node : nodes.nodes.ids()) {
    const double all = nodes.nodes[node].gpus * seconds(run.ended) / kHour;
    hours[node].idle = std::max(0.0, all - hours[node].used - hours[node].down);
  }
  return hours;
}

GpuHours gpu_hours_of(const JobsRun& run, const JobList& jobs, const NodeList& nodes) {
  GpuHours hours;
  double had = 0;
  for (const JobOutcome& outcome : run.outcomes) {
    const double time = seconds(outcome.time.all());
    if (time <= 0) { continue; }
    const double gpus = outcome.gpu_seconds / time;  // on average, where that changed
    had += outcome.gpu_seconds / kHour;
    hours.useful += gpus * seconds(outcome.time.useful) / kHour;
    hours.writing += gpus * seconds(outcome.time.writing) / kHour;
    hours.lost += gpus * seconds(outcome.time.lost) / kHour;
    hours.detecting += gpus * seconds(outcome.time.detecting) / kHour;
    hours.incomplete += gpus * seconds(outcome.time.incomplete) / kHour;
    hours.starting += gpus * seconds(outcome.time.starting) / kHour;
  }
  for (const NodeHours& node : hours_by_node(run, jobs, nodes)) { hours.down += node.down; }
  hours.idle = std::max(0.0, nodes.gpus() * seconds(run.ended) / kHour - had - hours.down);
  return hours;
}

}  // namespace athanor
