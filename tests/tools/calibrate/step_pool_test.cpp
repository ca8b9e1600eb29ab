#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// GPT of two layers, of widths whose products are limited by computing and whose kernels are by memory; the first two
/// measured with `first`, an object as `measured_with`, if any, the others with `others`.
std::string steps(double share, const std::vector<double>& measured, const std::string& first = "",
                  const std::string& others = "") {
  std::string cases;
  for (std::size_t i = 0; i < 4; ++i) {
    const int hidden = 1024 << i;
    const std::string seconds = i < measured.size() ? fmt::format(R"(, "measured": "{:.9f}s")", measured[i]) : "";
    const std::string& with = i < 2 ? first : others;
    cases += fmt::format(
        R"({}{{"name": "h {}", "training": {{"model": {{"preset": "GPT-3-175B", "layers": 2, "hidden": {},
           "ffn": {}, "attention": {{"heads": 32}}}}{}{}}}}})",
        i == 0 ? "" : ", ", hidden, hidden, 4 * hidden, seconds, with.empty() ? "" : R"(, "measured_with": )" + with);
  }
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "nodes": 1, "fabric": {{"kind": "star", "switch": "QM9700"}}}},
          "profile": "ideal", "training": {{"sequence": 2048, "global_batch": 8,
            "compute": {{"gemm": {{"share": {}, "depth": 240}}, "attention": 0.55, "memory": 0.75, "overhead": "2us",
              "interference": 0.2}},
            "parallel": {{"overlap_gradients": true}}}}, "cases": [{}]}})",
      share, cases);
}

/// What steps take on GPUs that reach this share of their peak, as a table that somebody measured.
std::string measured_steps(const Folder& folder, const std::string& name, double share, const std::string& first = "",
                           const std::string& others = "") {
  const Ran made = athanor_run({"run", folder.write("made.json", steps(share, {})), "--json"});
  REQUIRE(made.code == 0);
  std::vector<double> times;
  const nlohmann::json json = made.json();
  for (const auto& row : json["results"]) { times.push_back(row["step_time_s"]); }
  return folder.write(name, steps(share, times, first, others));
}

std::set<std::string> software_of(const nlohmann::json& pool) {
  std::set<std::string> software;
  for (const auto& part : pool["share"]["parts"]) {
    const std::string name = part["part"];
    if (name.starts_with("software ")) { software.insert(name.substr(9)); }
  }
  return software;
}

}  // namespace

TEST_CASE("a pool of steps finds what software has in common, and how far predictions for other software are off") {
  const Folder folder;
  std::vector<std::string> words{"calibrate", "--backend", "steps", "--hold-out", "steps,models,one,software"};
  for (const auto& [name, share] :
       {std::pair("first_h100.json", 0.5), std::pair("second_h100.json", 0.55), std::pair("third_h100.json", 0.6)}) {
    words.insert(words.end(), {"--tables", measured_steps(folder, name, share)});
  }
  const std::string found = folder.path("steps.json");
  words.insert(words.end(), {"-o", found});
  const Ran ran = athanor_run(words);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.says("fitted on it"));
  CHECK(ran.says("# steps within the interval of 80 %, in %, and its median width\n# known: "));
  const nlohmann::json pool = nlohmann::json::parse(read_text_file(found));
  double share = pool["share"]["typical"];
  bool hopper = false;
  for (const auto& part : pool["share"]["parts"]) {
    hopper = hopper || part["part"] == "gpu hopper";
    if (part["part"] == "gpu hopper") { share *= part["factor"].get<double>(); }
  }
  CHECK(hopper);
  CHECK(share == doctest::Approx(0.55).epsilon(0.06));
  // Software of which nothing is known is off by what software differs by; one step tells most of that.
  REQUIRE(pool["errors"].size() == 3);  // each table has one model, so that none is held out
  const auto width = [&](std::size_t i) {
    return pool["errors"][i]["high"].get<double>() / pool["errors"][i]["low"].get<double>();
  };
  CHECK(pool["errors"][2]["known"] == "nothing");
  CHECK(width(2) > 1.05);
  CHECK(pool["errors"][1]["known"] == "one_step");
  CHECK(width(1) < width(2));
  CHECK(width(0) < width(2));
}

TEST_CASE(
    "a pool of steps tells software apart as tables say it, and takes a table that says none for one of its own") {
  const Folder folder;
  const std::string other = R"({"software": "other", "framework": "nemo", "release": "25.02"})";
  const std::string found = folder.path("steps.json");
  const Ran ran =
      athanor_run({"calibrate", "--backend", "steps", "--tables", measured_steps(folder, "all.json", 0.5, other, other),
                   "--tables", measured_steps(folder, "half_h100.json", 0.55, other), "--tables",
                   measured_steps(folder, "none_h100.json", 0.6), "-o", found});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(software_of(nlohmann::json::parse(read_text_file(found))) ==
        std::set<std::string>{"other", "half_h100", "none_h100"});
  CHECK(ran.says("half_h100, other"));
  CHECK(ran.says("half_h100, half_h100"));
  CHECK_FALSE(ran.says("none_h100, "));
  CHECK_FALSE(ran.says("within the interval"));  // nothing was held out
}

TEST_CASE("a pool of steps needs steps that were measured") {
  const Folder folder;
  const Ran ran = athanor_run({"calibrate", "--backend", "steps", "--tables", folder.write("s.json", steps(0.5, {})),
                               "-o", folder.path("p.json")});
  CHECK(ran.code != 0);
  CHECK(ran.err.find("\"measured\"") != std::string::npos);
}

TEST_CASE("steps that no GPU takes, and those in other units, are refused by name") {
  const Folder folder;
  const auto refused = [&](double seconds, const std::string& words) {
    const Ran ran = athanor_run({"calibrate", "--backend", "steps", "--tables",
                                 folder.write("table.json", steps(0.6, {seconds, 1, 1, 1})), "-o",
                                 folder.path("pool.json"), "--json"});
    CAPTURE(ran.err);
    CHECK(ran.code == 3);
    CHECK(ran.err.find(words) != std::string::npos);
  };
  refused(1e-4, "h 1024 took 100");
  refused(14, "about 1000 times longer than such steps take");  // 14 ms, 2.5 times what peaks allow
}
