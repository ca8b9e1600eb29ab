#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/jobs/schedulers/kueue/quotas.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// Nodes of one GPU: so many of the type "A", and of "B".
NodeList two_types(std::uint32_t a, std::uint32_t b) {
  NodeList nodes = equal_nodes(a + b, 1);
  nodes.gpu_types = {"A", "B"};
  for (std::uint32_t node = a; node < a + b; ++node) { nodes.nodes[NodeId{node}].gpu_type = 1; }
  return nodes;
}

struct QueuedJob {
  std::int64_t submitted = 0;
  std::int64_t duration = 1;
  std::uint32_t gpus = 1;
  std::size_t queue = 0;
  std::int32_t priority = 0;
};

/// Of the queues "0", "1", ...
JobList queued(const std::vector<QueuedJob>& jobs) {
  JobList list;
  for (const QueuedJob& each : jobs) {
    Job job;
    job.queue = list.name(std::to_string(each.queue));
    job.shape = list.shape({{each.gpus, {.gpus = 1}}});
    job.submitted = wall_seconds(each.submitted);
    job.duration = job.expected = wall_seconds(each.duration);
    job.priority = each.priority;
    list.jobs.push_back(job);
  }
  return list;
}

JobsRun run_queues(const JobList& list, const NodeList& nodes, const std::string& queues) {
  JobsRules rules;
  rules.keep_allocations = true;
  return run_of(list, nodes, "kueue", R"({"cluster_queues": [)" + queues + "]}", "best_fit", rules);
}

/// The types on which a job ran at last: "A", "AB", "" for nowhere.
std::string types_of(const JobOutcome& outcome, const NodeList& nodes) {
  std::string types;
  for (std::uint16_t type = 0; type < nodes.gpu_types.size(); ++type) {
    const auto is = [&](const NodeShare& share) { return nodes.nodes[share.node].gpu_type == type; };
    if (std::any_of(outcome.where.begin(), outcome.where.end(), is)) { types += nodes.gpu_types[type]; }
  }
  return types;
}

/// The types of all jobs, with blanks between.
std::string types_of(const JobsRun& run, const NodeList& nodes) {
  std::string all;
  for (const JobOutcome& outcome : run.outcomes) { all += (all.empty() ? "" : " ") + types_of(outcome, nodes); }
  return all;
}

std::string flavor(const std::string& type, std::uint32_t nominal, const std::string& more = "") {
  return fmt::format(R"({{"gpu_types": ["{}"], "nominal_quota": {}{}}})", type, nominal, more);
}

}  // namespace

TEST_CASE("flavors are tried in their order, and jobs run on their types") {
  const NodeList nodes = two_types(8, 8);
  const JobList list = queued({{0, 10, 2}, {1, 10, 2}, {2, 10, 2}, {3, 10, 4}, {4, 10, 2}});
  const auto queue = [](const std::string& flavors) { return R"({"name": "0", "flavors": [)" + flavors + "]}"; };
  const JobsRun run = run_queues(list, nodes, queue(flavor("B", 4) + "," + flavor("A", 4)));
  CHECK(types_of(run, nodes) == "B B A B A");  // the fourth waits for both of the first two
  CHECK(run.outcomes[JobId{3}].started == wall_seconds(11));
  CHECK(run.outcomes[JobId{4}].started == wall_seconds(4));
  const JobsRun both = run_queues(list, nodes, queue(R"({"gpu_types": ["A", "B"], "nominal_quota": 16})"));
  for (const JobOutcome& outcome : both.outcomes) { CHECK(outcome.ran() == wall_seconds(10)); }
}

TEST_CASE("each group of tasks has a flavor of its own, of the types that it may have") {
  const NodeList nodes = two_types(4, 4);
  JobList list;
  Job job;
  job.queue = list.name("0");
  const GpuTypesId a = list.gpu_types({"A"});
  job.shape = list.shape({{1, {.gpus = 1}}, {2, {.gpus = 1, .gpu_types = a}}, {1, {.cpu_milli = 10}}});
  job.duration = job.expected = wall_seconds(5);
  list.jobs.push_back(job);
  const JobsRun run =
      run_queues(list, nodes, R"({"name": "0", "flavors": [)" + flavor("B", 1) + "," + flavor("A", 2) + "]}");
  std::vector<std::string> types(3);
  for (const NodeShare& share : run.outcomes[JobId{0}].where) {
    if (!share.gpus.empty()) { types[share.group] += nodes.gpu_types[nodes.nodes[share.node].gpu_type]; }
  }
  CHECK(types[0] == "B");
  CHECK(types[1].find_first_not_of('A') == std::string::npos);
  CHECK(run.outcomes[JobId{0}].ended == wall_seconds(5));
}

TEST_CASE("a job borrows of its first flavor, or goes on to the next, as the queue says") {
  const NodeList nodes = two_types(8, 8);
  const JobList list = queued({{0, 10, 4}, {1, 10, 4}, {2, 10, 4}});
  const auto types = [&](const std::string& keys) {
    const std::string flavors = R"("cohort": "x", "flavors": [)" + flavor("A", 4) + "," + flavor("B", 4) + "]}";
    return types_of(run_queues(list, nodes, R"({"name": "0", )" + keys + flavors + R"(, {"name": "1", )" + flavors),
                    nodes);
  };
  CHECK(types("") == "A A B");
  CHECK(types(R"("when_can_borrow": "try_next_flavor", )") == "A B A");
}

TEST_CASE("a job preempts others of its first flavor, or goes on to the next, as the queue says") {
  const NodeList nodes = two_types(4, 4);
  const JobList list = queued({{0, 100, 4}, {1, 10, 4, 0, 1}});
  const auto run = [&](const std::string& keys) {
    return run_queues(list, nodes,
                      R"({"name": "0", "within_cluster_queue": "lower_priority", )" + keys + R"("flavors": [)" +
                          flavor("A", 4) + "," + flavor("B", 4) + "]}");
  };
  const JobsRun next = run("");
  CHECK(types_of(next, nodes) == "A B");
  CHECK(next.outcomes[JobId{0}].starts == 1);
  const JobsRun preempts = run(R"("when_can_preempt": "preempt", )");
  CHECK(types_of(preempts, nodes) == "B A");
  CHECK(preempts.outcomes[JobId{0}].starts == 2);
  CHECK(preempts.outcomes[JobId{1}].started == wall_seconds(1));
}

TEST_CASE("a queue takes back what others have borrowed of the flavor that it lacks, and of no other") {
  const NodeList nodes = two_types(8, 8);
  const JobList list = queued({{0, 100, 8}, {1, 100, 8}, {2, 10, 3, 1}});
  const auto queue = [](const std::string& name, const std::string& flavors) {
    return fmt::format(R"({{"name": "{}", "cohort": "x", "reclaim_within_cohort": "any", "flavors": [{}]}})", name,
                       flavors);
  };
  const JobsRun run = run_queues(
      list, nodes,
      queue("0", flavor("A", 4) + "," + flavor("B", 4)) + "," + queue("1", flavor("B", 4) + "," + flavor("A", 4)));
  CHECK(types_of(run.outcomes[JobId{2}], nodes) == "B");
  CHECK(run.outcomes[JobId{2}].started == wall_seconds(2));
  CHECK(run.outcomes[JobId{0}].starts == 1);
  CHECK(run.outcomes[JobId{1}].starts == 2);
}

TEST_CASE("a queue lends no more than its limit") {
  const JobList list = queued(std::vector<QueuedJob>(8, QueuedJob{0, 10, 1}));
  const auto at_once = [&](const std::string& limit) {
    const JobsRun run = run_of(list, equal_nodes(1, 8), "kueue",
                               R"({"cluster_queues": [{"name": "0", "nominal_quota": 2, "cohort": "x"},
                                   {"name": "1", "nominal_quota": 6, "cohort": "x")" +
                                   limit + "}]}");
    return std::count_if(run.outcomes.begin(), run.outcomes.end(),
                         [](const JobOutcome& outcome) { return outcome.started == wall_seconds(0); });
  };
  CHECK(at_once("") == 8);
  CHECK(at_once(R"(, "lending_limit": 3)") == 5);
  CHECK(at_once(R"(, "lending_limit": 0)") == 2);
}

TEST_CASE("a job that gets other nodes for one that failed stays on the types of its flavor") {
  const NodeList nodes = two_types(2, 4);
  const JobList list = queued(std::vector<QueuedJob>(20, QueuedJob{0, 100, 1}));
  JobsRules rules;
  rules.keep_stints = true;
  rules.horizon = wall_seconds(50'000);
  rules.failures.sources = {
      {"host", FailureSource::What::node, "", {wall_seconds(200), RandomSpan::Law::exponential}, {wall_seconds(50)}}};
  const JobsRun run =
      run_of(list, nodes, "kueue", R"({"cluster_queues": [{"name": "0", "flavors": [)" + flavor("A", 1) + "]}]}",
             "best_fit", rules);
  CHECK(run.stints.size() > 25);
  for (const JobStint& stint : run.stints) {
    for (const NodeShare& share : stint.where) { CHECK(nodes.nodes[share.node].gpu_type == 0); }
  }
}

namespace {

/// A cluster queue of random tests; limits below zero: none.
struct DrawnQueue {
  struct Flavor {
    std::size_t type = 0;
    int nominal = 0;
    int borrowing = -1;
    int lending = -1;
  };
  std::vector<Flavor> flavors;
  bool in_cohort = false;
  bool strict = false;
  bool borrows = true;  ///< stops at a flavor that it has to borrow of

  std::string text(std::size_t number) const {
    std::string list;
    for (const Flavor& each : flavors) {
      std::string more;
      if (each.borrowing >= 0) { more += fmt::format(R"(, "borrowing_limit": {})", each.borrowing); }
      if (each.lending >= 0) { more += fmt::format(R"(, "lending_limit": {})", each.lending); }
      list += (list.empty() ? "" : ", ") +
              flavor(each.type == 0 ? "A" : "B", static_cast<std::uint32_t>(each.nominal), more);
    }
    std::string keys;
    if (in_cohort) { keys += R"("cohort": "x", )"; }
    if (strict) { keys += R"("strategy": "strict_fifo", )"; }
    if (!borrows && flavors.size() > 1) { keys += R"("when_can_borrow": "try_next_flavor", )"; }
    return fmt::format(R"({{"name": "{}", {}"flavors": [{}]}})", number, keys, list);
  }
};

DrawnQueue drawn_queue(std::mt19937_64& random) {
  DrawnQueue queue;
  queue.in_cohort = random() % 4 > 0;
  queue.strict = random() % 2 > 0;
  queue.borrows = random() % 2 > 0;
  const std::size_t first = random() % 2;
  for (std::size_t i = 0; i < 1 + random() % 2; ++i) {
    DrawnQueue::Flavor each{(first + i) % 2, static_cast<int>(random() % 7)};
    if (queue.in_cohort && random() % 2 > 0) { each.borrowing = static_cast<int>(random() % 5); }
    if (queue.in_cohort && random() % 2 > 0) {
      each.lending = static_cast<int>(random() % static_cast<unsigned>(each.nominal + 1));
    }
    queue.flavors.push_back(each);
  }
  return queue;
}

/// Kueue's rules without preemption, second by second, from what runs alone.
class Naive {
 public:
  std::vector<std::int64_t> started;  ///< -1: never
  std::vector<std::size_t> type;

  Naive(const std::vector<DrawnQueue>& queues, const std::vector<QueuedJob>& jobs)
      : started(jobs.size(), -1), type(jobs.size()), queues_(queues), jobs_(jobs) {
    for (now_ = 0; now_ < 1000; ++now_) { admit(); }
  }

 private:
  int used(std::size_t queue, std::size_t of_type) const {
    int sum = 0;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      const bool runs = started[job] >= 0 && started[job] + jobs_[job].duration > now_;
      if (runs && jobs_[job].queue == queue && type[job] == of_type) { sum += static_cast<int>(jobs_[job].gpus); }
    }
    return sum;
  }

  bool fits(std::size_t queue, const DrawnQueue::Flavor& own, int need) const {
    const int all = used(queue, own.type) + need;
    if (!queues_[queue].in_cohort) { return all <= own.nominal; }
    if (own.borrowing >= 0 && all > own.nominal + own.borrowing) { return false; }
    int lent = 0;
    int taken = 0;
    for (std::size_t other = 0; other < queues_.size(); ++other) {
      for (const auto& each : queues_[other].flavors) {
        if (!queues_[other].in_cohort || each.type != own.type) { continue; }
        const int kept = each.lending < 0 ? 0 : each.nominal - each.lending;
        lent += each.nominal - kept;
        taken += std::max(0, (other == queue ? all : used(other, own.type)) - kept);
      }
    }
    return taken <= lent;
  }

  /// Which flavor a job would get, and whether by borrowing.
  std::optional<std::pair<std::size_t, bool>> choice(std::size_t job) const {
    const DrawnQueue& queue = queues_[jobs_[job].queue];
    const int need = static_cast<int>(jobs_[job].gpus);
    std::optional<std::pair<std::size_t, bool>> first;
    for (const auto& each : queue.flavors) {
      if (!fits(jobs_[job].queue, each, need)) { continue; }
      const bool borrows = queue.in_cohort && used(jobs_[job].queue, each.type) + need > each.nominal;
      if (!borrows || queue.borrows) { return std::pair{each.type, borrows}; }
      if (!first) { first = {each.type, true}; }
    }
    return first;
  }

  void admit() {
    std::vector<bool> passed(jobs_.size());
    for (;;) {
      std::optional<std::size_t> best;
      const auto rank = [&](std::size_t job) {
        const auto chosen = choice(job);
        return std::tuple(!chosen || chosen->second, -jobs_[job].priority, jobs_[job].submitted, job);
      };
      for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
        const auto head = head_of(queue, passed);
        if (head && (!best || rank(*head) < rank(*best))) { best = head; }
      }
      if (!best) { return; }
      const auto chosen = choice(*best);
      if (chosen) {
        started[*best] = now_;
        type[*best] = chosen->first;
      }
      for (std::size_t job = 0; job < jobs_.size(); ++job) {
        const bool blocked = !chosen && queues_[jobs_[*best].queue].strict && jobs_[job].queue == jobs_[*best].queue;
        if (job == *best || blocked) { passed[job] = true; }
      }
    }
  }

  std::optional<std::size_t> head_of(std::size_t queue, const std::vector<bool>& passed) const {
    std::optional<std::size_t> head;
    const auto rank = [&](std::size_t job) { return std::tuple(-jobs_[job].priority, jobs_[job].submitted, job); };
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      const bool waits = jobs_[job].submitted <= now_ && started[job] < 0 && !passed[job];
      if (waits && jobs_[job].queue == queue && (!head || rank(job) < rank(*head))) { head = job; }
    }
    return head;
  }

  const std::vector<DrawnQueue>& queues_;
  const std::vector<QueuedJob>& jobs_;
  std::int64_t now_ = 0;
};

std::vector<QueuedJob> drawn_jobs(std::mt19937_64& random, std::size_t count, std::size_t queues) {
  std::vector<QueuedJob> jobs;
  for (std::size_t i = 0; i < count; ++i) {
    jobs.push_back({static_cast<std::int64_t>(random() % 60), static_cast<std::int64_t>(1 + random() % 20),
                    static_cast<std::uint32_t>(1 + random() % 5), random() % queues,
                    static_cast<std::int32_t>(random() % 2)});
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const QueuedJob& a, const QueuedJob& b) { return a.submitted < b.submitted; });
  return jobs;
}

}  // namespace

TEST_CASE("jobs of random queues are admitted when and to which flavor Kueue's rules say") {
  std::mt19937_64 random(3);
  const NodeList nodes = two_types(40, 40);  // no quota has more
  std::size_t ran = 0;
  std::size_t second = 0;
  for (int round = 0; round < 150; ++round) {
    std::vector<DrawnQueue> queues;
    std::string keys;
    for (std::size_t queue = 0; queue < 2 + random() % 3; ++queue) {
      queues.push_back(drawn_queue(random));
      keys += (queue == 0 ? "" : ", ") + queues.back().text(queue);
    }
    CAPTURE(keys);
    const std::vector<QueuedJob> jobs = drawn_jobs(random, 30, queues.size());
    const Naive naive(queues, jobs);
    const JobsRun run = run_queues(queued(jobs), nodes, keys);
    for (std::uint32_t job = 0; job < jobs.size(); ++job) {
      CAPTURE(job);
      const JobOutcome& outcome = run.outcomes[JobId{job}];
      REQUIRE(outcome.started == (naive.started[job] < 0 ? WallTime::max() : wall_seconds(naive.started[job])));
      if (naive.started[job] < 0) { continue; }
      REQUIRE(types_of(outcome, nodes) == (naive.type[job] == 0 ? "A" : "B"));
      ++ran;
      second += naive.type[job] != queues[jobs[job].queue].flavors.front().type ? 1 : 0;
    }
  }
  CHECK(ran > 2000);
  CHECK(second > 200);
}

TEST_CASE("with preemption no queue has more than its limits let it, and all that can run do") {
  std::mt19937_64 random(4);
  const NodeList nodes = two_types(12, 12);
  for (int round = 0; round < 100; ++round) {
    const char* policies[] = {"never", "lower_priority", "any"};
    const auto queue = [&](std::size_t number) {
      const std::string first = number == 0 ? "A" : "B";
      return fmt::format(
          R"({{"name": "{}", "cohort": "x", "within_cluster_queue": "{}", "reclaim_within_cohort": "{}",
             "when_can_preempt": "{}", "when_can_borrow": "{}", "flavors": [{}, {}]}})",
          number, policies[random() % 2], policies[random() % 3], random() % 2 > 0 ? "preempt" : "try_next_flavor",
          random() % 2 > 0 ? "borrow" : "try_next_flavor", flavor(first, 6), flavor(first == "A" ? "B" : "A", 6));
    };
    const std::string keys = queue(0) + ", " + queue(1);
    CAPTURE(keys);
    const std::vector<QueuedJob> jobs = drawn_jobs(random, 40, 2);
    const JobsRun run = run_queues(queued(jobs), nodes, keys);
    std::int64_t work = 0;
    for (std::uint32_t job = 0; job < jobs.size(); ++job) {
      REQUIRE(run.outcomes[JobId{job}].state == JobState::completed);
      REQUIRE(types_of(run.outcomes[JobId{job}], nodes).size() == 1);
      REQUIRE(run.outcomes[JobId{job}].ran() == wall_seconds(jobs[job].duration));
      work += jobs[job].duration * jobs[job].gpus;
    }
    CHECK(run.ended >= wall_seconds(work / 24));
  }
}
