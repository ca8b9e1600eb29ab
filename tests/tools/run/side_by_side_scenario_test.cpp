#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/cli/run_command_line.hpp"

using namespace athanor;

namespace {

/// Two leaves of two hosts with an uplink each of 12.5 GB/s, which jobs on hosts 0 and 2, and on 1 and 3, share. An
/// all-reduce of 50 MB between two sends 50 MB each way: 4 ms.
std::string scenario(const std::string& keys) {
  return R"({"cluster": {"nodes": 4, "fabric": {"kind": "fat_tree", "hosts_per_leaf": 2, "oversubscription": 2,
             "link": {"rate": "100Gb/s", "latency": "0ns"}}}, "side_by_side": {)" +
         keys + "}}";
}

std::string job(const std::string& name, int first, const std::string& keys = "",
                const std::string& iteration = R"("compute": "10ms", "size": "50MB")") {
  return fmt::format(R"({{"name": "{}", "endpoints": [{}, {}], "iteration": {{{}}}{}{}}})", name, first, first + 2,
                     iteration, keys.empty() ? "" : ", ", keys);
}

std::string two_jobs(const std::string& of_second = "", const std::string& keys = "") {
  return fmt::format(R"("steps": 5, "jobs": [{}, {}]{}{})", job("a", 0), job("b", 1, of_second),
                     keys.empty() ? "" : ", ", keys);
}

nlohmann::json result(const Folder& folder, const std::string& keys) { return result_of(folder, scenario(keys)); }

std::vector<double> steps_ms(const nlohmann::json& job) {
  std::vector<double> steps;
  for (const auto& each : job["step_times_s"]) { steps.push_back(each.get<double>() * 1000); }
  return steps;
}

void check_steps(const nlohmann::json& job, const std::vector<double>& expected) {
  const std::vector<double> steps = steps_ms(job);
  REQUIRE(steps.size() == expected.size());
  for (std::size_t i = 0; i < steps.size(); ++i) { CHECK(steps[i] == doctest::Approx(expected[i]).epsilon(1e-6)); }
}

/// What a job between hosts 0 and 2 takes beside this traffic.
double beside(const Folder& folder, const std::string& traffic) {
  const nlohmann::json row =
      result(folder, fmt::format(R"("steps": 4, "jobs": [{}], "traffic": [{}])", job("a", 0), traffic));
  return row["jobs"][0]["step_time_s"].get<double>() * 1000;
}

const std::string kFrom1To3 = R"("pattern": "pairs", "pairs": [{"from": 1, "to": 3}])";

void check_error(const std::string& keys, const char* code) {
  CAPTURE(keys);
  const Folder folder;
  CHECK(problem_of(folder, scenario(keys))["code"] == code);
}

}  // namespace

TEST_CASE("two equal jobs on one link: in phase c + 2 m, shifted by m c + m, with a priority locked after one step") {
  const Folder folder;
  const nlohmann::json in_phase = result(folder, two_jobs());
  for (const auto& each : in_phase["jobs"]) {
    check_steps(each, std::vector<double>(5, 18));
    CHECK(each["alone_s"].get<double>() == doctest::Approx(0.014));
    CHECK(each["slowdown"].get<double>() == doctest::Approx(18.0 / 14));
    CHECK(each["overlapped"].get<double>() == doctest::Approx(1));
  }
  CHECK(in_phase["gpu_utilisation"].get<double>() == doctest::Approx(10.0 / 18));
  CHECK(in_phase["shared_links"].size() == 4);  // up and down, of both leaves
  const nlohmann::json shifted = result(folder, two_jobs(R"("start": "4ms")"));
  for (const auto& each : shifted["jobs"]) {
    check_steps(each, std::vector<double>(5, 14));
    CHECK(each["overlapped"].get<double>() == doctest::Approx(0));
  }
  const nlohmann::json first = result(folder, two_jobs(R"("priority": 1)"));
  check_steps(first["jobs"][1], std::vector<double>(5, 14));
  check_steps(first["jobs"][0], {18, 14, 14, 14, 14});
}

TEST_CASE("shifts by CASSINI keep calls apart, and the score says whether they can be") {
  const Folder folder;
  const nlohmann::json row = result(folder, two_jobs("", R"("shifts": "cassini")"));
  CHECK(row["compatibility"].get<double>() == doctest::Approx(1));
  for (const auto& each : row["jobs"]) { check_steps(each, std::vector<double>(5, 14)); }
  // c = 2, m = 4: in each step of 6 both send for 2 at least.
  const std::string close =
      fmt::format(R"("shifts": "cassini", "jobs": [{}, {}])", job("a", 0, "", R"("compute": "2ms", "size": "50MB")"),
                  job("b", 1, "", R"("compute": "2ms", "size": "50MB")"));
  CHECK(result(folder, close)["compatibility"].get<double>() == doctest::Approx(1 - 2.0 / 6));
}

TEST_CASE("who of Crux's first example goes first decides how much GPUs compute, as published") {
  // Crux (SIGCOMM 2024), section 4.2, example 1: one computes and sends for 2 s, the other one for 1 s. Going first,
  // the longer one leaves GPUs 37.5 % of the time, the shorter one 41.7 %.
  const Folder folder;
  const auto use = [&](int first, int second, const std::string& keys = "") {
    const auto priority = [&](int value) { return value > 0 ? fmt::format(R"("priority": {})", value) : ""; };
    const nlohmann::json row =
        result(folder, fmt::format(R"("steps": 40, "warm_up": 10, "jobs": [{}, {}]{})",
                                   job("1", 0, priority(first), R"("compute": "2s", "size": "25GB")"),
                                   job("2", 1, priority(second), R"("compute": "1s", "size": "12.5GB")"), keys));
    return row["gpu_utilisation"].get<double>();
  };
  CHECK(use(1, 0) == doctest::Approx(0.375).epsilon(1e-3));
  CHECK(use(0, 1) == doctest::Approx(5.0 / 12).epsilon(1e-3));
  CHECK(use(0, 0, R"(, "priorities": "crux")") == doctest::Approx(5.0 / 12).epsilon(1e-3));
}

TEST_CASE("of Crux's second example the one that cannot hide its calls goes first, as published") {
  // One computes for 4 s, and sends for 1 s after half of that; the other one for 2 s, and sends for 3 s after half.
  // Until 13 s the second one's GPUs are idle for 7 s if the first goes first, else for 6 s.
  const Folder folder;
  const auto idle = [&](int first, int second) {
    const auto priority = [&](int value) { return value > 0 ? fmt::format(R"("priority": {})", value) : ""; };
    const nlohmann::json row = result(
        folder, fmt::format(R"("steps": 5, "jobs": [{}, {}])",
                            job("1", 0, priority(first), R"("compute": "2s", "beside": "2s", "size": "12.5GB")"),
                            job("2", 1, priority(second), R"("compute": "1s", "beside": "1s", "size": "37.5GB")")));
    double begin = 0;
    double computing = 0;
    for (const double step : steps_ms(row["jobs"][1])) {
      computing += std::clamp(13'000 - begin, 0.0, 2000.0);
      begin += step;
    }
    return (13'000 - computing) / 1000;
  };
  CHECK(idle(1, 0) == doctest::Approx(7).epsilon(1e-3));
  CHECK(idle(0, 1) == doctest::Approx(6).epsilon(1e-3));
}

TEST_CASE("traffic at a rate leaves a call the rest of a link, and not less than half of it") {
  // 4 ms alone of 12.5 GB/s: n / (B - r) below half, n / (B / 2) above.
  const Folder folder;
  for (const int tenths : {1, 3, 5, 8, 10}) {
    const double left = std::max(0.5, 1 - tenths / 10.0);
    const double step = beside(folder, fmt::format(R"({{{}, "rate": "{}Gb/s"}})", kFrom1To3, 10 * tenths));
    CHECK(step == doctest::Approx(10 + 4 / left).epsilon(1e-6));
  }
}

TEST_CASE("messages beside a call share its link while both are under way") {
  // 25 MB alone take 2 ms. Sent every 14 ms from 0 on they meet no call, sent back to back they always take half.
  const Folder folder;
  const std::string message = kFrom1To3 + R"(, "sizes": "25MB")";
  CHECK(beside(folder, fmt::format(R"({{{}, "every": "14ms"}})", message)) == doctest::Approx(14).epsilon(1e-6));
  CHECK(beside(folder, fmt::format("{{{}}}", message)) == doctest::Approx(18).epsilon(1e-6));
  // Poisson arrivals of a thousand messages, some of which are on the link together, and the call has a share of as
  // many.
  const std::string random = R"({"pattern": "random", "messages": 1000, "sizes": "1MB", "gap": "100us"})";
  const double step = beside(folder, random);
  CHECK(step > 14);
  CHECK(step < 26);
}

TEST_CASE("trainings and traces are jobs beside each other as they are by themselves") {
  const Folder folder;
  const std::string cluster = R"("cluster": {"node": "DGX-A100", "nodes": 4, "fabric": {"kind": "fat_tree",
    "hosts_per_leaf": 16, "oversubscription": 8, "link": {"rate": "200Gb/s", "latency": "500ns"}}})";
  const std::string training = R"("training": {"model": "MPT-1B", "micro_batch": 2, "global_batch": 32,
    "sequence": 2048, "precision": "bf16", "parallel": {"sharding": "none"}})";
  const double alone = result_of(
      folder, fmt::format(R"({{{}, {}, "cases": [{{"cluster": {{"nodes": 2}}}}]}})", cluster, training))["step_time_s"];
  const nlohmann::json apart =
      result_of(folder, fmt::format(R"({{{}, "side_by_side": {{"steps": 2, "jobs": [{{"nodes": [0, 1], {}}},
                             {{"nodes": [2, 3], {}}}]}}}})",
                                    cluster, training, training));
  for (const auto& each : apart["jobs"]) { CHECK(each["step_time_s"].get<double>() == doctest::Approx(alone)); }
  const nlohmann::json crossed =
      result_of(folder, fmt::format(R"({{{}, "side_by_side": {{"steps": 4, "jobs": [{{"nodes": [0, 2], {}}},
                             {{"nodes": [1, 3], {}}}]}}}})",
                                    cluster, training, training));
  for (const auto& each : crossed["jobs"]) { CHECK(each["slowdown"].get<double>() > 1.05); }
  const std::string trace = fmt::format(R"({{"trace": {{"files": "{}/traces/ring.goal"}}}})", ATHANOR_TEST_SCENARIOS);
  const nlohmann::json traces = result(folder, fmt::format(R"("steps": 3, "jobs": [{}])", trace));
  CHECK(traces["jobs"][0]["slowdown"].get<double>() == doctest::Approx(1));
}

TEST_CASE("what jobs side by side cannot do, or what does nothing there, is refused") {
  const std::string a = job("a", 0);
  const auto one = [](const std::string& each, const std::string& keys = "") {
    return fmt::format(R"("jobs": [{}]{})", each, keys);
  };
  check_error(one("{}"), "missing-key");
  check_error(
      one(fmt::format(R"({{"iteration": {{"size": "4MB"}}, "trace": {{"files": "{}/traces/ring.goal"}}, "gpus": 2}})",
                      ATHANOR_TEST_SCENARIOS)),
      "conflict");
  check_error(one(R"({"iteration": {"size": "4MB"}})"), "missing-key");
  check_error(one(R"({"iteration": {"size": "4MB"}, "gpus": 2, "nodes": [0]})"), "conflict");
  check_error(one(R"({"iteration": {"size": "4MB"}, "gpus": 5})"), "too-many-ranks");
  check_error(one(R"({"iteration": {"size": "4MB"}, "endpoints": [0, 9]})"), "no-such-endpoint");
  check_error(one(R"({"iteration": {"size": "4MB"}, "nodes": [7]})"), "no-such-node");
  check_error(one(R"({"iteration": {"size": "3B"}, "gpus": 2})"), "not-whole-elements");
  check_error(one(R"({"iteration": {"size": "4MB", "kind": "barrier"}, "gpus": 2})"), "conflict");
  check_error(one(a + ", " + job("b", 0)), "endpoint-taken");
  check_error(one(a + ", " + job("a", 1)), "duplicate-name");
  check_error(one(job("a", 0, R"("start": "1ms")")), "no-effect");
  check_error(one(job("a", 0, R"("priority": 1)")), "no-effect");
  check_error(one(a, R"(, "shifts": "cassini")"), "no-effect");
  check_error(one(a, R"(, "priorities": "crux")"), "no-effect");
  check_error(one(a, R"(, "classes": 4)"), "no-effect");
  check_error(one(a, R"(, "warm_up": 10)"), "out-of-range");
  check_error(two_jobs(R"("start": "1ms")", R"("shifts": "cassini")"), "no-effect");
  check_error(two_jobs(R"("priority": 1)", R"("priorities": "crux")"), "no-effect");
  for (const char* keys : {R"("rate": "1GB/s", "sizes": "1MB")", R"("rate": "1GB/s", "every": "1ms")",
                           R"("rate": "1GB/s", "gap": "1ms")"}) {
    check_error(one(a, fmt::format(R"(, "traffic": [{{"pattern": "shift", {}}}])", keys)), "conflict");
  }
  check_error(one(a, R"(, "traffic": [{"pattern": "shift"}])"), "missing-key");
  check_error(one(a, R"(, "traffic": [{"pattern": "shift", "sizes": "1MB", "rounds": 2}])"), "unknown-key");
}

TEST_CASE("streams that ask for more than a link carries end the run") {
  const Folder folder;
  const std::string keys =
      fmt::format(R"("jobs": [{}], "traffic": [{{"pattern": "incast", "rate": "100Gb/s"}}])", job("a", 0));
  const Ran ran = athanor_run({"run", folder.write("fast.json", scenario(keys)), "--json"});
  CHECK(ran.code == 1);
  CHECK(ran.json()["error"]["code"] == "traffic-too-fast");
}

TEST_CASE("a step that takes no time is no job to repeat, and a class above others leaves a full link nothing") {
  const Folder folder;
  const Ran still = athanor_run({"run", folder.write("still.json", scenario(R"("steps": 3, "jobs": [
    {"endpoints": [0], "iteration": {"size": "4B"}}, {"endpoints": [1], "iteration": {"compute": "1ms", "size": "4B"}}])"))});
  CHECK(still.code == 1);
  CHECK(still.says("takes no time"));
  const nlohmann::json row = result(folder, R"("steps": 3, "jobs": [{"endpoints": [1, 0], "priority": 2,
    "iteration": {"size": "40MB", "kind": "all_gather"}}], "traffic": [{"pattern": "permutation", "rate": "10Gb/s"}])");
  CHECK(row["jobs"][0]["slowdown"].get<double>() == doctest::Approx(1));
}
