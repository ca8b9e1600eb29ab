#include <algorithm>
#include <numeric>

#include "models/jobs/schedulers/elastic_scheduler.hpp"
#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/pollux_search.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

struct PolluxSettings {
  ElasticSettings elastic;
  PolluxRules rules;
  std::uint64_t seed = 1;
};

/// What a PolluxSearch finds, which goes on from what it found in the last period.
class PolluxScheduler final : public ElasticScheduler {
 public:
  PolluxScheduler(const PolluxSettings& settings, const JobList& jobs)
      : ElasticScheduler(settings.elastic, jobs), rules_(settings.rules), random_(settings.seed, "pollux") {}

 private:
  Rows choose(const std::vector<JobId>& jobs, const Rows& present, const ClusterState& state) override {
    const PolluxSearch::SpeedOf speed = [&](std::size_t job, std::uint32_t nodes, std::uint32_t gpus) {
      return state.speed(jobs[job], nodes, gpus);
    };
    PolluxSearch search(capacity(state), jobs_to_place(jobs, present, state), speed, rules_, random_);
    population_ = search.improve(population_of(jobs, present));
    order_ = jobs;
    return population_.front();
  }

  std::vector<PolluxJob> jobs_to_place(const std::vector<JobId>& jobs, const Rows& present,
                                       const ClusterState& state) const {
    const std::vector<std::uint32_t> nodes = capacity(state);
    const std::uint32_t gpus = std::accumulate(nodes.begin(), nodes.end(), 0U);
    const std::uint32_t most_of_a_node = std::max(1U, *std::max_element(nodes.begin(), nodes.end()));
    const auto count = static_cast<std::uint32_t>(jobs.size());
    std::vector<PolluxJob> wanted;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Job& job = state.job(jobs[i]);
      const std::uint32_t fair = std::clamp((gpus + count - 1) / count, job.least_gpus, job.most_gpus);
      const double fair_speed = state.speed(jobs[i], (fair + most_of_a_node - 1) / most_of_a_node, fair);
      wanted.push_back({job.least_gpus, most_gpus(jobs[i], state), present[i], if_moved(jobs[i], state), fair_speed});
    }
    return wanted;
  }

  /// What runs, and what the last search ended with, for the jobs that there are now.
  std::vector<Rows> population_of(const std::vector<JobId>& jobs, const Rows& present) const {
    std::vector<Rows> all{present};
    for (const Rows& before : population_) {
      Rows solution;
      for (std::size_t job = 0; job < jobs.size(); ++job) {
        const auto at = std::lower_bound(order_.begin(), order_.end(), jobs[job]);
        const bool was_there = at != order_.end() && *at == jobs[job];
        solution.push_back(was_there ? before[static_cast<std::size_t>(at - order_.begin())] : present[job]);
      }
      all.push_back(std::move(solution));
    }
    return all;
  }

  PolluxRules rules_;
  RandomStream random_;
  std::vector<JobId> order_;  ///< whose rows population_ has
  std::vector<Rows> population_;
};

}  // namespace

struct Pollux final : SchedulerKind {
  static constexpr std::string_view kName = "pollux";
  static constexpr std::string_view kMeaning =
      "elastic jobs get the GPUs on which all together go on best, and others as that changes (Pollux, OSDI 2021)";
  PolluxSettings settings;

  void visit(Fields& fields) override {
    athanor::visit(fields, settings.elastic);
    fields.optional("population", settings.rules.population, "Solutions that its search keeps", {2, 10'000});
    fields.optional("generations", settings.rules.generations, "Steps of its search", {1, 100'000});
    fields.optional("keep_apart", settings.rules.keep_apart, "No node hosts two jobs that span nodes");
    fields.optional("seed", settings.seed, "Of its search");
  }
  Mistake refusal(const JobList& jobs, const NodeList& /*nodes*/) const override {
    return elastic_refusal(jobs, kName);
  }
  bool places_jobs() const override { return true; }
  bool resizes_jobs() const override { return true; }
  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& /*nodes*/) const override {
    return std::make_unique<PolluxScheduler>(settings, jobs);
  }
};

template SchedulerEntry scheduler_entry_of<Pollux>();

}  // namespace athanor
