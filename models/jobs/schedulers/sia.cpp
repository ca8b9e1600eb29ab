#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "models/jobs/schedulers/elastic_scheduler.hpp"
#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/sia_choice.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

struct SiaSettings {
  ElasticSettings elastic;
  Ratio power{-1, 2};
  Ratio without{11, 10};
};

/// The most GPUs of a node of each type.
std::vector<std::uint32_t> largest_nodes(const NodeList& nodes) {
  std::vector<std::uint32_t> most(std::max<std::size_t>(nodes.gpu_types.size(), 1));
  for (const Node& node : nodes.nodes) {
    most[node.gpu_type] = std::max<std::uint32_t>(most[node.gpu_type], node.gpus);
  }
  return most;
}

class SiaScheduler final : public ElasticScheduler {
 public:
  SiaScheduler(const SiaSettings& settings, const JobList& jobs, const NodeList& nodes)
      : ElasticScheduler(settings.elastic, jobs), settings_(settings), nodes_(nodes), per_node_(largest_nodes(nodes)) {}

 private:
  Rows choose(const std::vector<JobId>& jobs, const Rows& present, const ClusterState& state) override {
    const std::vector<std::uint32_t> nodes = capacity(state);
    std::vector<std::uint32_t> gpus(per_node_.size());
    for (const NodeId node : nodes_.nodes.ids()) { gpus[type_of(node)] += nodes[node.value]; }
    std::vector<SiaJob> wanted;
    for (std::size_t i = 0; i < jobs.size(); ++i) { wanted.push_back(job_of(jobs[i], present[i], state)); }
    const std::vector<std::optional<SiaOption>> chosen = cheapest_options(wanted, gpus);
    Rows rows(jobs.size(), GpuRow(nodes.size()));
    for (std::uint16_t type = 0; type < gpus.size(); ++type) { place(type, chosen, present, nodes, rows); }
    return rows;
  }

  /// Places those that get GPUs of a type on its nodes.
  void place(std::uint16_t type, const std::vector<std::optional<SiaOption>>& chosen, const Rows& present,
             std::vector<std::uint32_t> nodes, Rows& rows) const {
    for (const NodeId node : nodes_.nodes.ids()) {
      if (type_of(node) != type) { nodes[node.value] = 0; }
    }
    std::vector<std::uint32_t> sizes;
    for (const auto& option : chosen) { sizes.push_back(option && option->type == type ? option->gpus : 0); }
    const Rows placed = sia_places(sizes, present, nodes);
    for (std::size_t job = 0; job < rows.size(); ++job) {
      if (sizes[job] > 0) { rows[job] = placed[job]; }
    }
  }

  /// Speeds count over that of the smallest size, on the type on which that is slowest.
  SiaJob job_of(JobId id, const GpuRow& present, const ClusterState& state) const {
    SiaJob job{{}, to_double(settings_.without)};
    const std::uint32_t has = gpus_of(present);
    double first = 0;
    for (const std::uint16_t type : state.inventory().types(state.jobs().shape(id).front().each.gpu_types)) {
      const double kept_of_type = has > 0 && !is_on(type, present) ? if_moved(id, state) : 1;
      bool is_first = true;
      for (const std::uint32_t size : sia_sizes(per_node_[type], most_gpus(id, state))) {
        if (size < state.job(id).least_gpus) { continue; }
        const std::uint32_t nodes = (size + per_node_[type] - 1) / per_node_[type];
        const double speed = state.speed(id, nodes, size) * speed_on(type, id, state);
        if (is_first && speed > 0) { first = first > 0 ? std::min(first, speed) : speed; }
        is_first = false;
        const double kept = has > 0 && has != size ? if_moved(id, state) : kept_of_type;
        if (speed * kept > 0) { job.options.push_back({type, size, speed * kept}); }
      }
    }
    for (SiaOption& option : job.options) { option.cost = std::pow(option.cost / first, to_double(settings_.power)); }
    return job;
  }

  std::uint16_t type_of(NodeId node) const { return nodes_.nodes[node].gpu_type; }
  bool is_on(std::uint16_t type, const GpuRow& row) const {
    for (const NodeId node : nodes_.nodes.ids()) {
      if (row[node.value] > 0) { return type_of(node) == type; }
    }
    return false;
  }
  /// Of what it is on GPUs that are as fast as the job is meant.
  double speed_on(std::uint16_t type, JobId id, const ClusterState& state) const {
    const GpuSpeeds& known = state.jobs().gpu_speeds()[state.job(id).gpu_speeds];
    const auto found = known.empty() ? known.end() : known.find(nodes_.gpu_types[type]);
    return found == known.end() ? 1 : found->second;
  }

  SiaSettings settings_;
  const NodeList& nodes_;
  std::vector<std::uint32_t> per_node_;  ///< GPUs, by type
};

}  // namespace

struct Sia final : SchedulerKind {
  static constexpr std::string_view kName = "sia";
  static constexpr std::string_view kMeaning =
      "elastic jobs get parts of a node or whole nodes of one type of GPU, the best sum of powers of their speeds "
      "(Sia, SOSP 2023)";
  SiaSettings settings;

  void visit(Fields& fields) override {
    athanor::visit(fields, settings.elastic);
    fields.optional("power", settings.power,
                    "Of a job's speed over that with the fewest GPUs, below zero: what it costs",
                    {Ratio{-10, 1}, Ratio{-1, 100}});
    fields.optional("without", settings.without, "What a job without GPUs costs", {Ratio{1, 100}, Ratio{1000, 1}});
  }
  Mistake refusal(const JobList& jobs, const NodeList& /*nodes*/) const override {
    return elastic_refusal(jobs, kName, true);
  }
  bool places_jobs() const override { return true; }
  bool resizes_jobs() const override { return true; }
  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& nodes) const override {
    return std::make_unique<SiaScheduler>(settings, jobs, nodes);
  }
};

template SchedulerEntry scheduler_entry_of<Sia>();

}  // namespace athanor
