#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

constexpr const char* kSteps = "placement,local_bsz,step_time,sync_time\n1,10,1.0,0.0\n11,10,2.0,1.0\n";
constexpr const char* kEpochs = "progress,iteration,metric,grad_sqr,grad_var\n100,100,1,0,1\n";

/// A folder with a profile of "a" under "p", with these step times.
void write_profile(const Folder& folder, const std::string& steps, const std::string& epochs = kEpochs) {
  folder.write("p/a/placements.csv", steps);
  folder.write("p/a/validation-10.csv", epochs);
  folder.write("p/a/validation-20.csv", kEpochs);
}

/// Four hosts with one GPU each, these jobs, and the profiles of `applications`.
std::string with_profiles(const std::string& jobs, const std::string& applications = R"([{"name": "a"}])",
                          const std::string& more = "") {
  return fmt::format(
      R"({{"cluster": {{"nodes": 4, "fabric": {{"kind": "star", "link": {{"rate": "10GB/s", "latency": "500ns"}}}}}},
    "workload": {{"jobs": [{}], {} "profiles": {{"folder": "p", "format": "pollux", "applications": {}}}}}}})",
      jobs, more, applications);
}

constexpr const char* kJob = R"({"gpus": 2, "application": "a", "batch": 20})";

}  // namespace

TEST_CASE("a job that names an application runs as long as its profile says of its nodes") {
  const Folder folder;
  write_profile(folder, kSteps);
  const nlohmann::json row = results_of(folder, with_profiles(kJob))[0];
  CHECK(row["completion_s_mean"].get<double>() == doctest::Approx(100));  // 50 iterations of 2 s
}

TEST_CASE("what a profile cannot be, and what it cannot say, is refused with what to change") {
  struct Wrong {
    std::string steps;
    std::string epochs;
    std::string scenario;
    const char* code;
    const char* says;
  };
  const std::string more_epochs = R"([{"name": "a", "epochs": 2}])";
  const std::string larger = R"([{"name": "a", "most_local_batch": 11}])";
  const std::vector<Wrong> wrong = {
      {"placement,local_bsz,step_time\n1,10,1\n", kEpochs, with_profiles(kJob), "missing-column", "sync_time"},
      {"placement,local_bsz,step_time,sync_time\n1,10,-1,0\n", kEpochs, with_profiles(kJob), "no-profile",
       "step_time '-1' is no number above 0"},
      {"placement,local_bsz,step_time,sync_time\n1,10,1,2\n", kEpochs, with_profiles(kJob), "no-profile",
       "no part of the step_time"},
      {"placement,local_bsz,step_time,sync_time\n1x,10,1,0\n", kEpochs, with_profiles(kJob), "no-profile", "digits"},
      {"placement,local_bsz,step_time,sync_time\n", kEpochs, with_profiles(kJob), "no-profile", "no step time"},
      {kSteps, "progress,grad_sqr\n", with_profiles(kJob), "missing-column", "grad_var"},
      {kSteps, "progress,grad_sqr,grad_var\n5,1,1\n4,1,1\n", with_profiles(kJob), "no-profile",
       "more than in the epoch before"},
      {kSteps, "progress,grad_sqr,grad_var\n5,1,1\n6,1,1\n", with_profiles(kJob), "no-profile", "smaller batches 2"},
      {kSteps, kEpochs, with_profiles(kJob, R"([{"name": "b"}])"), "no-profile", "p/b/placements.csv"},
      {kSteps, kEpochs, with_profiles(kJob, R"([{"name": "a"}, {"name": "a"}])"), "duplicate-name", "'a'"},
      {kSteps, kEpochs, with_profiles(kJob, more_epochs), "out-of-range", "has 1 epochs, not 2"},
      {kSteps, kEpochs, with_profiles(kJob, larger), "out-of-range", "from 10 to 10, not 11"},
      {kSteps, kEpochs, with_profiles(R"({"gpus": 2, "application": "b", "batch": 20})"), "no-profile", "of a"},
      {kSteps, kEpochs, with_profiles(R"({"gpus": 2, "application": "a", "batch": 21})"), "beyond-profile",
       "from 10 to 20"},
      {kSteps, kEpochs, with_profiles(R"({"gpus": 2, "application": "a", "batch": 10})"), "beyond-profile",
       "5 on each"},
      {kSteps, kEpochs, with_profiles(R"({"gpus": 3, "application": "a", "batch": 20})"), "beyond-profile",
       "wants 3 GPUs"},
      {kSteps, kEpochs, with_profiles(R"({"tasks": [{"gpus": 0, "gpu_milli": 500}], "application": "a", "batch": 20})"),
       "beyond-profile", "whole GPUs"},
      {kSteps, kEpochs, with_profiles(R"({"gpus": 2, "application": "a"})"), "missing-key", "batch"},
      {kSteps, kEpochs,
       with_profiles(R"({"gpus": 2, "application": "a", "batch": 20, "elastic": {"from": 3, "to": 4}})"),
       "beyond-profile", "at least 3 GPUs"},
      {kSteps, kEpochs, with_profiles(R"({"gpus": 2, "application": "a", "batch": 20, "duration": "1h"})"), "conflict",
       "either"},
      {kSteps, kEpochs, with_profiles(R"({"gpus": 2, "batch": 20, "duration": "1h"})"), "conflict", "belong together"},
      {kSteps, kEpochs, with_profiles(kJob, R"([{"name": "a"}])", R"("speed_by_distance": [1],)"), "conflict",
       "profiles say"},
  };
  for (const Wrong& each : wrong) {
    const Folder folder;
    write_profile(folder, each.steps, each.epochs);
    CAPTURE(each.scenario);
    const nlohmann::json problem = problem_of(folder, each.scenario);
    CAPTURE(problem);
    CHECK(problem["code"] == each.code);
    CHECK(text_of(problem).find(each.says) != std::string::npos);
  }
}

TEST_CASE("a job of an application needs a profile") {
  const Folder folder;
  const std::string bare = R"({"cluster": {"nodes": 4, "fabric": {"kind": "star",
    "link": {"rate": "10GB/s", "latency": "500ns"}}}, "workload": {"jobs": [)";
  const nlohmann::json problem = problem_of(folder, bare + kJob + "]}}");
  CHECK(problem["code"] == "no-profile");
  CHECK(text_of(problem).find("give the workload") != std::string::npos);
}

TEST_CASE("what cannot be of elastic jobs is refused with what to change") {
  const Folder folder;
  const auto problem = [&](const std::string& job, const std::string& more) {
    return problem_of(folder, R"({"cluster": {"nodes": 4, "fabric": {"kind": "star",
      "link": {"rate": "10GB/s", "latency": "500ns"}}}, "workload": {"jobs": [)" +
                                  job + "]" + more + "}}");
  };
  const std::string pollux = R"(, "scheduler": "pollux")";
  const std::string elastic = R"({"gpus": 2, "duration": "1h", "elastic": {"to": 4}})";
  CHECK(problem(R"({"gpus": 2, "duration": "1h"})", pollux)["code"] == "not-elastic");
  CHECK(problem(elastic, pollux + R"(, "placement": "spread")")["code"] == "no-effect");
  CHECK(problem(R"({"gpus": 2, "duration": "1h", "elastic": {"from": 5, "to": 4}})", pollux)["code"] == "conflict");
  CHECK(problem(R"({"tasks": [{"gpus": 1}], "duration": "1h", "elastic": {"to": 4}})", "")["code"] == "conflict");
  const nlohmann::json row = results_of(folder, R"({"cluster": {"nodes": 4, "fabric": {"kind": "star",
      "link": {"rate": "10GB/s", "latency": "500ns"}}}, "workload": {"jobs": [)" +
                                                    elastic + "]" + pollux + "}}")[0];
  CHECK(row["placement"] == "pollux");
  CHECK(row["completion_s_mean"].get<double>() < 3600);
}
