#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/pollux_search.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

struct PolluxSettings {
  WallTime period{60'000'000};
  WallTime move{30'000'000};
  PolluxRules rules;
  std::uint64_t seed = 1;
};

/// Gives all jobs GPUs anew in each period.
class PolluxScheduler final : public Scheduler {
 public:
  PolluxScheduler(const PolluxSettings& settings, const JobList& jobs)
      : settings_(settings), known_(jobs.size()), random_(settings.seed, "pollux") {}

  WallTime period() const override { return settings_.period; }
  WallTime next_call(const ClusterState& state) const override {
    return state.running().empty() ? WallTime::max() : called_ + settings_.period;
  }
  std::size_t waiting() const override { return waiting_.size(); }
  void enqueue(JobId job, const ClusterState& /*state*/) override { waiting_.push_back(job); }
  void withdraw(JobId job, const ClusterState& /*state*/) override { std::erase(waiting_, job); }
  std::string reason(JobId job, const ClusterState& state) const override {
    return fmt::format("waits for {} of {} free GPUs", state.job(job).least_gpus, state.inventory().free_gpus());
  }

  void schedule(ClusterState& state) override {
    called_ = state.now();
    std::vector<JobId> jobs = waiting_;
    for (const RunningJob& running : state.running()) { jobs.push_back(running.job); }
    if (jobs.empty()) { return; }
    std::sort(jobs.begin(), jobs.end());
    const PolluxSearch::SpeedOf speed = [&](std::size_t job, std::uint32_t nodes, std::uint32_t gpus) {
      return state.speed(jobs[job], nodes, gpus);
    };
    std::vector<PolluxJob> wanted = jobs_to_place(jobs, state);
    PolluxSearch::Solution present;
    for (const PolluxJob& job : wanted) { present.push_back(job.present); }
    PolluxSearch search(capacity(state), std::move(wanted), speed, settings_.rules, random_);
    population_ = search.improve(population_of(jobs, present));
    order_ = jobs;
    move_to(population_.front(), present, state);
  }

 private:
  struct Known {
    std::uint32_t most_gpus = 0;  ///< that it has had
    std::uint32_t moves = 0;
  };

  static std::vector<std::uint32_t> capacity(const ClusterState& state) {
    const Inventory& inventory = state.inventory();
    std::vector<std::uint32_t> gpus;
    for (const NodeId node : inventory.nodes().nodes.ids()) {
      gpus.push_back(inventory.is_open(node) ? inventory.nodes().nodes[node].gpus : 0);
    }
    return gpus;
  }

  std::vector<PolluxJob> jobs_to_place(const std::vector<JobId>& jobs, const ClusterState& state) const {
    const std::vector<std::uint32_t> nodes = capacity(state);
    std::uint32_t gpus = 0;
    std::uint32_t most_of_a_node = 1;
    for (const std::uint32_t node : nodes) {
      gpus += node;
      most_of_a_node = std::max(most_of_a_node, node);
    }
    const auto share = std::max<std::uint32_t>(
        1, (gpus + static_cast<std::uint32_t>(jobs.size()) - 1) / static_cast<std::uint32_t>(jobs.size()));
    std::vector<PolluxJob> wanted;
    for (const JobId id : jobs) {
      const Job& job = state.job(id);
      const Known& known = known_[id];
      PolluxJob each{job.least_gpus, job.most_gpus, GpuRow(nodes.size()), 1, 1};
      each.most_gpus = std::min(job.most_gpus, std::max({job.least_gpus, 2 * known.most_gpus, 1U}));
      if (state.is_running(id)) {
        for (const NodeShare& on : state.running(id).where) {
          each.present[on.node.value] = static_cast<std::uint16_t>(on.gpus.count());
        }
      }
      const double age = seconds(state.now() - job.submitted);
      const double cost = seconds(settings_.move);
      each.if_moved = std::max(0.0, age - known.moves * cost) / std::max(age + cost, 1e-6);
      const std::uint32_t fair = std::clamp(share, job.least_gpus, job.most_gpus);
      each.fair_speed = std::max(1e-9, state.speed(id, (fair + most_of_a_node - 1) / most_of_a_node, fair));
      wanted.push_back(std::move(each));
    }
    return wanted;
  }

  /// What runs, and what the last search ended with, for the jobs that there are now.
  std::vector<PolluxSearch::Solution> population_of(const std::vector<JobId>& jobs,
                                                    const PolluxSearch::Solution& present) const {
    std::vector<PolluxSearch::Solution> all{present};
    for (const PolluxSearch::Solution& before : population_) {
      PolluxSearch::Solution solution;
      for (std::size_t job = 0; job < jobs.size(); ++job) {
        const auto at = std::lower_bound(order_.begin(), order_.end(), jobs[job]);
        const bool was_there = at != order_.end() && *at == jobs[job];
        solution.push_back(was_there ? before[static_cast<std::size_t>(at - order_.begin())] : present[job]);
      }
      all.push_back(std::move(solution));
    }
    return all;
  }

  void move_to(const PolluxSearch::Solution& rows, const PolluxSearch::Solution& present, ClusterState& state) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (rows[i] != present[i] && state.is_running(order_[i])) { state.stop(order_[i]); }
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (state.is_running(order_[i])) { continue; }
      Allocation where;
      std::uint32_t gpus = 0;
      for (std::uint32_t node = 0; node < rows[i].size(); ++node) {
        if (rows[i][node] == 0) { continue; }
        take_tasks(NodeId{node}, 0, state.jobs().shape(order_[i]).front().each, rows[i][node], state.inventory(),
                   where);
        gpus += rows[i][node];
      }
      if (where.empty()) { continue; }
      Known& known = known_[order_[i]];
      known.moves += known.most_gpus > 0 ? 1 : 0;
      known.most_gpus = std::max(known.most_gpus, gpus);
      state.start(order_[i], std::move(where));
      std::erase(waiting_, order_[i]);
    }
  }

  PolluxSettings settings_;
  IdVector<JobId, Known> known_;
  RandomStream random_;
  WallTime called_;
  std::vector<JobId> waiting_;
  std::vector<JobId> order_;  ///< whose rows population_ has
  std::vector<PolluxSearch::Solution> population_;
};

}  // namespace

struct Pollux final : SchedulerKind {
  static constexpr std::string_view kName = "pollux";
  static constexpr std::string_view kMeaning =
      "elastic jobs get the GPUs on which all together go on best, and others as that changes (Pollux, OSDI 2021)";
  PolluxSettings settings;

  void visit(Fields& fields) override {
    fields.optional("period", settings.period, "It decides at multiples of this",
                    {WallTime{1'000'000}, WallTime{86'400'000'000}});
    fields.optional("move", settings.move, "What it takes a change of a job's GPUs to cost");
    fields.optional("population", settings.rules.population, "Solutions that its search keeps", {2, 10'000});
    fields.optional("generations", settings.rules.generations, "Steps of its search", {1, 100'000});
    fields.optional("keep_apart", settings.rules.keep_apart, "No node hosts two jobs that span nodes");
    fields.optional("seed", settings.seed, "Of its search");
  }
  Mistake refusal(const JobList& jobs) const override {
    for (const JobId id : jobs.jobs.ids()) {
      const TaskGroup& tasks = jobs.shape(id).front();
      if (!jobs.jobs[id].is_elastic()) {
        return {"not-elastic", fmt::format("{} is not elastic, and 'pollux' gives jobs other GPUs", jobs.title(id)),
                R"(give it "elastic", or choose another scheduler)"};
      }
      if (tasks.each.gpu_types.value != 0) {
        return {"no-effect", fmt::format("{} wants GPUs of a type, which 'pollux' does not look at", jobs.title(id)),
                R"(leave out "gpu_types", or choose another scheduler)"};
      }
    }
    return {};
  }
  bool places_jobs() const override { return true; }
  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& /*nodes*/) const override {
    return std::make_unique<PolluxScheduler>(settings, jobs);
  }
};

template SchedulerEntry scheduler_entry_of<Pollux>();

}  // namespace athanor
