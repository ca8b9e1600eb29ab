#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/json_text.hpp"
#include "tests/sanitized.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Of one DGX H100; `more`: keys of the scenario, each followed by a comma.
std::string scenario(const std::string& more, const std::string& sizes = "64MiB") {
  return fmt::format(R"({{{} "cluster": {{"node": "DGX-H100"}}, "profile": "nccl-generic-hopper",
    "collective": {{"kind": "all_reduce", "sizes": "{}"}}}})",
                     more, sizes);
}

Ran run(const Folder& folder, const std::string& text, std::vector<std::string> options = {}) {
  std::vector<std::string> arguments{"run", folder.write("s.json", text), "--json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return athanor_run(arguments);
}

nlohmann::json result(const Folder& folder, const std::string& text) {
  const Ran ran = run(folder, text);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json()["results"][0];
}

std::string environment(const std::string& variable, const std::string& value) {
  return fmt::format(R"("nccl": {{"environment": {{"{}": "{}"}}}},)", variable, value);
}

/// A stack of NCCL whose launch takes so long.
std::string stack(const std::string& launch) {
  return R"({"launch": ")" + launch + R"(", "nccl": {"choose": "tuner", "LL": {"step": "900ns",
    "rate": "12GB/s"}, "LL128": {"step": "2us", "rate": "15GB/s"}, "Simple": {"step": "4us", "rate": "40GB/s"},
    "node_efficiency": 0.85, "nvls_efficiency": 0.8, "nvls_start": "9us", "nvls_loop": "6us"}})";
}

/// The profile that calibration with these options finds from another one, on what `truth` takes.
nlohmann::json fitted_to(const std::string& truth, const std::string& start, const std::string& sizes,
                         const std::vector<std::string>& options) {
  const Folder folder;
  const std::string cluster = R"("cluster": {"node": "DGX-H100"},
    "collective": {"kind": "all_reduce", "sizes": ")" +
                              sizes + R"("})";
  const nlohmann::json times =
      athanor_run({"run", folder.write("truth.json", R"({"profile": )" + truth + ", " + cluster + "}"), "--json"})
          .json();
  std::string rows;
  for (const nlohmann::json& row : times["results"]) {
    rows += fmt::format("{}{{\"bytes\": {}, \"time_us\": {}}}", rows.empty() ? "" : ", ",
                        row["bytes"].get<std::int64_t>(), row["time_us"].get<double>());
  }
  folder.write("table.json", fmt::format(R"({{"id": "table", "source": "simulated", "kind": "nccl-tests",
    "collective": "all_reduce", "hardware": {{"gpu": "H100", "gpus_per_node": 8, "nodes": 1}},
    "software": {{"nccl": "none", "algo": "auto"}}, "url": "none", "date": "2026-11-22", "dtype": "float", "in_place": false,
    "rows": [{}]}})",
                                         rows));
  const std::string tables = folder.write(
      "tables.json", R"({"profile": )" + start + R"(, "verify": {"measurement": "table.json"}, )" + cluster + "}");
  const std::string profile = folder.path("fitted.json");
  std::vector<std::string> words{"calibrate", "--backend", "tables", "--tables", tables, "--output", profile};
  words.insert(words.end(), options.begin(), options.end());
  const Ran ran = athanor_run(words);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return json_in_file(profile);
}

}  // namespace

TEST_CASE("NCCL chooses by size: LL on rings, then NVLS, as its tuning model says of a DGX H100") {
  const Folder folder;
  CHECK(result(folder, scenario("", "64KiB"))["algorithm"] == "ring");
  CHECK(result(folder, scenario("", "64KiB"))["protocol"] == "LL");
  const nlohmann::json large = result(folder, scenario("", "64MiB"));
  CHECK(large["algorithm"] == "nvls");
  CHECK(large["channels"] == 16);
}

TEST_CASE("a message inside a node takes as long beside other nodes as without them") {
  const auto time_on = [](int nodes, int root) {
    const Folder folder;
    return result(folder, fmt::format(R"({{"cluster": {{"node": "DGX-H100", "nodes": {},
      "fabric": {{"kind": "star", "switch": "QM9700"}}}}, "profile": "nccl-generic-hopper",
      "collective": {{"kind": "send_receive", "root": {}, "sizes": "8B"}}}})",
                                      nodes, root))["time_us"]
        .get<double>();
  };
  CHECK(time_on(2, 0) == time_on(1, 0));
  CHECK(time_on(2, 8) == time_on(1, 0));
  CHECK(time_on(2, 7) > 1.5 * time_on(1, 0));  // to the first GPU of the other node
}

TEST_CASE("a profile of what is between nodes may cost nothing inside one") {
  const auto time_by = [](const std::string& profile) {
    const Folder folder;
    return result(folder, R"({"cluster": {"node": "DGX-H100", "nodes": 1}, "collective": {"kind": "all_reduce",
      "algorithm": "ring", "sizes": "8B"})" +
                              profile + "}")["time_us"]
        .get<double>();
  };
  nlohmann::json profile = json_in_file(std::string(ATHANOR_TEST_SCENARIOS) + "/profiles/nccl-hopper-ib.json");
  const double fitted = time_by(R"(, "profile": )" + text_of(profile));
  const double ideal = time_by(R"(, "profile": "ideal")");
  const Ran ran = athanor_run({"run", ATHANOR_TEST_SCENARIOS "/quickstart.json", "--case", "one DGX H100", "--sizes",
                               "8B", "--set", "/profile=nccl-hopper-ib"});
  CHECK(ran.says("# profile      nccl-h100-nvswitch: "));
  CHECK(ran.says("(of what stays within a node, by \"within_node\" of nccl-hopper-ib)"));
  profile["within_node"] = "ideal";
  CHECK(time_by(R"(, "profile": )" + text_of(profile)) == ideal);
  CHECK(fitted > 10 * ideal);
}

TEST_CASE("variables of the environment are followed") {
  const Folder folder;
  CHECK(result(folder, scenario(environment("NCCL_ALGO", "Ring")))["algorithm"] == "ring");
  CHECK(result(folder, scenario(environment("NCCL_NVLS_ENABLE", "0")))["algorithm"] == "ring");
  CHECK(result(folder, scenario(environment("NCCL_ALGO", "Tree")))["algorithm"] == "node_chain_tree");
  const nlohmann::json few =
      result(folder, scenario(R"("nccl": {"environment": {"NCCL_ALGO": "Ring", "NCCL_MAX_NCHANNELS": "4"}},)"));
  CHECK(few["channels"] == 4);
}

TEST_CASE("a version that a shell gave without its quotes is refused, and says how to write it") {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario("")), "--set", "/nccl/version=2.20"});
  CHECK(ran.code == 3);
  CHECK(ran.says(R"(write quotes within the shell's: --set '/nccl/version="...")"));
}

TEST_CASE("a variable that NCCL does not know is said, one that it refuses is refused") {
  const Folder folder;
  const Ran unknown = run(folder, scenario(environment("NCCL_ALGOS", "Ring")));
  CHECK(unknown.code == 0);
  CHECK(unknown.err.find("NCCL_ALGO") != std::string::npos);
  const Ran refused = run(folder, scenario(environment("NCCL_ALGO", "Rong")));
  CHECK(refused.code == 3);
  CHECK(refused.err.find("nccl") != std::string::npos);
  CHECK(refused.err.find("NCCL_ALGO") != std::string::npos);
}

TEST_CASE("an algorithm that NCCL cannot run here is refused with the reason") {
  const Folder folder;
  const std::string text = R"({"cluster": {"node": "DGX-A100"}, "profile": "nccl-generic-ampere",
    "collective": {"kind": "all_reduce", "algorithm": "nvls", "sizes": "1MiB"}})";
  const Ran ran = run(folder, text);
  CHECK(ran.code == 3);
  CHECK(ran.err.find("nvls") != std::string::npos);
}

TEST_CASE("a version that is none, and files that are not there or of another machine") {
  const Folder folder;
  CHECK(run(folder, scenario(R"("nccl": {"version": "2.40.1"},)")).err.find("newer than what is known") !=
        std::string::npos);
  CHECK(run(folder, scenario(R"("nccl": {"version": "new"},)")).err.find("2.27.5") != std::string::npos);
  CHECK(run(folder, scenario(R"("nccl": {"topology": "none.xml"},)")).code == 4);
  folder.write("one.xml", R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6"
    modelid="143"><pci busid="0000:1b:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
    <gpu dev="0" sm="90" rank="0" gdr="1"/></pci></cpu></system>)");
  const Ran other = run(folder, scenario(R"("nccl": {"topology": "one.xml"},)"));
  CHECK(other.code == 3);
  CHECK(other.err.find("1 GPUs") != std::string::npos);
}

TEST_CASE("NCCL's queue pairs are the network's, where the network says none") {
  const Folder folder;
  const auto time = [&](const std::string& more, const std::string& network) {
    return result(folder,
                  fmt::format(R"({{{} "cluster": {{"node": "DGX-H100", "nodes": 4, "fabric": {{"kind": "fat_tree",
      "switch": "QM9700", "hosts_per_leaf": 8, "spines": 4}}}}, "profile": "nccl-generic-hopper",
      "network": {{"routing": "ecmp"{}}},
      "collective": {{"kind": "all_reduce", "algorithm": "ring", "sizes": "16MiB"}}}})",
                              more, network))["time_us"]
        .get<double>();
  };
  const std::string four = environment("NCCL_IB_QPS_PER_CONNECTION", "4");
  CHECK(time(four, "") == time("", R"(, "queue_pairs": 4)"));
  CHECK(time(four, R"(, "queue_pairs": 1)") == time("", ""));
  CHECK(time(four, "") != time("", ""));
}

TEST_CASE("a profile on other GPUs, or on another number of nodes, than it was fitted on is extrapolated") {
  const Folder folder;
  const auto extrapolated = [&](const std::string& cluster, const std::string& profile) {
    return result(folder, fmt::format(R"({{"cluster": {{{}}}, "profile": "{}",
      "collective": {{"kind": "all_reduce", "sizes": "1MiB"}}}})",
                                      cluster, profile))["extrapolated"];
  };
  CHECK(extrapolated(R"("node": "DGX-H100")", "nccl-h100-nvswitch") == false);
  CHECK(extrapolated(R"("node": "DGX-A100")", "nccl-h100-nvswitch") == true);
  CHECK(extrapolated(R"("node": "DGX-A100")", "nccl-a100-nvswitch") == false);
  // Eight ranks that are one to a node.
  CHECK(extrapolated(R"("node": {"preset": "DGX-H100", "gpus": 1, "nics": 1,
    "pcie": [{"socket": 0, "gpus": [0], "nics": [0]}]}, "nodes": 8, "fabric": {"kind": "star", "switch": "QM9700"})",
                     "nccl-h100-nvswitch") == true);
  const std::string two = R"("node": "DGX-H100", "nodes": 2, "fabric": {"kind": "star", "switch": "QM9700"})";
  CHECK(extrapolated(two, "nccl-hopper-ib") == false);
}

TEST_CASE("a protocol is asked for by NCCL's names") {
  const Folder folder;
  std::string text = scenario("", "1MiB");
  text.replace(text.find(R"("kind")"), 6, R"("protocol": "LL", "kind")");
  CHECK(result(folder, text)["protocol"] == "LL");
  text.replace(text.find(R"("LL")"), 4, R"("LL256")");
  const Ran ran = run(folder, text);
  CHECK(ran.code == 3);
  CHECK(ran.err.find("it has LL, LL128, Simple") != std::string::npos);
}

TEST_CASE("what NCCL does not use is refused, not passed over") {
  const Folder folder;
  const auto refused = [&](const std::string& network, const std::string& word) {
    const Ran ran = run(folder, fmt::format(R"({{"cluster": {{"node": "DGX-H100", "nodes": 2,
      "fabric": {{"kind": "star", "switch": "QM9700"}}}}, "profile": "nccl-generic-hopper", "network": {},
      "collective": {{"kind": "all_reduce", "sizes": "1MiB"}}}})",
                                            network));
    CAPTURE(ran.err);
    CHECK(ran.code == 3);
    CHECK(ran.err.find(word) != std::string::npos);
  };
  refused(R"({"offload": {"overhead": "1us"}})", "carried out by GPUs");
  refused(R"({"aggregation": {"engine": "switchml", "loss": 0.01}})", "NCCL does not use switchml");
  refused(R"({"aggregation": {"engine": "atp", "slots": 64}})", "NCCL does not use atp");
}

TEST_CASE("what NCCL has not at all, and what ends with its error, is said once") {
  const Folder folder;
  const auto refusal = [&](const std::string& more, const std::string& kind) {
    std::string text = scenario(more);
    text.replace(text.find("all_reduce"), 10, kind);
    const Ran ran = athanor_run({"run", folder.write("s.json", text)});
    CHECK(ran.code == 3);
    return ran.err;
  };
  CHECK(refusal("", "barrier").find("NCCL has no barrier; programs do an all-reduce") != std::string::npos);
  const std::string forced = refusal(environment("NCCL_ALGO", "PAT"), "all_reduce");
  CAPTURE(forced);
  const std::size_t first = forced.find("ncclInvalidUsage");
  CHECK(first != std::string::npos);
  CHECK(forced.find("ncclInvalidUsage", first + 1) == std::string::npos);
  CHECK(forced.find("change what \"nccl\" asks for") != std::string::npos);
}

TEST_CASE("equal nodes and channels share classes, and repeating loops are multiplied, to the picosecond") {
  const Folder folder;
  for (const std::string algorithm : {"ring", "nvls_tree", "node_chain_tree"}) {
    for (const std::string size : {"8B", "1MiB", "64MiB"}) {
      CAPTURE(algorithm);
      CAPTURE(size);
      const std::string text = fmt::format(R"({{"cluster": {{"node": "DGX-H100", "nodes": 2,
        "fabric": {{"kind": "star", "switch": "QM9700"}}}}, "profile": "nccl-generic-hopper",
        "collective": {{"kind": "all_reduce", "algorithm": "{}", "sizes": "{}"}}}})",
                                           algorithm, size);
      const Ran folded = run(folder, text);
      const Ran whole = run(folder, text, {"--no-classes", "--no-repeat"});
      REQUIRE(folded.code == 0);
      REQUIRE(whole.code == 0);
      CHECK(folded.json()["results"][0]["time_us"] == whole.json()["results"][0]["time_us"]);
    }
  }
}

TEST_CASE("a stack is found again from times that it has simulated, within what the tables tell" *
          doctest::skip(kSanitized)) {
  const nlohmann::json found = fitted_to(stack("11us"), R"("nccl-generic-hopper")", "8B..1GiB", {});
  for (const double error : found["calibration"]["fit"]["table"].get<std::vector<double>>()) { CHECK(error < 0.03); }
  CHECK(found["fitted"]["ranks"][0] == 8);
}

TEST_CASE("what calibrate cannot do with tables is refused with what to change") {
  const Folder folder;
  const std::string tables = folder.write("s.json", scenario(""));
  const std::string out = folder.path("p.json");
  const auto refused = [&](std::vector<std::string> options, const std::string& word) {
    std::vector<std::string> arguments{"calibrate", "--output", out};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ran ran = athanor_run(arguments);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.err.find(word) != std::string::npos);
  };
  refused({"--tables", tables}, "go together");
  refused({"--backend", "tables"}, "go together");
  refused({"--backend", "tables", "--tables", tables}, "no case");
  refused({"--free", "launch"}, "--free goes with --backend training");
  refused({"--backend", "tables", "--tables", tables, "--hold-out", "sizes"}, "--hold-out goes with --backend pool");
  refused({"--backend", "tables", "--tables", tables, "--profiles", "."}, "--profiles goes with --backend pool");
  refused({"--backend", "tables", "--tables", tables, "--residuals", folder.path("r.csv")},
          "--residuals goes with --backend pool");
  refused({"--pool", "nccl"}, "--pool goes with --backend tables");
  refused({"--backend", "tables", "--tables", tables, "--ranks", "2"}, "--ranks");
}
