#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/ranked_scheduler.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

struct LeastAttainedSettings {
  std::vector<std::uint64_t> thresholds{57'600};  ///< GPU seconds
  WallTime period{60'000'000};
  std::uint32_t promote = 0;  ///< 0: never
};

/// Queues of jobs that have had ever more GPU time; in each the job first that came first.
class LeastAttainedScheduler final : public RankedScheduler {
 public:
  LeastAttainedScheduler(const LeastAttainedSettings& settings, const JobList& jobs)
      : settings_(settings), known_(jobs.size()) {}

  WallTime period() const override { return settings_.period; }
  WallTime next_call(const ClusterState& /*state*/) const override {
    return std::min(next_fall_, rises_.empty() ? WallTime::max() : rises_.begin()->first);
  }

  void enqueue(JobId job, const ClusterState& state) override {
    Known& known = known_[job];
    if (known.place == 0) { known.place = ++places_; }
    if (known.on_nodes) { known.had += state.now() - known.since; }
    known.on_nodes = false;
    while (known.had >= most_time(job, state)) { fall(known); }
    known.since = state.now();
    if (const auto at = rise_at(known)) { rises_.emplace(*at, job); }
    RankedScheduler::enqueue(job, state);
  }

  void withdraw(JobId job, const ClusterState& state) override {
    if (const auto at = rise_at(known_[job])) { rises_.erase({*at, job}); }
    RankedScheduler::withdraw(job, state);
  }

  void schedule(ClusterState& state) override {
    let_fall(state);
    let_rise(state);
    RankedScheduler::schedule(state);
    note_started(state);
  }

  std::string reason(JobId job, const ClusterState& state) const override {
    return fmt::format("is in queue {} and {}", known_[job].queue, RankedScheduler::reason(job, state));
  }

 private:
  struct Known {
    std::uint64_t place = 0;  ///< in its queue; 0: it has not come yet
    std::uint32_t queue = 0;
    bool on_nodes = false;
    WallTime had;    ///< on nodes, before `since`
    WallTime since;  ///< it is on nodes, or waits
  };

  std::int64_t rank(JobId job, const ClusterState& /*state*/) const override {
    constexpr int kPlaceBits = 40;
    return (std::int64_t{known_[job].queue} << kPlaceBits) + static_cast<std::int64_t>(known_[job].place);
  }

  /// On nodes, after which a job leaves its queue; max: never.
  WallTime most_time(JobId job, const ClusterState& state) const {
    const std::uint32_t queue = known_[job].queue;
    const std::uint64_t milli = gpu_milli_of(state.jobs().shape(job));
    if (queue == settings_.thresholds.size() || milli == 0) { return WallTime::max(); }
    constexpr std::uint64_t kMicroAndMilli = 1'000'000'000;
    return WallTime{static_cast<std::int64_t>((settings_.thresholds[queue] * kMicroAndMilli + milli - 1) / milli)};
  }

  void fall(Known& known) {
    ++known.queue;
    known.place = ++places_;
  }

  /// When a waiting job goes back to the first queue.
  std::optional<WallTime> rise_at(const Known& known) const {
    if (settings_.promote == 0 || known.queue == 0) { return {}; }
    return known.since + known.had * static_cast<std::int64_t>(settings_.promote);
  }

  void let_fall(const ClusterState& state) {
    std::vector<Turn> falling;
    for (const RunningJob& running : state.running()) {
      if (known_[running.job].had + (state.now() - known_[running.job].since) >= most_time(running.job, state)) {
        falling.push_back(turn(running.job, state));
      }
    }
    std::sort(falling.begin(), falling.end());
    for (const Turn& each : falling) {
      Known& known = known_[each.job];
      while (known.had + (state.now() - known.since) >= most_time(each.job, state)) { fall(known); }
    }
  }

  void let_rise(const ClusterState& state) {
    while (!rises_.empty() && rises_.begin()->first <= state.now()) {
      const JobId job = rises_.begin()->second;
      rises_.erase(rises_.begin());
      const Turn before = turn(job, state);
      known_[job].queue = 0;
      known_[job].place = ++places_;
      known_[job].had = {};
      move(before, turn(job, state), state);
    }
  }

  void note_started(const ClusterState& state) {
    next_fall_ = WallTime::max();
    for (const RunningJob& running : state.running()) {
      Known& known = known_[running.job];
      if (!known.on_nodes) {
        if (const auto at = rise_at(known)) { rises_.erase({*at, running.job}); }
        known.on_nodes = true;
        known.since = running.since;
      }
      const WallTime most = most_time(running.job, state);
      if (most != WallTime::max()) { next_fall_ = std::min(next_fall_, known.since + (most - known.had)); }
    }
  }

  LeastAttainedSettings settings_;
  IdVector<JobId, Known> known_;
  std::uint64_t places_ = 0;
  std::set<std::pair<WallTime, JobId>> rises_;  ///< of waiting jobs
  WallTime next_fall_ = WallTime::max();        ///< of a running job
};

}  // namespace

struct LeastAttainedService final : SchedulerKind {
  static constexpr std::string_view kName = "las";
  static constexpr std::string_view kMeaning =
      "queues by the GPU time that jobs have had, the least first; others lose their nodes to them (Tiresias, NSDI "
      "2019)";
  LeastAttainedSettings settings;

  void visit(Fields& fields) override {
    fields.optional("thresholds", settings.thresholds,
                    "GPU seconds, rising, at each of which a job falls to the end of the next queue",
                    {1, 9'000'000'000});
    fields.optional("period", settings.period, "It decides at multiples of this; 0: at each change",
                    {.most = WallTime{86'400'000'000}});
    fields.optional("promote", settings.promote,
                    "A job that has waited so many times as long as it has run goes back to the first queue, as if it "
                    "had not run; 0: none does",
                    {0, 1'000'000});
    if (fields.ok() && !std::is_sorted(settings.thresholds.begin(), settings.thresholds.end())) {
      fields.problem("thresholds", "conflict", "thresholds do not rise", "as in [3600, 57600]");
    }
  }
  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& /*nodes*/) const override {
    return std::make_unique<LeastAttainedScheduler>(settings, jobs);
  }
};

template SchedulerEntry scheduler_entry_of<LeastAttainedService>();

}  // namespace athanor
