#include "models/execution/run_jobs.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/execution_observer.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "tests/models/engines/two_tiers.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

using enum CollectiveKind;

const Algorithm* tree() { return &find(all_reduce, "aggregation_tree"); }
const Algorithm* ring() { return &find(all_reduce, "ring"); }

std::shared_ptr<const EngineDeployment> engines(std::string_view name, bool falls_back, bool exclusive = true) {
  EngineDeployment all;
  all.engine = find_engine(name);
  all.engine.exclusive = exclusive;
  if (falls_back) { all.fallback = {ring()}; }
  return std::make_shared<const EngineDeployment>(all);
}

/// Job j has host j of every leaf, or successive hosts.
std::vector<JobRequest> jobs_of(std::uint32_t jobs, std::uint32_t ranks, bool interleaved, Bytes size = 1_MiB) {
  std::vector<JobRequest> all;
  for (std::uint32_t job = 0; job < jobs; ++job) {
    JobRequest& request = all.emplace_back();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      request.endpoints.push_back(interleaved ? rank * jobs + job : job * ranks + rank);
    }
    request.collective = {all_reduce, ranks, Elements{size / Bytes{4}}};
    request.algorithms = {tree()};
  }
  return all;
}

const Profile& ideal() {
  static const Profile profile;
  return profile;
}

JobsResult run(const Cluster& cluster, std::vector<JobRequest> jobs,
               std::shared_ptr<const EngineDeployment> aggregation, NetworkLevel level = NetworkLevel::flow) {
  SimulationOptions options;
  options.level = level;
  return run_jobs({.cluster = cluster,
                   .profile = ideal(),
                   .jobs = std::move(jobs),
                   .options = options,
                   .aggregation = std::move(aggregation)});
}

}  // namespace

TEST_CASE("two jobs on different leaves both get a streaming tree of SHARP v2 and run as if alone") {
  const Cluster cluster = two_tiers();
  const JobsResult result = run(cluster, jobs_of(2, 16, false), engines("sharp_v2", false));
  for (const JobResult& job : result.jobs) {
    CHECK(job.alone.algorithm == "aggregation_tree");
    CHECK(job.alone.protocol == "SAT");
    CHECK(job.time == job.alone.time);
    CHECK(job.slowdown == 1);
    CHECK(job.waited == Time::zero());
  }
  CHECK(result.jobs[0].roots == std::vector<std::string>{"spine0"});
  CHECK(result.jobs[1].roots == std::vector<std::string>{"spine1"});
  CHECK(result.jobs[0].time == result.jobs[1].time);
  CHECK(result.time == result.jobs[0].time);
  CHECK(result.simulated.lanes * 2 <= result.simulated.all_lanes);  // alike jobs are one class
}

TEST_CASE("of two jobs on the same leaves the first gets the tree, and the second takes as long as a ring beside it") {
  const Cluster cluster = two_tiers();
  const JobsResult result = run(cluster, jobs_of(2, 16, true), engines("sharp_v2", true));
  CHECK(result.jobs[0].alone.algorithm == "aggregation_tree");
  CHECK(result.jobs[0].alone.fell_back.empty());
  CHECK(result.jobs[1].alone.algorithm == "ring");
  CHECK(result.jobs[1].alone.fell_back == "aggregation_tree: the streaming tree of leaf0 is held by job 0");
  CHECK(result.jobs[1].roots.empty());
  std::vector<JobRequest> asked = jobs_of(2, 16, true);
  asked[1].algorithms = {ring()};
  const JobsResult beside = run(cluster, asked, engines("sharp_v2", false));
  CHECK(result.jobs[0].time == beside.jobs[0].time);
  CHECK(result.jobs[1].time == beside.jobs[1].time);
  CHECK(result.jobs[1].time >= result.jobs[1].alone.time);
}

TEST_CASE("of eight tenants on the same leaves one gets a streaming tree of v2, and all get one of v3") {
  const Cluster cluster = two_tiers(8);
  const JobsResult v2 = run(cluster, jobs_of(8, 16, true), engines("sharp_v2", true));
  const JobsResult v3 = run(cluster, jobs_of(8, 16, true), engines("sharp_v3", true));
  std::set<std::string> roots;
  for (std::uint32_t job = 0; job < 8; ++job) {
    CHECK(v2.jobs[job].alone.algorithm == (job == 0 ? "aggregation_tree" : "ring"));
    CHECK(v3.jobs[job].alone.algorithm == "aggregation_tree");
    CHECK(v3.jobs[job].time == v3.jobs[job].alone.time);
    roots.insert(v3.jobs[job].roots.at(0));
  }
  CHECK(roots.size() == 8);
  // Seven rings share eight up-links of each leaf by hash with the tree: some meet.
  CHECK(std::any_of(v2.jobs.begin(), v2.jobs.end(), [](const JobResult& job) { return job.slowdown > 1.5; }));
  CHECK(v2.time > v3.time);
  const JobsResult apart = run(cluster, jobs_of(8, 16, false), engines("sharp_v2", true));
  for (const JobResult& job : apart.jobs) { CHECK(job.alone.algorithm == "aggregation_tree"); }
}

TEST_CASE("small messages take trees of low latency, of which there are enough for all") {
  const Cluster cluster = two_tiers(8);
  for (const JobResult& job : run(cluster, jobs_of(8, 16, true, 1_KiB), engines("sharp_v2", false)).jobs) {
    CHECK(job.alone.protocol == "LLT");
  }
}

TEST_CASE("jobs that take turns at a locked engine end after T, 2 T and 3 T, at flow and packet level") {
  const Time begin = find_engine("sharp_v2").modes.back().start;  // of an operation, which all of them have behind them
  const Cluster cluster = two_tiers();
  for (const NetworkLevel level : {NetworkLevel::flow, NetworkLevel::packet}) {
    const Bytes size = level == NetworkLevel::packet ? 128_KiB : 16_MiB;
    const JobsResult result = run(cluster, jobs_of(3, 8, true, size), engines("sharp_v2", false, false), level);
    const Time once = result.jobs[0].alone.time;
    for (std::uint32_t job = 0; job < 3; ++job) {
      CHECK(result.jobs[job].alone.algorithm == "aggregation_tree");
      CHECK(result.jobs[job].time == once + (once - begin) * job);
      CHECK(result.jobs[job].waited == (once - begin) * job);
    }
  }
}

TEST_CASE("where nothing is to fall back on, the job that gets no engines is named with who holds them") {
  const Cluster cluster = two_tiers();
  try {
    run(cluster, jobs_of(2, 16, true), engines("sharp_v2", false));
    FAIL("ran");
  } catch (const SimulationError& error) {
    CHECK(error.code() == "engines-exhausted");
    const std::string text = error.what();
    CHECK(text.find("job 1: ") == 0);
    CHECK(text.find("the streaming tree of leaf0 is held by job 0") != std::string::npos);
  }
}

TEST_CASE("jobs may differ in everything, and each ends in its own time") {
  const Cluster cluster = two_tiers();
  std::vector<JobRequest> jobs = jobs_of(2, 8, false, 2_MiB);
  jobs[1].collective = {broadcast, 8, Elements{100'000}, 3};
  jobs[1].element_size = Bytes{2};
  jobs[1].type = DataType::float16;
  jobs[1].algorithms = {&find(broadcast, "binomial_tree"), &find(broadcast, "ring")};
  JobRequest& third = jobs.emplace_back();
  third.endpoints = {31, 29, 27};
  third.collective = {all_to_all, 3, Elements{3000}};
  third.algorithms = {&find(all_to_all, "pairwise")};
  const JobsResult result = run(cluster, jobs, engines("sharp_v3", true));
  for (const JobResult& job : result.jobs) { CHECK(job.time == job.alone.time); }
  CHECK(result.jobs[1].alone.size == Bytes{200'000});
  CHECK(result.time == result.jobs[0].time);
  const JobsResult without = run(cluster, {jobs[2]}, nullptr);
  CHECK(without.jobs[0].time == result.jobs[2].time);
}

TEST_CASE("one job is simulated as it was chosen, only later, and as it is when somebody watches it") {
  const Cluster cluster = two_tiers();
  Profile launched;
  launched.launch = 7_us;
  for (const bool by_engines : {false, true}) {
    for (const Bytes size : {Bytes{0}, 64_KiB, 4_MiB}) {
      CAPTURE(by_engines);
      CAPTURE(size.count());
      std::vector<JobRequest> jobs = jobs_of(1, 12, true, size);
      jobs[0].algorithms = {by_engines ? tree() : ring()};
      JobsRequest request{.cluster = cluster,
                          .profile = launched,
                          .jobs = jobs,
                          .options = {},
                          .aggregation = by_engines ? engines("sharp_v3", false) : nullptr};
      request.options.level = NetworkLevel::flow;
      request.options.each_link = true;
      const JobsResult chosen = run_jobs(request);
      ExecutionObserver watcher;
      request.options.observers = {&watcher};
      const JobsResult watched = run_jobs(request);
      CHECK(chosen.time == watched.time);
      CHECK(chosen.time == chosen.jobs[0].alone.time);
      CHECK(chosen.jobs[0].time == watched.jobs[0].time);
      CHECK(chosen.simulated.ends == watched.simulated.ends);
      CHECK(chosen.simulated.first_end == watched.simulated.first_end);
      CHECK(chosen.simulated.network.observed == watched.simulated.network.observed);
      REQUIRE(chosen.simulated.network.loads.size() == watched.simulated.network.loads.size());
      for (std::size_t i = 0; i < chosen.simulated.network.loads.size(); ++i) {
        CHECK(chosen.simulated.network.loads[i].link == watched.simulated.network.loads[i].link);
        CHECK(chosen.simulated.network.loads[i].carried == watched.simulated.network.loads[i].carried);
      }
    }
  }
}
