#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/jobs/largest_node.hpp"
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

class SiaScheduler final : public ElasticScheduler {
 public:
  SiaScheduler(const SiaSettings& settings, const JobList& jobs, const NodeList& nodes)
      : ElasticScheduler(settings.elastic, jobs), settings_(settings), per_node_(most_gpus_of_a_node(nodes)) {}

 private:
  Rows choose(const std::vector<JobId>& jobs, const Rows& present, const ClusterState& state) override {
    const std::vector<std::uint32_t> nodes = capacity(state);
    std::vector<SiaJob> wanted;
    for (std::size_t i = 0; i < jobs.size(); ++i) { wanted.push_back(job_of(jobs[i], gpus_of(present[i]), state)); }
    const std::uint32_t gpus = std::accumulate(nodes.begin(), nodes.end(), 0U);
    return sia_places(cheapest_sizes(wanted, gpus), present, nodes);
  }

  /// Speeds count over that of the smallest size.
  SiaJob job_of(JobId id, std::uint32_t has, const ClusterState& state) const {
    SiaJob job{{}, {}, to_double(settings_.without)};
    const std::uint32_t least = state.job(id).least_gpus;
    double first = 0;
    for (const std::uint32_t size : sia_sizes(per_node_, most_gpus(id, state))) {
      if (size < least) { continue; }
      const double speed = state.speed(id, (size + per_node_ - 1) / per_node_, size);
      if (job.sizes.empty()) { first = speed; }
      const double kept = has > 0 && has != size ? if_moved(id, state) : 1;
      if (speed * kept <= 0) { continue; }
      job.sizes.push_back(size);
      job.costs.push_back(std::pow(speed * kept / first, to_double(settings_.power)));
    }
    return job;
  }

  SiaSettings settings_;
  std::uint32_t per_node_;
};

}  // namespace

struct Sia final : SchedulerKind {
  static constexpr std::string_view kName = "sia";
  static constexpr std::string_view kMeaning =
      "elastic jobs get parts of a node or whole nodes, the best sum of powers of their speeds (Sia, SOSP 2023)";
  SiaSettings settings;

  void visit(Fields& fields) override {
    athanor::visit(fields, settings.elastic);
    fields.optional("power", settings.power,
                    "Of a job's speed over that with the fewest GPUs, below zero: what it costs",
                    {Ratio{-10, 1}, Ratio{-1, 100}});
    fields.optional("without", settings.without, "What a job without GPUs costs", {Ratio{1, 100}, Ratio{1000, 1}});
  }
  Mistake refusal(const JobList& jobs) const override { return elastic_refusal(jobs, kName); }
  bool places_jobs() const override { return true; }
  bool resizes_jobs() const override { return true; }
  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& nodes) const override {
    return std::make_unique<SiaScheduler>(settings, jobs, nodes);
  }
};

template SchedulerEntry scheduler_entry_of<Sia>();

}  // namespace athanor
