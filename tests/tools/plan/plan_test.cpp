#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Llama of eight layers on DGX H100, without a plan.
std::string scenario_with(const std::string& training, std::uint32_t nodes = 1) {
  return fmt::format(
      R"({{"name": "small", "cluster": {{"node": "DGX-H100", "nodes": {}, "fabric": {{"kind": "star", "switch": "QM9700"}}}},
           "training": {{"model": {{"preset": "Llama-3.1-8B", "layers": 8}}, "global_batch": 16, "sequence": 2048,
                         "compute": "nemo-2411-h100-bf16"{}}}}})",
      nodes, training);
}

/// Restrictions that keep tests short.
std::vector<std::string> plan_of(const std::string& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"plan", file, "--micro-batch", "1,2", "--schedule", "1f1b,interleaved"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string refusal_of(const std::string& scenario, const std::vector<std::string>& more) {
  const Folder folder;
  const Ran ran = athanor_run(plan_of(folder.write("s.json", scenario), more));
  CHECK(ran.code == 2);
  return ran.err;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("plan says that its compute profile was not fitted on such GPUs or such a precision") {
  const Folder folder;
  const std::string fitted = folder.write("fitted.json", scenario_with(""));
  const std::string other = folder.write("other.json", scenario_with(R"(, "precision": "fp8")"));
  CHECK_FALSE(athanor_run(plan_of(fitted)).says("extrapolated"));
  const Ran ran = athanor_run(plan_of(other));
  CHECK(ran.says("# extrapolated: the compute profile nemo-2411-h100-bf16 was not fitted on fp8"));
}

TEST_CASE("plan lists the fastest plans of a scenario that has none, with where their time goes") {
  const Folder folder;
  const Ran ran = athanor_run(plan_of(folder.write("s.json", scenario_with("")), {"--json", "--top", "4"}));
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json answer = ran.json();
  const nlohmann::json& plans = answer["results"];
  REQUIRE(plans.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const nlohmann::json& plan = plans[i];
    CHECK(plan["rank"] == i + 1);
    CHECK(plan["gpus"] == 8);
    CHECK(plan["memory_gb"].get<double>() <= 76);
    CHECK(plan["step_time_s"].get<double>() >= plans[0]["step_time_s"].get<double>());
    CHECK(plan["tokens_per_s"].get<double>() ==
          doctest::Approx(16 * 2048 / plan["step_time_s"].get<double>()).epsilon(1e-9));
    double sum = 0;
    for (const auto& [part, share] : plan["breakdown"].items()) { sum += share.get<double>(); }
    CHECK(sum == doctest::Approx(1));
    CHECK_FALSE(plan["why"].get<std::string>().empty());
  }
  const nlohmann::json& search = answer["search"];
  CHECK(search["complete"] == true);
  std::uint64_t counted = search["unfit"].get<std::uint64_t>() + search["bounded"].get<std::uint64_t>() +
                          search["simulated"].get<std::uint64_t>();
  for (const auto& [why, count] : search["refused"].items()) { counted += count.get<std::uint64_t>(); }
  CHECK(search["plans"] == counted);
}

TEST_CASE("the best plan, written as a scenario, runs and takes what it was said to take") {
  const Folder folder;
  const std::string path = folder.path("best.json");
  const Ran planned =
      athanor_run(plan_of(folder.write("s.json", scenario_with(R"(, "measured": "1s", "parallel": {"tensor": 8})", 2)),
                          {"--json", "-o", path}));
  CAPTURE(planned.err);
  REQUIRE(planned.code == 0);
  const nlohmann::json best = planned.json()["results"][0];
  const Ran ran = athanor_run({"run", path, "--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json step = ran.json()["results"][0];
  for (const char* key : {"step_time_s", "tensor", "pipeline", "data", "micro_batch", "schedule", "memory_gb", "mfu"}) {
    CAPTURE(key);
    CHECK(step[key] == best[key]);
  }
  CHECK_FALSE(step.contains("measured_time_s"));
}

TEST_CASE("a plan with a process for each GPU leaves out what one process alone may have") {
  const Folder folder;
  const std::string path = folder.path("best.json");
  const std::string one = scenario_with(R"(, "parallel": {"single_process": true})");
  REQUIRE(athanor_run(plan_of(folder.write("s.json", one), {"-o", path})).code == 0);
  CHECK(athanor_run({"run", path, "-q"}).code == 0);
}

TEST_CASE("the plan of the scenario stands among the others, with its place") {
  const Folder folder;
  const std::string scenario =
      scenario_with(R"(, "parallel": {"tensor": 4, "sequence_parallel": true, "sharding": "optimizer"})");
  const std::string path = folder.write("s.json", scenario);
  const Ran ran = athanor_run(plan_of(path, {"--json"}));
  REQUIRE(ran.code == 0);
  const nlohmann::json own = ran.json()["search"]["own"];
  CHECK(own["tensor"] == 4);
  CHECK(own["step_time_s"] == athanor_run({"run", path, "--json"}).json()["results"][0]["step_time_s"]);
  CHECK(own["first_place"].get<int>() >= 1);
  CHECK(own["last_place"].get<int>() >= own["first_place"].get<int>());
  const Ran table = athanor_run(plan_of(path));
  CHECK(table.says("the plan of the scenario: tensor 4"));
  CHECK(table.says("place "));
}

TEST_CASE("a table says what was searched, and CSV has a line for each plan") {
  const Folder folder;
  const std::string path = folder.write("s.json", scenario_with(R"(, "parallel": {"tensor": 16})"));
  const Ran table = athanor_run(plan_of(path, {"--top", "2"}));
  REQUIRE(table.code == 0);
  CHECK(table.says("plans divide GPUs and batch"));
  CHECK(table.says("no plan of these that was not simulated is faster"));
  CHECK(table.says("computing "));
  CHECK(table.says("cannot be run: tensor 16 x context 1 x pipeline 1 = 16 does not divide the 8 endpoints"));
  const Ran csv = athanor_run(plan_of(path, {"--top", "2", "--csv"}));
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 3);
  CHECK(holds(csv.out, "rank,scenario,case,model"));
}

TEST_CASE("restrictions hold") {
  const Folder folder;
  const Ran ran = athanor_run(plan_of(folder.write("s.json", scenario_with("", 2)),
                                      {"--json", "--gpus", "8,16", "--tensor", "2", "--pipeline", "2", "--sharding",
                                       "optimizer", "--recompute", "none,full"}));
  REQUIRE(ran.code == 0);
  const nlohmann::json plans = ran.json()["results"];
  for (const nlohmann::json& plan : plans) {
    CHECK(plan["tensor"] == 2);
    CHECK(plan["pipeline"] == 2);
    CHECK(plan["sharding"] == "optimizer");
    CHECK(plan["recompute"] != "selective");
  }
  CHECK(ran.json()["results"][0]["gpus"] == 16);
}

TEST_CASE("where no plan fits, the smallest is named with what would help") {
  const Folder folder;
  const Ran ran = athanor_run(plan_of(folder.write("s.json", R"({
    "cluster": {"node": "DGX-H100", "nodes": 1, "fabric": {"kind": "star", "switch": "QM9700"}},
    "training": {"model": "GPT-3-175B", "global_batch": 8, "compute": "nemo-2411-h100-bf16"}})")));
  CHECK(ran.code == 1);
  CHECK(ran.says("no plan fits into 81.0 GB; the smallest takes"));
  CHECK(ran.says("times as many GPUs"));
}

TEST_CASE("what cannot be searched is refused with what to change") {
  CHECK(holds(refusal_of(scenario_with(""), {"--tensor", "3"}), "tensor 3 x context 1 x pipeline"));
  CHECK(holds(refusal_of(scenario_with(""), {"--tensor", "3"}), "does not divide 8 GPUs; ask for others"));
  CHECK(holds(refusal_of(scenario_with(""), {"--gpus", "9"}), "the cluster of the scenario has 8 endpoints"));
  CHECK(holds(refusal_of(scenario_with(""), {"--sharding", "optimiser"}), "did you mean 'optimizer'?"));
  CHECK(holds(refusal_of(scenario_with(""), {"--top", "0"}), "--top '0' is not a whole number from 1 on"));
  CHECK(holds(refusal_of(scenario_with(""), {"--pipeline", "2,x"}), "--pipeline 'x' is not a whole number"));
  CHECK(holds(refusal_of(scenario_with(""), {"--reserve", "90GB"}), "leaves nothing of the 85 GB"));
  CHECK(holds(refusal_of(kSmall, {}), "has no \"training\""));
}

TEST_CASE(
    "a scenario's own plan on other GPUs than are asked for is not listed, nor counted among those that are found") {
  const Folder folder;
  const std::string path = folder.write("s.json", scenario_with(R"(, "parallel": {"tensor": 4})"));
  const Ran smaller = athanor_run(plan_of(path, {"--json", "--gpus", "4"}));
  REQUIRE(smaller.code == 0);
  const nlohmann::json plans = smaller.json()["results"];
  for (const auto& plan : plans) { CHECK(plan["gpus"] == 4); }
  const Ran one = athanor_run(plan_of(path, {"--json", "--most", "1"}));
  CHECK(one.code == 0);
  CHECK(one.json()["search"]["simulated"] == 2);
}
