#include <algorithm>
#include <set>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "topologies/kinds/fabric_kind.hpp"

using namespace athanor;

TEST_CASE("list shows every topic as text and as JSON") {
  for (const char* topic : {"algorithms", "topologies", "engines", "presets", "profiles", "measurements"}) {
    CAPTURE(topic);
    const Ran text = athanor_run({"list", topic});
    CHECK(text.code == 0);
    const nlohmann::json rows = athanor_run({"list", topic, "--json"}).json()["results"];
    CHECK(rows.size() >= 1);
    for (const nlohmann::json& row : rows) { CHECK(text.says(row["name"].get<std::string>())); }
  }
  CHECK(athanor_run({"list", "topologies"}).says("rail_optimized"));
  CHECK(athanor_run({"list", "profiles"}).says("ideal"));
  CHECK(athanor_run({"list", "presets"}).says("DGX-H100"));
}

TEST_CASE("list profiles says what fitted ones and pools were fitted on, and how far they are off") {
  const Ran text = athanor_run({"list", "profiles"});
  const nlohmann::json rows = athanor_run({"list", "profiles", "--json"}).json()["results"];
  std::size_t fitted = 0;
  for (const nlohmann::json& row : rows) {
    CAPTURE(row["name"]);
    if (row["kind"] != "profile" || row["gpus"].empty()) { continue; }
    ++fitted;
    CHECK_FALSE(row["library"].get<std::string>().empty());
    CHECK(row["software"].size() >= 1);
    CHECK(row["hardware"].size() >= 1);
    CHECK(row["rows"].get<std::size_t>() > row["measurements"].size());
    CHECK(row["errors"]["fit"]["median"].get<double>() < 0.2);
    CHECK((row["errors"]["fit"].contains("below_1MiB") || row["errors"]["fit"].contains("above")));
  }
  CHECK(fitted > 20);
  const auto biased = std::find_if(rows.begin(), rows.end(),
                                   [](const nlohmann::json& row) { return row["name"] == "nccl-b200-vultr"; });
  REQUIRE(biased != rows.end());
  const nlohmann::json& worst = (*biased)["worst"];  // that no median shows
  CHECK(worst["collective"] == "all_to_all");
  CHECK(worst["nodes"] == 2);
  CHECK(worst["size"] == "above");
  CHECK(worst["error"].get<double>() > 5 * (*biased)["errors"]["fit"]["median"].get<double>());
  CHECK(text.says("37 % all_to_all on 2 nodes, above"));
  CHECK(rows.back()["kind"] == "pool");
  CHECK_FALSE(rows.back()["errors"].empty());
  CHECK(text.says("pool nccl: "));
  CHECK(text.says("NCCL on A100 GPUs, one process per GPU"));  // of one that was fitted on nothing, what it is
}

TEST_CASE("list topologies knows every kind of fabric that scenarios do, with its keys and closed forms") {
  const nlohmann::json listed = athanor_run({"list", "topologies", "--json"}).json()["results"];
  std::set<std::string> names;
  for (const nlohmann::json& topology : listed) {
    CAPTURE(topology["name"]);
    names.insert(topology["name"]);
    CHECK(topology["default_routing"] == topology["routings"][0]);
    CHECK(topology["keys"].size() > 1);
    CHECK_FALSE(topology["bisection"].get<std::string>().empty());
  }
  const nlohmann::json schema = tree_of(describe_schema("", [](Fields& fields) {
    FabricSettings fabric;
    visit(fields, fabric);
  }));
  for (const nlohmann::json& kind : schema["anyOf"]) {
    CHECK(names.count(kind["properties"]["kind"]["const"].get<std::string>()) == 1);
  }
  CHECK(names.size() == schema["anyOf"].size());
  const Ran verbose = athanor_run({"list", "topologies", "--verbose"});
  CHECK(verbose.says("keys       dimensions, link, nics, positions, twists"));
  CHECK(verbose.says("SC'09"));
}

TEST_CASE("list engines knows limits, costs, sources and what is assumed of each") {
  const nlohmann::json listed = athanor_run({"list", "engines", "--json"}).json()["results"];
  const auto engine = [&](const std::string& name) {
    return *std::find_if(listed.begin(), listed.end(),
                         [&](const nlohmann::json& each) { return each["name"] == name; });
  };
  CHECK(engine("sharp_v2")["limits"]["streams_per_switch"] == 1);
  CHECK(engine("sharp_v2")["limits"]["message_bytes"] == 1073741792);
  CHECK(engine("sharp_v3")["limits"]["streams_per_switch"].is_null());
  CHECK(engine("sharp_v3")["limits"]["streams_per_port"] == 1);
  CHECK(engine("nvls")["place"] == "NVSwitches");
  const Ran verbose = athanor_run({"list", "engines", "--verbose"});
  CHECK(verbose.says("assumed    "));
  CHECK(verbose.says("COMHPC 2016"));
  CHECK(athanor_run({"list", "engine"}).says("did you mean 'engines'?"));
}

TEST_CASE("plot timeline says what is missing, and what is no timeline") {
  const Folder folder;
  CHECK(athanor_run({"plot", "timeline"}).err.find("which timeline?") != std::string::npos);
  const Ran missing = athanor_run({"plot", "timeline", folder.path("none.json")});
  CHECK(missing.code == 4);
  CHECK(missing.err.find("no such file") != std::string::npos);
  const Ran ending = athanor_run({"plot", "timeline", folder.write("t.json", "[]"), "-o", folder.path("p.gif")});
  CHECK(ending.code == 2);
}

TEST_CASE("plot topology says what is missing and what is too much") {
  CHECK(athanor_run({"plot", "topology"}).says("plot: which cluster?"));
  CHECK(athanor_run({"plot", "topology", "DGX-H10"}).says("did you mean 'DGX-H100'?"));
  CHECK(athanor_run({"plot", "topology", "DGX-H100", "-o", "dgx.gif"}).says("should end in .svg, .png or .pdf"));
  CHECK(athanor_run({"plot", "schedule", "DGX-H100"}).says("'DGX-H100' is one argument too many"));
}

TEST_CASE("plot topology --size draws what a collective does to links, and says why it cannot") {
  const Folder folder;
  const std::string picture = folder.path("busy.svg");
  const std::string scenario = folder.write("s.json", kSmall);
  const Ran ran = athanor_run({"plot", "topology", scenario, "--size", "4KiB", "-o", picture});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const std::string drawn = read_text_file(picture);
  CHECK(drawn.find("All-reduce of 4 KiB by 4 ranks: ring") != std::string::npos);
  const double share = athanor_run({"explain", scenario, "--size", "4KiB", "--json"}).json()["busiest_link_percent"];
  CHECK(drawn.find(fmt::format("{:.1f} %", share)) != std::string::npos);
  const auto refused = [&](const std::string& text, const std::string& problem) {
    const Ran wrong = athanor_run({"plot", "topology", folder.write("w.json", text), "--size", "4KiB", "-o", picture});
    CAPTURE(wrong.err);
    CHECK(wrong.code == 2);
    CHECK(wrong.says(problem));
  };
  const std::string traffic = R"({
    "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
    "traffic": {"pattern": "shift", "sizes": "1KiB"}
  })";
  refused(traffic, "--size is for one collective");
  refused(small_with(R"("sizes": "1KiB..4KiB")", R"("sizes": "1KiB", "ranks": 1)"), "nothing went over a link");
  refused(small_with(R"("name": "small",)", R"("cases": [{"name": "a"}, {"name": "b"}],)"), "has 2 cases");
  CHECK(athanor_run({"plot", "topology", "DGX-H100", "--size", "1MiB"}).says("DGX-H100 is no file"));
  CHECK(athanor_run({"plot", "topology", scenario, "--size", "many", "-o", picture}).says("--size 'many'"));
}

TEST_CASE("list algorithms fits 100 columns, and knows each one's steps and bytes for any ranks and size") {
  const nlohmann::json rows =
      athanor_run({"list", "algorithms", "--collective", "all_reduce", "--ranks", "16", "--size", "1MiB", "--json"})
          .json()["results"];
  CHECK(rows[0]["name"] == "ring");
  CHECK(rows[0]["steps"] == 30);
  CHECK(rows[0]["sent_bytes"] == (1 << 20) / 16 * 30);
  CHECK(rows[0]["added_bytes"] == (1 << 20) / 16 * 15);
  for (const nlohmann::json& row : rows) {
    CHECK(row["collective"] == "all_reduce");
    for (const char* key : {"summary", "explanation", "fits", "made_for", "formula", "source"}) {
      CHECK(!row[key].get<std::string>().empty());
    }
  }
  for (const char* verbosity : {"--verbose", "--quiet"}) {
    const std::string text = athanor_run({"list", "algorithms", verbosity}).out;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      CHECK(end - begin <= 100);
      begin = end + 1;
    }
  }
  CHECK(athanor_run({"list", "algorithms", "--ranks", "300"}).says("not shown: it sends to all others at once"));
}

TEST_CASE("list algorithms refuses what is no collective, no number, no size and no topic of its own") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"algorithms", "--collective", "allreduce"}, "there is no collective 'allreduce'; did you mean 'all_reduce'?"},
      {{"algorithms", "--ranks", "0"}, "--ranks '0' is not a whole number from 1 on"},
      {{"algorithms", "--ranks", "1000000"}, "is more than 65536"},
      {{"algorithms", "--size", "3B"}, "--size 3 B is no whole number of elements of 4 bytes"},
      {{"algorithms", "--size", "12"}, "--size '12'"},
      {{"presets", "--ranks", "4"}, "--ranks goes with algorithms, not with presets"}};
  for (const auto& [words, message] : wrong) {
    CAPTURE(message);
    std::vector<std::string> arguments{"list"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Ran ran = athanor_run(arguments);
    CHECK(ran.code == 2);
    CHECK(ran.says(message));
  }
}

TEST_CASE("plot schedule --json lists every message with what it carries") {
  const nlohmann::json ring =
      athanor_run({"plot", "schedule", "--collective", "all_reduce", "--algorithm", "ring", "--ranks", "4", "--json"})
          .json()["results"][0];
  CHECK(ring["rounds"] == 6);
  CHECK(ring["messages"].size() == 24);
  CHECK(ring["messages"][0] == json_from(R"({"round": 1, "from": 0, "to": 1, "part": 0, "elements": 1, "adds": true,
                                  "carries": [{"origin": 0, "first": 3, "count": 1, "terms": 1}]})"));
  const nlohmann::json nvls =
      athanor_run({"plot", "schedule", "--collective", "all_reduce", "--algorithm", "nvls", "--ranks", "2", "--json"})
          .json()["results"][0];
  CHECK(nvls["agents"] == 3);
  CHECK(nvls["engine"] == "nvswitch");
}

TEST_CASE("plot schedule says what is missing, what does not fit and what is too much") {
  const std::vector<std::string> ring{"plot", "schedule", "--collective", "all_reduce", "--algorithm", "ring"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), ring.begin(), ring.end());
    return athanor_run(words);
  };
  CHECK(athanor_run({"plot", "schedule"}).says("plot: --collective is missing"));
  CHECK(with({}).says("plot: --ranks is missing"));
  CHECK(with({"--ranks", "65"}).says("65 ranks are more than the 64 that can be drawn side by side"));
  CHECK(with({"--ranks", "2000", "--json"}).says("2000 ranks are more than the 1024"));
  CHECK(with({"--ranks", "1000", "--count", "1000000", "--json"}).says("are too much to follow one by one"));
  CHECK(with({"--ranks", "1000", "--count", "4000", "--chunk", "1", "--json"}).says("a larger --chunk"));
  CHECK(with({"--ranks", "8", "-o", "ring.gif"}).says("'ring.gif' should end in .svg, .png or .pdf"));
  CHECK(with({"--ranks", "8", "--dimensions", "4x"}).says("--dimensions '4x' is not as in 4x4"));
  CHECK(with({"--ranks", "8", "--group", "3"}).says("groups of 3 do not divide 8 ranks"));
  const Ran unknown =
      athanor_run({"plot", "schedule", "--collective", "all_reduce", "--algorithm", "rign", "--ranks", "4", "--json"});
  CHECK(unknown.code == 3);
  CHECK(unknown.says("did you mean \"ring\"?"));
  const Ran refused = athanor_run(
      {"plot", "schedule", "--collective", "all_reduce", "--algorithm", "direct_one_shot", "--ranks", "300", "--json"});
  CHECK(refused.code == 3);
  CHECK(refused.says("300 are more than 256"));
  CHECK(refused.says("ring"));
}

TEST_CASE("describe sums up scenarios and presets, and draws them") {
  const Folder folder;
  const std::string file = folder.write("s.json", kSmall);
  const std::string dot = folder.path("s.dot");
  const Ran ran = athanor_run({"describe", file, "--dot", dot});
  CHECK(ran.code == 0);
  CHECK(ran.says("small"));
  CHECK(read_text_file(dot).find("graph") != std::string::npos);
  const std::string fabric = folder.path("fabric.json");
  CHECK(athanor_run({"describe", file, "--fabric", fabric}).code == 0);
  CHECK(json_in_file(fabric)["endpoints"].size() == 4);
  const nlohmann::json json = athanor_run({"describe", file, "--json"}).json()["results"][0];
  CHECK(json["name"] == "small");
  CHECK(json["endpoints"] == 4);
  CHECK(athanor_run({"describe", "DGX-H100", "--json"}).json()["results"][0]["endpoints"] == 8);
}

TEST_CASE("validate runs nothing and says what is valid") {
  const Folder folder;
  const std::string file = folder.write("s.json", kSmall);
  const Ran ran = athanor_run({"validate", file});
  CHECK(ran.code == 0);
  CHECK(ran.out == file + ": valid, 1 case\n");
  CHECK(athanor_run({"validate", file, "--json"}).json()["results"][0]["cases"][0]["ranks"] == 4);
}

TEST_CASE("the schema knows every section, and cases need nothing") {
  const nlohmann::json schema = athanor_run({"schema"}).json();
  for (const char* key : {"cluster", "network", "collective", "profile", "verify", "seed", "name"}) {
    CAPTURE(key);
    CHECK(schema["else"]["properties"].contains(key));
    CHECK(schema["then"]["properties"].contains(key));
    CHECK(schema["definitions"]["case"]["properties"].contains(key));
  }
  CHECK(schema["else"]["required"] == nlohmann::json({"cluster"}));
  CHECK(schema["else"]["oneOf"][0]["required"][0] == "collective");
  CHECK(schema["else"]["oneOf"][1]["required"][0] == "traffic");
  CHECK_FALSE(schema["definitions"]["case"].contains("required"));
  CHECK_FALSE(schema["else"]["properties"].contains("cases"));
}

TEST_CASE("a data folder without presets is an input error that names the file") {
  const Folder folder;
  const Ran ran = athanor_run({"list", "presets", "--data", folder.path("")});
  CHECK(ran.code == 4);
  CHECK(ran.says(folder.path("")));
}

TEST_CASE("plot says what is missing where no Python can draw") {
  const Folder folder;
  const std::string result = folder.path("r.json");
  REQUIRE(athanor_run({"run", folder.write("s.json", kSmall), "--json=" + result}).code == 0);
  setenv("ATHANOR_PYTHON", "/no/such/python", 1);
  const Ran ran = athanor_run({"plot", result, "--out", folder.path("plots")});
  unsetenv("ATHANOR_PYTHON");
  CHECK(ran.code == 4);
  CHECK(ran.says("ATHANOR_PYTHON is '/no/such/python', which cannot import matplotlib"));
}
