#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/summary.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

constexpr WallTime kNever = WallTime::max();

/// One pool of GPUs, in whole seconds, one job after the other: when each begins if none may overtake another.
std::vector<std::int64_t> begins_in_turn(const std::vector<SmallJob>& jobs, std::uint32_t gpus) {
  std::vector<std::int64_t> begins;
  std::multimap<std::int64_t, std::uint32_t> ends;
  std::uint32_t free = gpus;
  std::int64_t now = 0;
  for (const SmallJob& job : jobs) {
    now = std::max(now, job.submitted);
    while (!ends.empty() && (ends.begin()->first <= now || free < job.gpus)) {
      now = std::max(now, ends.begin()->first);
      free += ends.begin()->second;
      ends.erase(ends.begin());
    }
    begins.push_back(now);
    free -= job.gpus;
    ends.emplace(now + job.duration, job.gpus);
  }
  return begins;
}

std::vector<SmallJob> random_jobs(std::mt19937_64& random, std::size_t count, std::uint32_t most_gpus) {
  std::vector<SmallJob> jobs;
  std::int64_t submitted = 0;
  for (std::size_t i = 0; i < count; ++i) {
    submitted += static_cast<std::int64_t>(random() % 20);
    jobs.push_back({submitted, 1 + static_cast<std::int64_t>(random() % 100),
                    1 + static_cast<std::uint32_t>(random() % most_gpus)});
  }
  return jobs;
}

/// EASY on one pool of GPUs, in whole seconds, as it is taught (Lifka 1995): who does not fit first is promised its
/// start by the ends of those that run; a later job may begin that is over by then, or asks for no more than is left
/// then.
class EasyPool {
 public:
  EasyPool(const std::vector<SmallJob>& jobs, std::uint32_t gpus)
      : jobs_(jobs), free_(gpus), begins_(jobs.size(), -1) {}

  std::vector<std::int64_t> begins() {
    for (std::size_t next = 0; next < jobs_.size() || !ends_.empty();) {
      now_ = ends_.empty() || (next < jobs_.size() && jobs_[next].submitted <= ends_.begin()->first)
                 ? jobs_[next].submitted
                 : ends_.begin()->first;
      for (; !ends_.empty() && ends_.begin()->first <= now_; ends_.erase(ends_.begin())) {
        free_ += ends_.begin()->second;
      }
      for (; next < jobs_.size() && jobs_[next].submitted <= now_; ++next) { waiting_.push_back(next); }
      schedule();
    }
    return begins_;
  }

 private:
  void begin(std::size_t job) {
    begins_[job] = now_;
    free_ -= jobs_[job].gpus;
    ends_.emplace(now_ + jobs_[job].duration, jobs_[job].gpus);
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), job));
  }

  void schedule() {
    while (!waiting_.empty() && jobs_[waiting_.front()].gpus <= free_) { begin(waiting_.front()); }
    if (waiting_.empty()) { return; }
    std::uint32_t then = free_;
    std::int64_t promised = now_;
    for (auto end = ends_.begin(); then < jobs_[waiting_.front()].gpus;) {
      for (promised = end->first; end != ends_.end() && end->first == promised; ++end) { then += end->second; }
    }
    std::uint32_t left = then - jobs_[waiting_.front()].gpus;
    const std::vector<std::size_t> others(waiting_.begin() + 1, waiting_.end());
    for (const std::size_t job : others) {
      const bool in_time = now_ + jobs_[job].duration <= promised;
      if (jobs_[job].gpus > free_ || (!in_time && jobs_[job].gpus > left)) { continue; }
      if (!in_time) { left -= jobs_[job].gpus; }
      begin(job);
    }
  }

  const std::vector<SmallJob>& jobs_;
  std::int64_t now_ = 0;
  std::uint32_t free_;
  std::vector<std::int64_t> begins_;
  std::vector<std::size_t> waiting_;
  std::multimap<std::int64_t, std::uint32_t> ends_;
};

}  // namespace

TEST_CASE("EASY backfill on one node begins each job when it does by counts of GPUs") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::vector<SmallJob> jobs = random_jobs(random, 150, 8);
    const JobList list = list_of(jobs);
    const JobsRun run = run_of(list, equal_nodes(1, 8), "fifo", R"({"backfill": "easy"})");
    const std::vector<std::int64_t> begins = EasyPool(jobs, 8).begins();
    for (const JobId id : list.jobs.ids()) { CHECK(run.outcomes[id].started == wall_seconds(begins[id.value])); }
  }
}

TEST_CASE("without backfill no job overtakes another, on one node as in a pool of GPUs") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    const std::vector<SmallJob> jobs = random_jobs(random, 200, 16);
    const JobList list = list_of(jobs);
    const JobsRun run = run_of(list, equal_nodes(1, 16), "fifo", R"({"backfill": "none"})");
    const std::vector<std::int64_t> begins = begins_in_turn(jobs, 16);
    for (const JobId id : list.jobs.ids()) { CHECK(run.outcomes[id].started == wall_seconds(begins[id.value])); }
  }
}

TEST_CASE(
    "EASY backfill never delays the first job beyond the time when it would begin without, and helps the others") {
  std::mt19937_64 random(5);
  double with = 0;
  double without = 0;
  for (int round = 0; round < 50; ++round) {
    const JobList list = list_of(random_jobs(random, 200, 16));
    const NodeList nodes = equal_nodes(1, 16);
    const JobsRun none = run_of(list, nodes, "fifo", R"({"backfill": "none"})");
    const JobsRun easy = run_of(list, nodes, "fifo", R"({"backfill": "easy"})");
    // With exact expectations and one pool a job that waits first begins no later than it was promised; the second job
    // of the list can only be first.
    CHECK(easy.outcomes[JobId{1}].started <= none.outcomes[JobId{1}].started);
    with += summary_of(easy, list, nodes).wait.mean;
    without += summary_of(none, list, nodes).wait.mean;
  }
  CHECK(with < without);
}

TEST_CASE("a job is backfilled where it is over in time or leaves enough, and nowhere else") {
  // 4 GPUs: the first job has 3 until 100; the second wants all 4 and is promised them at 100.
  const std::vector<SmallJob> base = {{0, 100, 3}, {0, 50, 4}};
  const auto begin_of_third = [&](SmallJob third, std::uint16_t gpus) {
    std::vector<SmallJob> jobs = base;
    jobs.push_back(third);
    return run_of(list_of(jobs), equal_nodes(1, gpus), "fifo").outcomes[JobId{2}].started;
  };
  CHECK(begin_of_third({0, 100, 1}, 4) == wall_seconds(0));    // over in time
  CHECK(begin_of_third({0, 101, 1}, 4) == wall_seconds(150));  // a second too long
  CHECK(begin_of_third({0, 1000, 1}, 5) == wall_seconds(0));   // a fifth GPU that the second job does not need
}

TEST_CASE("with conservative backfill each job begins at the earliest that those before it leave, and never later") {
  std::mt19937_64 random(17);
  constexpr std::int64_t kEnd = 30'000;
  for (int round = 0; round < 20; ++round) {
    const std::vector<SmallJob> jobs = random_jobs(random, 150, 16);
    // Second by second: each job, when it is submitted, takes the first stretch of its length that is free.
    std::vector<std::uint32_t> used(kEnd);
    const JobList list = list_of(jobs);
    const JobsRun run = run_of(list, equal_nodes(1, 16), "fifo", R"({"backfill": "conservative"})");
    for (const JobId id : list.jobs.ids()) {
      const SmallJob& job = jobs[id.value];
      std::int64_t begin = job.submitted;
      for (std::int64_t at = begin; at < begin + job.duration; ++at) {
        if (used[static_cast<std::size_t>(at)] + job.gpus > 16) { begin = at + 1; }
      }
      for (std::int64_t at = begin; at < begin + job.duration; ++at) { used[static_cast<std::size_t>(at)] += job.gpus; }
      CHECK(run.outcomes[id].started == wall_seconds(begin));
    }
  }
}

TEST_CASE("a job that ends before it was expected to lets the first begin sooner") {
  const std::vector<SmallJob> jobs = {{0, 10, 4, 100}, {0, 10, 4}, {1, 80, 1}};
  const JobsRun run = run_of(list_of(jobs), equal_nodes(1, 4), "fifo");
  CHECK(run.outcomes[JobId{1}].started == wall_seconds(10));
  CHECK(run.outcomes[JobId{2}].started == wall_seconds(20));
}

TEST_CASE("the shortest job first") {
  const std::vector<SmallJob> jobs = {{0, 10, 1}, {1, 30, 1}, {2, 20, 1}, {3, 5, 1}};
  const JobsRun run = run_of(list_of(jobs), equal_nodes(1, 1), "sjf", R"({"backfill": "none"})");
  CHECK(run.outcomes[JobId{3}].started == wall_seconds(10));
  CHECK(run.outcomes[JobId{2}].started == wall_seconds(15));
  CHECK(run.outcomes[JobId{1}].started == wall_seconds(35));
}

TEST_CASE("random arrivals at k GPUs wait as long as Erlang's formula says") {
  // M/M/k: P(wait) is Erlang's C, the mean wait C / (k mu - lambda).
  constexpr std::uint32_t kGpus = 4;
  constexpr double kService = 1000;  // seconds
  constexpr double kLoad = 0.7;
  constexpr int kJobs = 100'000;
  std::mt19937_64 random(11);
  std::exponential_distribution<double> between(kLoad * kGpus / kService);
  std::exponential_distribution<double> service(1 / kService);
  JobList list;
  double at = 0;
  for (int i = 0; i < kJobs; ++i) {
    at += between(random);
    Job job;
    job.shape = list.shape({{1, {.gpus = 1}}});
    job.submitted = WallTime{std::llround(at * 1e6)};
    job.duration = WallTime{std::llround(service(random) * 1e6) + 1};
    job.expected = job.duration;
    list.jobs.push_back(job);
  }
  const double offered = kLoad * kGpus;
  double term = 1;
  double sum = 1;
  for (std::uint32_t k = 1; k < kGpus; ++k) { sum += term *= offered / k; }
  const double last = term * offered / kGpus / (1 - kLoad);
  const double waits = last / (sum + last);
  const double expected = waits * kService / (kGpus * (1 - kLoad));
  const JobsRun run = run_of(list, equal_nodes(kGpus, 1), "fifo", R"({"backfill": "none"})");
  const JobsSummary summary = summary_of(run, list, equal_nodes(kGpus, 1));
  // Waits of successive jobs hang together: over so many jobs their mean is known to about 3 %.
  CHECK(summary.wait.mean == doctest::Approx(expected).epsilon(0.05));
  CHECK(static_cast<double>(summary.queued) / kJobs == doctest::Approx(waits).epsilon(0.03));
  CHECK(summary.utilisation == doctest::Approx(kLoad).epsilon(0.02));
}

TEST_CASE("a limit ends a job, and a horizon the simulation") {
  JobList list = list_of({{0, 100, 1}, {0, 100, 1}, {0, 100, 2}});
  list.jobs[JobId{0}].limit = wall_seconds(40);
  JobsRules rules;
  rules.horizon = wall_seconds(90);
  const JobsRun run = run_of(list, equal_nodes(1, 2), "fifo", "{}", "best_fit", rules);
  CHECK(run.outcomes[JobId{0}].state == JobState::timed_out);
  CHECK(run.outcomes[JobId{0}].ended == wall_seconds(40));
  CHECK(run.outcomes[JobId{1}].state == JobState::running);
  CHECK(run.outcomes[JobId{1}].ran() == wall_seconds(90));
  CHECK(run.outcomes[JobId{2}].started == kNever);
  CHECK(run.ended == wall_seconds(90));
  CHECK(run.stuck.empty());
}

TEST_CASE("EASY backfill holds the NICs that it has promised") {
  NodeList nodes = equal_nodes(1, 8);
  nodes.nodes[NodeId{0}].nics = 8;
  JobList jobs = list_of({{0, 3600, 1}, {1, 3600, 1}, {2, 36'000, 1}});
  jobs.jobs[JobId{0}].shape = jobs.shape({{1, {.gpus = 1, .nics = 6}}});
  jobs.jobs[JobId{1}].shape = jobs.shape({{1, {.gpus = 1, .nics = 8}}});
  jobs.jobs[JobId{2}].shape = jobs.shape({{1, {.gpus = 1, .nics = 2}}});
  const JobsRun run = run_of(jobs, nodes, "fifo", R"({"backfill": "easy"})");
  CHECK(run.outcomes[JobId{1}].started == wall_seconds(3600));
  CHECK(run.outcomes[JobId{2}].started == wall_seconds(7200));
}
