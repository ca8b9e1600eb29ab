#include "models/jobs/job_timeline.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "sim/timeline.hpp"
#include "small_jobs.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// Random jobs on nodes that fail.
JobsRun failing_run(const JobList& jobs, const NodeList& nodes) {
  JobsRules rules;
  rules.failures.sources = {{"node",
                             FailureSource::What::node,
                             "",
                             {wall_seconds(2'000), RandomSpan::Law::exponential, 1},
                             {wall_seconds(300)}}};
  rules.failures.detection = {wall_seconds(20)};
  rules.failures.spares = 1;
  rules.checkpoints = {CheckpointRules::Rule::fixed, wall_seconds(10), {}, {}};
  rules.keep_stints = true;
  return run_of(jobs, nodes, "fifo", "{}", "best_fit", rules);
}

JobList random_jobs() {
  std::mt19937_64 random(9);
  std::vector<SmallJob> jobs;
  for (int i = 0; i < 200; ++i) {
    jobs.push_back(
        {i * 10, 1 + static_cast<std::int64_t>(random() % 200), 1 + static_cast<std::uint32_t>(random() % 12)});
  }
  return list_of(jobs);
}

}  // namespace

TEST_CASE("stints of a job are all the time that it had nodes, and no GPU has two jobs at once") {
  const JobList jobs = random_jobs();
  const NodeList nodes = equal_nodes(4, 8);
  const JobsRun run = failing_run(jobs, nodes);
  std::map<JobId, WallTime> had;
  std::map<std::pair<NodeId, std::uint32_t>, std::vector<std::pair<WallTime, WallTime>>> by_gpu;
  for (const JobStint& stint : run.stints) {
    had[stint.job] += stint.until - stint.since;
    for (const NodeShare& share : stint.where) {
      for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
        if (share.gpus.has(gpu)) { by_gpu[{share.node, gpu}].emplace_back(stint.since, stint.until); }
      }
    }
  }
  std::uint32_t interruptions = 0;
  for (const JobId job : jobs.jobs.ids()) {
    CHECK(had[job] == run.outcomes[job].ran());
    interruptions += run.outcomes[job].interruptions;
  }
  CHECK(interruptions > 10);
  for (auto& [gpu, spans] : by_gpu) {
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) { CHECK(spans[i - 1].second <= spans[i].first); }
  }
}

TEST_CASE("a timeline has a span for each stint on each node, and ends where its clock does") {
  const JobList jobs = random_jobs();
  const NodeList nodes = equal_nodes(4, 8);
  JobsRun run = failing_run(jobs, nodes);
  std::size_t expected = 0;
  for (const JobStint& stint : run.stints) {
    std::vector<NodeId> there;
    for (const NodeShare& share : stint.where) { there.push_back(share.node); }
    expected += static_cast<std::size_t>(std::unique(there.begin(), there.end()) - there.begin());
  }
  const std::string path = (std::filesystem::temp_directory_path() / "athanor-job-timeline.json").string();
  {
    Timeline timeline(path);
    draw(run, jobs, nodes, timeline);
    timeline.close();
  }
  const std::string text = read_text_file(path);
  std::filesystem::remove(path);
  std::size_t spans = 0;
  for (std::size_t at = text.find("\"ph\":\"X\""); at != std::string::npos; at = text.find("\"ph\":\"X\"", at + 1)) {
    ++spans;
  }
  CHECK(spans == expected);
  run.stints.front().until = 107_wall_d;
  Timeline other(path);
  CHECK_THROWS_WITH_AS(draw(run, jobs, nodes, other), doctest::Contains("horizon"), SimulationError);
  other.close();
  std::filesystem::remove(path);
}
