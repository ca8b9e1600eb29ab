#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/jobs/profiles/profile_format.hpp"
#include "models/jobs/profiles/profile_speed.hpp"
#include "models/jobs/summary.hpp"
#include "read_log.hpp"
#include "sim/file.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// Mean completion in seconds by the simulator of Pollux (github.com/petuum/adaptdl, branch osdi21-artifact,
/// simulator/results-jobload): 16 nodes with four T4 each.
struct Published {
  const char* load;
  double tiresias[8];
};

constexpr Published kPublished[] = {
    {"0.5", {1450.9, 2333.3, 1869.9, 1946.8, 1425.4, 1826.6, 3979.2, 1900.0}},
    {"1.0", {2473.7, 5145.0, 3876.3, 3280.3, 3501.0, 3469.7, 5479.9, 5079.7}},
};

ProfileSet pollux_profiles() {
  ProfileSet set;
  set.whole_seconds = true;
  for (const char* name : {"bert", "cifar10", "deepspeech2", "imagenet", "ncf", "yolov3"}) {
    set.applications.push_back(
        profile_formats().front().read(fmt::format("scenarios/jobs/profiles/pollux/{}", name), FileReader()));
  }
  set.applications.back().most_local_batch = 8;
  return set;
}

JobsRules pollux_rules() {
  JobsRules rules;
  rules.start_overhead = rules.restart_overhead = wall_seconds(30);
  return rules;
}

JobList pollux_jobs(const char* load, int workload, const ProfileSet& profiles, const NodeList& nodes,
                    std::string_view keys = "{}") {
  const std::string file = fmt::format("scenarios/jobs/logs/pollux/load_{}_{}.csv", load, workload);
  JobList jobs = read_log_file("pollux", file, keys).jobs;
  REQUIRE(set_durations(jobs, profiles, nodes).empty());
  return jobs;
}

/// Mean completion in seconds.
double completion(const JobList& jobs, const ProfileSet& profiles, const NodeList& nodes, std::string_view scheduler,
                  std::string_view keys = "{}") {
  const auto placement = placement_of("most_free", jobs, nodes);
  const auto decides = scheduler_of(scheduler, jobs, nodes, keys);
  ProfileSpeed speeds(profiles, jobs, nodes);
  return summary_of(simulate_jobs(jobs, nodes, *placement, *decides, speeds, pollux_rules()), jobs, nodes)
      .completion.mean;
}

}  // namespace

TEST_CASE("jobs under Tiresias take as long as Pollux's authors published") {
  const ProfileSet profiles = pollux_profiles();
  const NodeList nodes = equal_nodes(16, 4);
  for (const Published& row : kPublished) {
    for (int workload = 1; workload <= 8; ++workload) {
      CAPTURE(row.load);
      CAPTURE(workload);
      const JobList jobs = pollux_jobs(row.load, workload, profiles, nodes);
      CHECK(completion(jobs, profiles, nodes, "las") == doctest::Approx(row.tiresias[workload - 1]).epsilon(0.0025));
    }
  }
}

TEST_CASE("elastic jobs under Pollux take about as long as its authors published, with a shorter search than theirs") {
  const ProfileSet profiles = pollux_profiles();
  const NodeList nodes = equal_nodes(16, 4);
  for (const auto& [workload, published] : {std::pair{1, 1059.5}, std::pair{2, 1826.3}}) {
    CAPTURE(workload);
    const JobList jobs = pollux_jobs("0.5", workload, profiles, nodes, R"({"elastic": true})");
    const double found = completion(jobs, profiles, nodes, "pollux", R"({"generations": 20})");
    CHECK(found == doctest::Approx(published).epsilon(0.06));
  }
}

TEST_CASE("a workload of Pollux begins at its own zero, and rows that are no jobs are left out with a reason") {
  const ReadLog log = read_log("pollux",
                               "name,time,application,num_replicas,batch_size\na,107,bert,6,384\nb,5,bert,1,x\n"
                               "c,-5,bert,1,12\nd,5,,1,12\ne,5,bert,0,12\n");
  REQUIRE(log.jobs.size() == 1);
  CHECK(log.job(0).submitted == wall_seconds(107));
  CHECK(log.job(0).batch == 384);
  CHECK(log.jobs.name(log.job(0).application) == "bert");
  CHECK(log.left("batch_size is no number from 1 on") == 1);
  CHECK(log.left("time is no number of seconds from 0 on") == 1);
  CHECK(log.left("it names no application") == 1);
  CHECK(log.left("it asks for no GPU") == 1);
  CHECK(problems_of_log("pollux", "name,time,application,num_replicas\n") == "1 missing-column");
}
