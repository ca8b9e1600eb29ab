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

JobsRun run_with_stints(const JobList& jobs, const NodeList& nodes) {
  JobsRules rules;
  rules.keep_stints = true;
  return run_of(jobs, nodes, "fifo", "{}", "best_fit", rules);
}

/// A timeline that has been written and read again.
struct Drawn {
  std::string left_out, text;

  Drawn(const JobsRun& run, const JobList& jobs, const NodeList& nodes, std::size_t most = kMostStaysDrawn) {
    const std::string path = (std::filesystem::temp_directory_path() / "athanor-job-timeline.json").string();
    {
      Timeline timeline(path);
      left_out = draw(run, jobs, nodes, timeline, most);
      timeline.close();
    }
    text = read_text_file(path);
    std::filesystem::remove(path);
  }

  std::size_t spans(const std::string& category) const {
    std::size_t count = 0;
    for (const JsonValue& event : events()) {
      if (event.string_at("ph") == "X" && event.string_at("cat") == category) { ++count; }
    }
    return count;
  }

  /// What a graph shows: times in microseconds, values.
  std::vector<std::pair<double, double>> counted(const std::string& name, std::string_view unit) const {
    std::vector<std::pair<double, double>> points;
    for (const JsonValue& event : events()) {
      if (event.string_at("ph") != "C" || event.string_at("name") != name) { continue; }
      points.emplace_back(event.number_at("ts"), event["args"].number_at(unit));
    }
    return points;
  }

 private:
  JsonValue::List events() const { return json_value_of(text).value()["traceEvents"].elements(); }
};

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
  const Drawn drawn(run, jobs, nodes);
  CHECK(drawn.left_out.empty());
  CHECK(drawn.spans("job") == expected);
  CHECK(drawn.spans("failure") == run.outages.size());
  run.stints.front().until = 107_wall_d;
  CHECK_THROWS_WITH_AS(Drawn(run, jobs, nodes), doctest::Contains("horizon"), SimulationError);
}

TEST_CASE("graphs of a timeline change where the cluster's use does, and end with nothing") {
  const JobList jobs = list_of({{0, 100, 8}, {0, 50, 8}, {10, 40, 8}});
  const Drawn drawn(run_with_stints(jobs, equal_nodes(1, 8)), jobs, equal_nodes(1, 8));
  const std::vector<std::pair<double, double>> used{{0, 8}, {190e6, 0}};
  CHECK(drawn.counted("GPUs in use", "gpus") == used);
  const std::vector<std::pair<double, double>> waiting{{0, 1}, {10e6, 2}, {100e6, 1}, {150e6, 0}, {190e6, 0}};
  CHECK(drawn.counted("jobs waiting", "jobs") == waiting);
}

TEST_CASE("a timeline of more stays than it may have is by leaves, then by the whole cluster, then cut, and says so") {
  std::vector<SmallJob> list;
  for (int i = 0; i < 40; ++i) { list.push_back({i, 100, 32}); }
  const JobList jobs = list_of(list);
  NodeList nodes = equal_nodes(8, 8);
  nodes.tiers.push_back({"leaf", IdVector<NodeId, std::uint32_t>(8), 2});
  for (const NodeId node : nodes.nodes.ids()) { nodes.tiers[0].domains[node] = node.value / 4; }
  const JobsRun run = run_with_stints(jobs, nodes);
  const std::size_t of_nodes = Drawn(run, jobs, nodes).spans("job");
  CHECK(of_nodes == 160);
  const Drawn by_leaf(run, jobs, nodes, of_nodes - 1);
  CHECK(by_leaf.left_out == "the trace has jobs by leaf: by node they would be more than 159 spans");
  CHECK(by_leaf.spans("job") == 40);  // each on one leaf
  CHECK(by_leaf.text.find("\"leaf 1\"") != std::string::npos);
  const Drawn cut(run, jobs, nodes, 10);
  CHECK(cut.spans("job") == 10);
  CHECK(cut.left_out.find("by cluster") != std::string::npos);
  CHECK(cut.left_out.find("still 40") != std::string::npos);
}
