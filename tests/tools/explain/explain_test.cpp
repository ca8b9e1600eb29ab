#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/explain/explanation.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

constexpr const char* kChoice = R"({
  "cluster": {"nodes": 8, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
  "collective": {"kind": "all_reduce", "algorithm": ["ring", "recursive_doubling", "nvls"], "sizes": "1KiB..4MiB"}
})";

nlohmann::json explained(const Folder& folder, const std::string& scenario, const std::string& size) {
  const Ran ran = athanor_run({"explain", folder.write("s.json", scenario), "--size", size, "--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json();
}

double run_time(const Folder& folder, const std::string& scenario, const std::string& size) {
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--sizes", size, "--json"});
  REQUIRE(ran.code == 0);
  return ran.json()["results"][0]["time_us"].get<double>();
}

ExplainedPhases phases(std::int64_t launch, std::int64_t fill, std::int64_t steady, std::int64_t drain) {
  return {1_us * launch, 1_us * fill, 1_us * steady, 1_us * drain, Time::zero()};
}

}  // namespace

TEST_CASE("explain takes what run takes, and its phases are that time") {
  const Folder folder;
  for (const std::string size : {"1KiB", "64KiB", "4MiB"}) {
    CAPTURE(size);
    const nlohmann::json json = explained(folder, kChoice, size);
    const double time = json["chosen"]["time_us"].get<double>();
    CHECK(time == doctest::Approx(run_time(folder, kChoice, size)));
    double sum = 0;
    for (const auto& [name, part] : json["phases_us"].items()) {
      CHECK(part.get<double>() >= 0);
      sum += part.get<double>();
    }
    CHECK(sum == doctest::Approx(time));
    CHECK(json["bound_us"].get<double>() <= time);
  }
}

TEST_CASE("the critical path of a ring is its latencies and transfers, and they are its time") {
  const Folder folder;
  const nlohmann::json json = explained(folder, kChoice, "4MiB");
  REQUIRE(json["chosen"]["algorithm"] == "ring");
  const nlohmann::json path = json["critical_path"];
  CHECK(path["between_nodes"]["messages"] == 14);
  CHECK(path["between_nodes"]["latency_us"].get<double>() == doctest::Approx(14.0));
  CHECK(path["between_nodes"]["transfer_us"].get<double>() == doctest::Approx(14 * 4 * 1048576 / 8 / 10e3));
  CHECK(path["between_nodes"]["sharing_us"] == 0);
  CHECK(path["within_nodes"]["messages"] == 0);
  const Ran ran = athanor_run({"explain", folder.write("s.json", kChoice), "--size", "4MiB"});
  CHECK(ran.says("critical path, 14 messages between nodes\n"));
  CHECK(ran.says("  latency                    -         14.00       1.9\n"));
}

TEST_CASE("explain says the interval that run says, and what of the stack was known, or that there is none") {
  const Folder folder;
  const std::string scenario = R"({"cluster": {"node": "DGX-H100", "nodes": 2,
    "fabric": {"kind": "rail_optimized", "switch": "QM9700", "nodes_per_group": 2}},
    "collective": {"kind": "all_reduce", "sizes": "8B..1GiB"}})";
  for (const std::string size : {"8B", "1GiB"}) {
    CAPTURE(size);
    const nlohmann::json chosen = explained(folder, scenario, size)["chosen"];
    const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--sizes", size, "--json"});
    REQUIRE(ran.code == 0);
    const nlohmann::json row = ran.json()["results"][0];
    for (const char* key : {"time_us", "time_low_us", "time_high_us", "known"}) { CHECK(chosen[key] == row[key]); }
    const Ran text = athanor_run({"explain", folder.path("s.json"), "--size", size});
    CHECK(text.says("interval (80 %)\n  "));
    CHECK(text.says("; known: nothing (its parts were measured in other stacks)\n"));
  }
  const nlohmann::json chosen = explained(folder, kChoice, "4MiB")["chosen"];
  for (const char* key : {"time_low_us", "time_high_us", "known"}) { CHECK(chosen[key].is_null()); }
  CHECK(athanor_run({"explain", folder.write("s.json", kChoice), "--size", "4MiB"})
            .says("interval (80 %)\n  none: no predictions of this kind were held against measurements\n"));
}

TEST_CASE("every kind of knowledge has words of its own") {
  std::set<std::string_view> words{""};
  for (const Knowledge each : kKnowledges) { CHECK(words.insert(words_of_knowledge(name(each))).second); }
  for (const StepKnowledge each : kStepKnowledges) { CHECK(words.insert(words_of_step_knowledge(name(each))).second); }
  CHECK(words_of_knowledge("steps").empty());
  CHECK(words_of_step_knowledge("sizes").empty());
}

TEST_CASE("explain lists every candidate by its time, the chosen one first, and why others cannot run") {
  const Folder folder;
  const nlohmann::json json = explained(folder, kChoice, "4MiB");
  const nlohmann::json& candidates = json["candidates"];
  REQUIRE(candidates.size() == 3);
  CHECK(candidates[0]["chosen"] == true);
  CHECK(candidates[0]["simulated_us"] == json["chosen"]["time_us"]);
  CHECK(candidates[1]["chosen"] == false);
  CHECK(candidates[0]["simulated_us"].get<double>() <= candidates[1]["simulated_us"].get<double>());
  CHECK(candidates[2]["algorithm"] == "nvls");
  CHECK(candidates[2]["simulated_us"].is_null());
  CHECK_FALSE(candidates[2]["obstacle"].is_null());
  CHECK(json["library"].is_null());
}

TEST_CASE("a ring of one loop is explained as a third of filling and the rest steady") {
  const Folder folder;
  // 4 ranks: 6 steps, of which everybody has received after 2 and nobody sends after the last.
  const nlohmann::json json = explained(folder, kSmall, "4KiB");
  const double time = json["chosen"]["time_us"].get<double>();
  CHECK(json["phases_us"]["fill"].get<double>() == doctest::Approx(time / 3));
  CHECK(json["phases_us"]["steady"].get<double>() == doctest::Approx(time * 2 / 3));
  CHECK(json["phases_us"]["drain"].get<double>() == 0);
}

TEST_CASE("explain prints for people, and draws a timeline") {
  const Folder folder;
  const std::string scenario = folder.write("s.json", kSmall);
  const std::string drawn = folder.path("t.json");
  const Ran ran = athanor_run({"explain", scenario, "--timeline", drawn});
  CHECK(ran.code == 0);
  for (const char* part : {"all_reduce of 4 KiB by 4 ranks", "candidates", "<- chosen", "work", "pipeline", "limit"}) {
    CAPTURE(part);
    CHECK(ran.out.find(part) != std::string::npos);
  }
  const nlohmann::json events = json_or_discarded(read_text_file(drawn))["traceEvents"];
  CHECK(
      std::any_of(events.begin(), events.end(), [](const auto& each) { return each.value("cat", "") == "primitive"; }));
}

TEST_CASE("explain refuses what it cannot follow, and says what to do") {
  const Folder folder;
  const std::string two = folder.write("two.json", R"({
    "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
    "cases": [{"name": "a", "collective": {"kind": "all_reduce", "sizes": "1KiB"}},
              {"name": "b", "collective": {"kind": "broadcast", "sizes": "1KiB"}}]
  })");
  CHECK(athanor_run({"explain", two}).code == 2);
  CHECK(athanor_run({"explain", two}).says("has 2 cases; choose one with --case NAME"));
  CHECK(athanor_run({"explain", two, "--case", "b"}).code == 0);
  CHECK(athanor_run({"explain", two, "--case", "b", "--size", "12"}).code == 2);
  const std::string traffic = folder.write("t.json", R"({
    "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
    "traffic": {"pattern": "shift", "sizes": "1KiB"}
  })");
  CHECK(athanor_run({"explain", traffic}).code == 2);
  CHECK(athanor_run({"explain", folder.path("none.json")}).code == 4);
}

TEST_CASE("the bar gives each phase its share, and one character at least") {
  CHECK(phase_bar(phases(1, 2, 6, 1), 10) == "L//======\\");
  CHECK(phase_bar(phases(0, 0, 5, 0), 8) == "========");
  CHECK(phase_bar(phases(1, 1, 100000, 1), 12) == "L/=========\\");
  for (std::size_t width = 5; width <= 80; ++width) { CHECK(phase_bar(phases(3, 7, 11, 13), width).size() == width); }
}

TEST_CASE("below the bar stands how much is sent, from nothing to most, between launch and the host's part") {
  CHECK(sending_bar("LL//==HH", {1, 2, 4, 8}) == "  .:=#  ");
  CHECK(sending_bar("LL//==HH", {0, 0, 0, 0}) == "        ");
  CHECK(sending_bar("LLHH", {1, 1}) == "    ");
  CHECK(sending_bar("====", {2, 2, 1, 1, 0, 0, 2, 2}) == "#= #");
}

TEST_CASE("an explanation is drawn, and another kind of picture is refused before anything runs") {
  const Folder folder;
  const std::string scenario = folder.write("s.json", kSmall);
  const std::string picture = folder.path("why.svg");
  const Ran ran = athanor_run({"explain", scenario, "--picture", picture});
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(read_text_file(picture).find("<svg") != std::string::npos);
  const Ran other = athanor_run({"explain", scenario, "--picture", folder.path("why.gif")});
  CHECK(other.code == 2);
  CHECK(other.says("should end in .svg, .png or .pdf"));
}

TEST_CASE("explain tells what each class of links carried: of a ring 2(P-1)/P of the payload on every link") {
  const Folder folder;
  for (const std::string level : {"flow", "packet"}) {
    CAPTURE(level);
    const std::string scenario =
        small_with(R"("collective")", R"("network": {"level": ")" + level + R"("}, "collective")");
    const nlohmann::json json = explained(folder, scenario, "4KiB");
    const nlohmann::json& links = json["links"];
    REQUIRE(links.size() == 2);
    CHECK(links[0]["most_percent"] == json["busiest_link_percent"]);
    for (const auto& each : links) {
      CHECK(each["links"] == 4);
      CHECK(each["used"] == 4);
      CHECK(each["mean_percent"].get<double>() == doctest::Approx(each["most_percent"].get<double>()));
      const double payload = 4 * 2 * 3.0 / 4 * 4096;  // packets have headers
      CHECK(each["bytes"].get<double>() >= payload);
      CHECK(each["bytes"].get<double>() <= payload * (level == "flow" ? 1.0 : 1.2));
    }
    CHECK((links[0]["class"] == "network host->leaf" || links[0]["class"] == "network leaf->host"));
  }
  const Ran ran = athanor_run({"explain", folder.write("s.json", kSmall), "--size", "4KiB"});
  CHECK(ran.out.find("network host->leaf                          4        4") != std::string::npos);
  CHECK(ran.out.find("24 KiB") != std::string::npos);
}
