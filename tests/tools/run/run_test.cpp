#include <doctest/doctest.h>

#include "models/experiments/scenario/digest.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines{""};
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  lines.pop_back();
  return lines;
}

/// Without what names this build: the first line.
std::string without_version(const std::string& table) { return table.substr(table.find('\n') + 1); }

}  // namespace

TEST_CASE("the table of a whole scenario is what it was") {
  const std::string folder = ATHANOR_TEST_GOLDEN;
  const Ran ran = athanor_run({"run", folder + "/two_cases.json"});
  REQUIRE(ran.code == 0);
  CHECK(ran.err.empty());
  CHECK(without_version(ran.out) == read_text_file(folder + "/two_cases.txt"));
}

TEST_CASE("a row has nccl-tests' columns first, and lines that are no rows start with #") {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", kSmall)});
  REQUIRE(ran.code == 0);
  int rows = 0;
  for (const std::string& line : lines_of(ran.out)) {
    if (line.starts_with("#")) { continue; }
    ++rows;
    long long size = 0;
    long long count = 0;
    char type[16] = {};
    char operation[16] = {};
    int root = 0;
    double time = 0;
    double algorithm_bandwidth = 0;
    double bus_bandwidth = 0;
    REQUIRE(std::sscanf(line.c_str(), "%lld %lld %15s %15s %d %lf %lf %lf", &size, &count, type, operation, &root,
                        &time, &algorithm_bandwidth, &bus_bandwidth) == 8);
    CHECK(size == 4 * count);
    CHECK(std::string(type) == "float");
    CHECK(std::string(operation) == "sum");
    CHECK(root == -1);
    CHECK(bus_bandwidth == doctest::Approx(1.5 * algorithm_bandwidth).epsilon(0.1));
  }
  CHECK(rows == 3);
}

TEST_CASE("results have stable keys, and those of a measurement only where one is given") {
  const Folder folder;
  folder.write("m.json", measurement("all_reduce", 4, {{1024, 6.5}}));
  const std::string file =
      folder.write("s.json", small_with("\"name\"", R"("verify": {"measurement": "m.json"}, "name")"));
  const nlohmann::json json = athanor_run({"run", file, "--json"}).json();
  const std::vector<std::string> keys = {
      "algbw_gbps", "algorithm",  "bound_by",   "bound_time_us", "busbw_gbps",   "bytes",      "case",
      "channels",   "collective", "efficiency", "error",         "extrapolated", "limited_by", "measured_time_us",
      "network",    "notes",      "padded",     "profile",       "protocol",     "ranks",      "root",
      "scenario",   "time_us",    "type"};
  std::vector<std::string> found;
  for (const auto& item : json["results"][0].items()) { found.push_back(item.key()); }
  CHECK(found == keys);
  CHECK_FALSE(json["results"][1].contains("error"));
  CHECK_FALSE(json["results"][1].contains("measured_time_us"));
  const double simulated = json["results"][0]["time_us"];
  CHECK(json["results"][0]["error"].get<double>() == doctest::Approx(simulated / 6.5 - 1));
  for (const char* key : {"version", "git_revision", "compiler", "build", "scenarios", "inputs", "seeds",
                          "command_line", "host", "wall_time_s", "interrupted", "warnings", "extrapolations"}) {
    CAPTURE(key);
    CHECK(json["manifest"].contains(key));
  }
  CHECK(json["manifest"]["scenarios"][0]["path"] == file);
}

TEST_CASE("the manifest has every file that was read, with its hash") {
  const Folder folder;
  const std::string matrix = folder.write("matrix.csv", kPairs);
  const std::string scenario = folder.write("exchange.json", kExchange);
  const nlohmann::json inputs = athanor_run({"run", scenario, "--json"}).json()["manifest"]["inputs"];
  const auto hash_of = [&](const std::string& path) {
    for (const auto& each : inputs) {
      if (each["path"] == path) { return each["hash"].get<std::string>(); }
    }
    return std::string();
  };
  CHECK(hash_of(scenario) == text_hash(kExchange));
  CHECK(hash_of(matrix) == text_hash(kPairs));
}

TEST_CASE("the manifest says which results are extrapolated") {
  const Folder folder;
  const std::string profile = R"("profile": {"name": "mine", "fitted": {"ranks": [2]}}, "name")";
  const std::string file = folder.write("s.json", small_with("\"name\"", profile));
  const nlohmann::json said = athanor_run({"run", file, "--json"}).json()["manifest"]["extrapolations"];
  REQUIRE(said.size() == 1);
  CHECK(said[0] == "3 of 3 results are outside of what the profile was fitted on");
  CHECK(athanor_run({"run", folder.write("fit.json", kSmall), "--json"}).json()["manifest"]["extrapolations"].empty());
}

TEST_CASE("a profile is headed by its own description, and by its name alone where it has none") {
  const Folder folder;
  for (const std::string description : {"", R"(, "description": "a guess")"}) {
    CAPTURE(description);
    const std::string file = folder.write(
        "s.json",
        small_with("\"name\"", R"("profile": {"name": "mine", "launch": "5us")" + description + R"(}, "name")"));
    const Ran ran = athanor_run({"run", file});
    CHECK(ran.says(description.empty() ? "# profile      mine\n" : "# profile      mine: a guess\n"));
  }
}

TEST_CASE("an uncontended ring takes 2 (P - 1) (alpha + m beta)") {
  const Folder folder;
  const nlohmann::json json = athanor_run({"run", folder.write("s.json", kSmall), "--json"}).json();
  for (const nlohmann::json& row : json["results"]) {
    const double part = row["bytes"].get<double>() / 4;
    CHECK(row["time_us"].get<double>() == doctest::Approx(2 * 3 * (1.0 + part / 10e3)));
    CHECK(row["time_us"].get<double>() >= row["bound_time_us"].get<double>());
  }
}

TEST_CASE("switching classes and repetition off changes no result") {
  const Folder folder;
  const std::string file = folder.write("s.json", small_with("\"ring\"", "\"best\""));
  const auto results = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", file, "--json"});
    return athanor_run(options).json()["results"];
  };
  CHECK(results({}) == results({"--no-classes"}));
  CHECK(results({}) == results({"--no-repeat", "--no-classes"}));
}

TEST_CASE("CSV holds what JSON holds, and files leave the table on stdout") {
  const Folder folder;
  const std::string file = folder.write("s.json", kSmall);
  const std::vector<std::string> lines = lines_of(athanor_run({"run", file, "--csv"}).out);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].starts_with("scenario,case,collective,algorithm,protocol,channels,ranks,bytes,type,root,time_us,"));
  CHECK(lines[1].find(",,all_reduce,ring,") != std::string::npos);
  const Ran ran = athanor_run({"run", file, "--csv=" + folder.path("r.csv"), "--json=" + folder.path("r.json")});
  CHECK(ran.code == 0);
  CHECK(ran.out.starts_with("# athanor"));
  CHECK(lines_of(read_text_file(folder.path("r.csv"))) == lines);
  CHECK(json_in_file(folder.path("r.json"))["results"].size() == 3);
}

TEST_CASE("--set, --sizes, --seed and --case change the run, cases included") {
  const Folder folder;
  const std::string file = folder.write(
      "s.json",
      small_with("\"name\"", R"("cases": [{"name": "a"}, {"name": "b", "collective": {"ranks": 2}}], "name")"));
  const auto run = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", file, "--json"});
    const Ran ran = athanor_run(options);
    CAPTURE(ran.err);
    REQUIRE(ran.code == 0);
    return ran.json();
  };
  CHECK(run({})["results"].size() == 6);
  CHECK(run({"--case", "b"})["results"].size() == 3);
  CHECK(run({"--case", "b"})["results"][0]["ranks"] == 2);
  CHECK(run({"--sizes", "8B,1MiB"})["results"][3]["bytes"] == 1048576);
  CHECK(run({"--seed", "7"})["manifest"]["seeds"] == nlohmann::json({7, 7}));
  CHECK(run({"--set", "/collective/ranks=3"})["results"][5]["ranks"] == 3);
  CHECK(run({"--set", "/cases/1/collective/ranks=3"})["results"][0]["ranks"] == 4);
  CHECK(run({"--set", "/collective/type=float64"})["results"][0]["type"] == "float64");
  CHECK(athanor_run({"run", file, "--case", "aa"}).says("did you mean 'a'?"));
  const std::string broken = folder.write(
      "broken.json", small_with("\"name\"", R"("cases": [{"name": "a"}, {"name": "b", "clusterr": {}}], "name")"));
  CHECK(athanor_run({"run", broken, "--case", "a"}).code == 0);
  CHECK(athanor_run({"run", broken}).says("clusterr"));
}

TEST_CASE("an interrupted run prints what it has, says so and ends with 130") {
  const Folder folder;
  const std::string file = folder.write("s.json", kSmall);
  const Ran table = athanor_with({"run", file}, 1);
  CHECK(table.code == 130);
  CHECK(table.says("# interrupted"));
  CHECK(table.says("        1024 "));
  CHECK_FALSE(table.says("        2048 "));
  const Ran json = athanor_with({"run", file, "--json"}, 1);
  CHECK(json.code == 130);
  CHECK(json.json()["results"].size() == 1);
  CHECK(json.json()["manifest"]["interrupted"] == true);
}

TEST_CASE("a trace of one case at one size is a complete Chrome trace") {
  const Folder folder;
  const std::string trace = folder.path("trace.json");
  const Ran ran = athanor_run({"run", folder.write("s.json", kSmall), "--sizes", "1KiB", "--trace", trace});
  CHECK(ran.code == 0);
  CHECK(json_in_file(trace)["traceEvents"].is_array());
}

TEST_CASE("where packets are paused, routes that may wait for each other in a circle are warned of") {
  const Folder folder;
  const auto ring = [&](const std::string& network, const char* command = "run") {
    return athanor_run(
        {command, folder.write("ring.json", R"({"cluster": {"fabric": {"kind": "torus", "dimensions": [5],
      "link": {"rate": "10GB/s", "latency": "1us"}}}, "network": )" +
                                                network + R"(,
      "collective": {"kind": "all_reduce", "sizes": "4KiB", "algorithm": "ring"}})")});
  };
  CHECK(ring(R"({"level": "packet"})").says("deadlock-prone under PFC or credits on one virtual channel"));
  CHECK(ring(R"({"level": "packet"})", "validate").says("deadlock-prone under PFC or credits"));
  CHECK(ring(R"({"level": "packet", "switches": {"flow_control": "credits"}})").says("deadlock-prone"));
  CHECK_FALSE(ring(R"({"level": "packet", "switches": {"flow_control": "none"}})").says("deadlock-prone"));
  CHECK_FALSE(ring(R"({"level": "flow"})").says("deadlock-prone"));
}

TEST_CASE("a dry run says what would be simulated, and simulates nothing") {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("small.json", kSmall), "--dry-run"});
  CHECK(ran.code == 0);
  CHECK(ran.says("4 ranks"));
  CHECK(ran.says("# would simulate 3 sizes from 1 KiB to 4 KiB"));
  CHECK_FALSE(ran.says("ring"));
}
