#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/calibrate/anchors/row_fit.hpp"
#include "tools/calibrate/pool/pooled_fit.hpp"

using namespace athanor;

namespace {

constexpr const char* kOneNode = R"("cluster": {"node": "DGX-H100"})";
constexpr const char* kTwoNodes = R"("cluster": {"node": "DGX-H100", "nodes": 2, "fabric": {"kind": "star",
  "switch": "QM9700"}})";
constexpr const char* kStack = R"({"transport": "ib", "nccl": {"version": "2.27"}})";

/// All-reduce of these sizes; `more`: further keys.
std::string scenario(const std::string& cluster, const std::string& profile, const std::string& sizes,
                     const std::string& more = "") {
  return fmt::format(R"({{{}, "profile": {}{}, "collective": {{"kind": "all_reduce", "sizes": {}}}}})", cluster,
                     profile, more, sizes);
}

/// Calibration of a scenario, and the profile that it wrote.
class Anchored {
 public:
  explicit Anchored(const std::string& text) : text_(text) {}

  Ran with(std::vector<std::string> options) const {
    std::vector<std::string> words{"calibrate", folder_.write("s.json", text_), "-o", profile_path()};
    words.insert(words.end(), options.begin(), options.end());
    if (std::count(options.begin(), options.end(), "--step") == 0) {  // whatever the library's pool says
      words.insert(words.end(), {"--pool", folder_.write("pool.json", text_of(json_of(assumed_pool()), 1))});
    }
    return athanor_run(words);
  }
  /// With rows that must fit.
  nlohmann::json profile(std::vector<std::string> options) const {
    const Ran ran = with(std::move(options));
    CAPTURE(ran.err);
    REQUIRE(ran.code == 0);
    return json_in_file(profile_path());
  }
  /// What is said of rows that are refused.
  void refused(std::vector<std::string> options, const std::string& code, const std::string& words) const {
    options.emplace_back("--json");
    const Ran ran = with(std::move(options));
    CAPTURE(ran.err);
    CAPTURE(words);
    CHECK(ran.code == 3);
    REQUIRE(ran.code == 3);
    CHECK(ran.json()["error"]["code"] == code);
    CHECK(ran.err.find(words) != std::string::npos);
  }
  std::string profile_path() const { return folder_.path("found.json"); }
  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
  std::string text_;
};

/// As nccl-tests prints it, over 16 ranks on two nodes.
std::string printed(const std::string& gpu, int nodes, const std::vector<std::pair<std::int64_t, double>>& rows,
                    const std::string& above = "./build/all_reduce_perf -b 8 -e 1G\n") {
  std::string text = above + "# nThread 1 nGpus 1 minBytes 8\n# Using devices\n";
  for (int rank = 0; rank < 16; ++rank) {
    text += fmt::format("#  Rank {:2} Group  0 Pid  {} on  host{} device {:2} [0x{:02x}] NVIDIA {}\n", rank,
                        4000 + rank, rank * nodes / 16, rank % 8, rank, gpu);
  }
  text +=
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n";
  for (const auto& [bytes, time] : rows) {
    const double algbw = static_cast<double>(bytes) / time * 1e-3;
    text += fmt::format("{:12} {:13} float sum -1 {:.2f} {:.2f} {:.2f} 0\n", bytes, bytes / 4, time, algbw,
                        algbw * 30 / 16);
  }
  return text;
}

double time_at(const Folder& folder, const std::string& cluster, const std::string& profile, const std::string& size) {
  return result_of(folder, scenario(cluster, "\"" + profile + "\"", "\"" + size + "\""))["time_us"].get<double>();
}

}  // namespace

TEST_CASE("a row that is twice what is expected is met, by the profile that a scenario then names by path") {
  const Anchored anchored(scenario(kOneNode, kStack, R"("8B..1GiB")"));
  const double expected = anchored.profile({"--row", "8B=20us"})["calibration"]["rows"][0]["before_us"].get<double>();
  const nlohmann::json found = anchored.profile({"--row", fmt::format("8B={:.3f}us", 2 * expected)});
  CHECK(found["calibration"]["rows"][0]["after_us"].get<double>() == doctest::Approx(2 * expected).epsilon(0.04));
  REQUIRE(found["calibration"]["fit"].size() == 1);
  for (const auto& [table, errors] : found["calibration"]["fit"].items()) {  // intervals ask what the table is of
    CHECK(found["calibration"]["tables"][table]["collective"] == "all_reduce");
    CHECK(found["calibration"]["tables"][table]["nodes"] == 1);
  }
  CHECK(time_at(anchored.folder(), kOneNode, anchored.profile_path(), "8B") ==
        doctest::Approx(2 * expected).epsilon(0.04));
}

TEST_CASE("a profile that the scenario names is what rows move, and not what a pool expects") {
  const std::string named = R"("nccl-h100-ib-dgx")";
  const Anchored anchored(scenario(kTwoNodes, named, R"("8B..1GiB")"));
  const double usual = time_at(anchored.folder(), kTwoNodes, "nccl-h100-ib-dgx", "1MiB");
  const nlohmann::json found = anchored.profile({"--row", fmt::format("1MiB={:.3f}us", 1.1 * usual)});
  CHECK(found["calibration"]["rows"][0]["before_us"].get<double>() == doctest::Approx(usual).epsilon(1e-4));
  CHECK(found["description"] == "moved by 1 given row; before: profile nccl-h100-ib-dgx");
  // What a calibration made is the beginning of the next one.
  const Folder& folder = anchored.folder();
  const std::string next = folder.path("next.json");
  const std::string again = folder.write("again.json", scenario(kTwoNodes, "\"found.json\"", R"("8B..1GiB")"));
  const Ran ran = athanor_run({"calibrate", again, "--row", "1GiB=5ms", "-o", next});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(json_in_file(next)["description"] == "moved by 1 given row; before: profile found");
  CHECK(time_at(folder, kTwoNodes, next, "1MiB") == doctest::Approx(1.1 * usual).epsilon(0.05));
}

TEST_CASE("figures that such stacks hardly ever have are said by name") {
  const Folder folder;
  SoftwarePool pool;  // of stacks that are much the same
  for (const Figure& each : figures()) { pool.figures.push_back({each.typical, 0.05, 0.02, 0.05, {}}); }
  const std::string pools = folder.write("pool.json", text_of(json_of(pool), 1));
  const std::string file = folder.write("s.json", scenario(kTwoNodes, kStack, R"("8B..8GiB")"));
  const auto calibrated = [&](double time_us) {
    return athanor_run({"calibrate", file, "--row", fmt::format("8GiB={:.0f}us", time_us), "--nics", "8", "--pool",
                        pools, "-o", folder.path("found.json")});
  };
  REQUIRE(calibrated(30'000).code == 0);
  const double expected = json_in_file(folder.path("found.json"))["calibration"]["rows"][0]["before_us"].get<double>();
  CHECK_FALSE(calibrated(1.05 * expected).says("standard deviations from what such stacks have"));
  CHECK(calibrated(1.3 * expected).says("standard deviations from what such stacks have"));
}

TEST_CASE("rows move what they tell and nothing else: a launch nothing of links, a large payload nothing of launches") {
  const Anchored anchored(scenario(kTwoNodes, kStack, R"("8B..8GiB")"));
  const auto figures_told_by = [&](const std::string& row) {
    std::vector<std::string> names;
    const nlohmann::json profile = anchored.profile({"--row", row});
    for (const auto& each : profile["calibration"]["figures"]) { names.push_back(each["figure"]); }
    return names;
  };
  const auto has = [](const std::vector<std::string>& all, const char* name) {
    return std::count(all.begin(), all.end(), name) > 0;
  };
  const std::vector<std::string> small = figures_told_by("8B=45us");
  CHECK(has(small, "launch"));
  CHECK_FALSE(has(small, "nvls_efficiency"));
  CHECK_FALSE(has(small, "network_efficiency"));
  const std::vector<std::string> large = figures_told_by("8GiB=32ms");
  CHECK_FALSE(has(large, "launch"));
  CHECK_FALSE(has(large, "LL.step"));
  CHECK(large.size() >= 1);
}

TEST_CASE("what rows tell makes no interval wider, and that of a row's size narrower") {
  const Folder folder;
  const Scenario read = read_scenario(folder.write("s.json", scenario(kOneNode, kStack, R"(["8B", "1MiB", "1GiB"])")),
                                      Library(ATHANOR_TEST_SCENARIOS));
  const CollectiveSetup& setup = read.cases.front().as<CollectiveExperiment>()->setup();
  SoftwarePool pool;
  for (const Figure& each : figures()) { pool.figures.push_back({each.typical, 0.2, 0.1, 0.2, {}}); }
  const RowCase of{{read.cases.front().platform, setup}, {"stack", {.gpu = "hopper", .link = "nvlink"}}, pool};
  const RowFit fit = fit_rows(of, {{Bytes{8}, 22}}, setup.sizes);
  REQUIRE(fit.sizes.size() == 3);
  for (std::size_t i = 0; i < fit.before.size(); ++i) { CHECK(fit.after[i] <= fit.before[i] * 1.0001); }
  CHECK(fit.rows[0].after.time_us == doctest::Approx(22).epsilon(0.03));
  CHECK(fit.rows[0].after.factor() < 1.04);  // a row is known to 2 %: 1.28 standard deviations of it
  CHECK(fit.rows[0].before.factor() > 1.1);
  CHECK(fit.sizes[2].after.spread == doctest::Approx(fit.sizes[2].before.spread).epsilon(0.1));
}

TEST_CASE("what nccl-tests printed is taken as rows, without what something disturbed") {
  const Anchored anchored(scenario(kTwoNodes, kStack, R"("8B..1GiB")"));
  const std::string log = anchored.folder().write(
      "run.log",
      printed("H100 80GB HBM3", 2, {{8, 34}, {16, 34}, {32, 90}, {64, 35}, {128, 35}, {1024, 38}, {1 << 30, 4100}}));
  const Ran ran = anchored.with({"--rows", log});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("left out: 32 B in 90 us: an isolated spike") != std::string::npos);
  CHECK(json_in_file(anchored.profile_path())["calibration"]["rows"].size() == 6);
}

TEST_CASE("a measurement file is taken as rows") {
  const Anchored anchored(scenario(kTwoNodes, kStack, R"("8B..8GiB")"));
  const std::string table = std::string(ATHANOR_TEST_SCENARIOS) + "/measurements/hopper_nebius_2n_ib_allreduce.json";
  const nlohmann::json found = anchored.profile({"--rows", table});
  CHECK(found["calibration"]["rows"].size() > 20);
  CHECK(found["fitted"]["measurements"] == nlohmann::json{"hopper_nebius_2n_ib_allreduce"});
}

TEST_CASE("rows that contradict each other or the hardware are refused by name") {
  const Anchored anchored(scenario(kTwoNodes, kStack, R"("8B..8GiB")"));
  anchored.refused({"--row", "8B=31us", "--row", "8B=45us"}, "rows-contradict",
                   "--row 8B=31us and --row 8B=45us contradict each other: one size has two times");
  anchored.refused({"--row", "8B=31us", "--row", "1KiB=20us"}, "rows-contradict",
                   "--row 8B=31us and --row 1KiB=20us contradict each other: a larger payload took less");
  anchored.refused({"--row", "8GiB=15ms"}, "faster-than-hardware", "--row 8GiB=15ms is faster than 21.4");
  anchored.refused({"--row", "8B=31ms"}, "units", "is it perhaps 31 us?");
  anchored.refused({"--row", "8GiB=29us"}, "units", "is it perhaps 29 ms?");
  CHECK(anchored.with({"--row", "8B=31us", "--row", "1KiB=30us"}).code == 0);  // noise
}

TEST_CASE("a table of another machine is refused by what differs") {
  const Anchored anchored(scenario(kTwoNodes, kStack, R"("8B..8GiB")"));
  const auto refused = [&](const std::string& text, const std::string& code, const std::string& words) {
    anchored.refused({"--rows", anchored.folder().write("run.log", text)}, code, words);
  };
  const std::vector<std::pair<std::int64_t, double>> rows{{8, 34}, {1 << 30, 4100}};
  refused(printed("A100-SXM4-40GB", 2, rows), "another-machine",
          "these times are of 'NVIDIA A100-SXM4-40GB', and the scenario's GPUs are 'H100");
  refused(printed("H100 80GB HBM3", 4, rows), "another-machine", "16 ranks on 4 nodes, and the scenario has them on 2");
  refused(printed("H100 80GB HBM3", 2, rows, "./build/all_gather_perf -b 8\n"), "contradiction", "for all_gather");
  const Anchored one_node(scenario(kOneNode, kStack, R"("8B..8GiB")"));
  one_node.refused({"--rows", one_node.folder().write("run.log", printed("H100 80GB HBM3", 2, rows))}, "no-rows",
                   "no row is of all_reduce over 8 ranks");
}

TEST_CASE("where it is not known which NICs were used, nothing is fitted until somebody says so") {
  const std::vector<std::pair<std::int64_t, double>> rows{{8, 34}, {1 << 30, 4100}};
  const Anchored anchored(scenario(kTwoNodes, kStack, R"("8B..8GiB")"));
  const std::string log = anchored.folder().write(
      "run.log", printed("H100 80GB HBM3", 2, rows, "mpirun -x NCCL_IB_HCA=mlx5_0,mlx5_3 all_reduce_perf -b 8\n"));
  anchored.refused({"--rows", log}, "which-nics", "NCCL_IB_HCA chose NICs for these times");
  CHECK(anchored.with({"--rows", log, "--nics", "8"}).code == 0);
  anchored.refused({"--rows", log, "--nics", "2"}, "which-nics", "--nics 2: the scenario's nodes have 8");
  const double expected = anchored.profile({"--row", "8GiB=30ms"})["calibration"]["rows"][0]["before_us"].get<double>();
  const std::string half = fmt::format("8GiB={:.0f}us", 2 * expected);
  anchored.refused({"--row", half}, "which-nics", "is about what 4 of the 8 NICs of a node take");
  anchored.refused({"--row", fmt::format("8GiB={:.0f}us", 8.0 / 3 * expected)}, "which-nics", "what 3 of the 8 NICs");
  CHECK(anchored.with({"--row", half, "--nics", "8"}).err.find("which-nics") == std::string::npos);
}

TEST_CASE("options that do not go with rows or a step are refused") {
  const Anchored anchored(scenario(kOneNode, kStack, R"("8B..8GiB")"));
  const auto refused = [&](std::vector<std::string> options, const char* words) {
    const Ran ran = anchored.with(std::move(options));
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.says(words));
  };
  refused({}, "SCENARIO goes with what was measured of it");
  refused({"--row", "31us"}, "--row '31us' is no size with its time");
  refused({"--row", "31us=8B"}, "--row '31us'");
  refused({"--row", "8B=0us"}, "more than nothing");
  refused({"--row", "6B=31us"}, "no whole number of float32 elements");
  refused({"--row", "8B=31us", "--step", "1s"}, "do not go together");
  refused({"--row", "8B=31us", "--free", "memory"}, "--profile and --free go with --step");
  refused({"--row", "8B=31us", "--backend", "tables"}, "--backend does not go with");
  refused({"--step", "1s"}, "this simulates none");
  CHECK(athanor_run({"calibrate", "--row", "8B=31us", "-o", anchored.profile_path()}).code == 2);
}

namespace {

constexpr const char* kTraining = R"({"cluster": {"node": "DGX-H100"}, "training": {"sequence": 2048, "global_batch": 8,
  "model": {"preset": "GPT-3-175B", "layers": 2, "hidden": 4096, "ffn": 16384, "attention": {"heads": 32}},
  "compute": COMPUTE}})";

std::string training(const std::string& compute) {
  std::string text = kTraining;
  return text.replace(text.find("COMPUTE"), 7, compute);
}

}  // namespace

TEST_CASE("one measured step moves one figure of computing, so that the step takes as long") {
  const Anchored anchored(training(R"({"gemm": {"share": 0.7, "depth": 200}, "memory": 0.8})"));
  const double usual =
      result_of(anchored.folder(), training(R"({"gemm": {"share": 0.7, "depth": 200}, "memory": 0.8})"))["step_time_s"]
          .get<double>();
  const std::string step = fmt::format("{:.0f}us", usual * 1.1e6);
  const nlohmann::json found = anchored.profile({"--step", step});
  CHECK(found["gemm"]["share"].get<double>() < 0.7);
  CHECK(found["memory"].get<double>() == 0.8);
  CHECK(result_of(anchored.folder(), training("\"" + anchored.profile_path() + "\""))["step_time_s"].get<double>() ==
        doctest::Approx(1.1 * usual).epsilon(0.005));
  anchored.refused({"--step", fmt::format("{:.0f}ms", usual * 1e6)}, "units", "is it perhaps");
  anchored.refused({"--step", fmt::format("{:.0f}us", usual * 3e5)}, "faster-than-hardware",
                   "that its GPUs need at their peaks");
}

TEST_CASE("without a compute profile one step moves all that the pool of steps is uncertain of, or is refused") {
  const Folder folder;
  const std::string scenario = folder.write("s.json", R"({
    "cluster": {"node": "DGX-H100", "nodes": 1, "fabric": {"kind": "star", "switch": "QM9700"}},
    "training": {"model": {"preset": "GPT-3-175B", "layers": 4}, "global_batch": 16, "sequence": 2048,
                 "parallel": {"tensor": 8}}})");
  const std::string profile = folder.path("found.json");
  const auto step = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"run", scenario, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return athanor_run(words).json()["results"][0];
  };
  const auto calibrated = [&](double seconds) {
    return athanor_run({"calibrate", scenario, "--step", fmt::format("{:.0f}us", seconds * 1e6), "-o", profile});
  };
  const double usual = step({})["step_time_s"].get<double>();
  const Ran ran = calibrated(1.15 * usual);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.says("gemm.share"));
  CHECK(ran.says("memory"));
  const nlohmann::json after = step({"--set", "/training/compute=" + profile});
  CHECK(after["step_time_s"].get<double>() == doctest::Approx(1.15 * usual).epsilon(0.03));
  CHECK(after["known"] == "one_step");
  for (const double factor : {2.0, 5.0}) {  // beyond what software was found to do
    const Ran refused = calibrated(factor * usual);
    CHECK(refused.code == 3);
    CHECK(refused.err.find("standard deviations from what is usual") != std::string::npos);
  }
  CHECK(calibrated(0.4 * usual).err.find("less than the") != std::string::npos);  // that its GPUs need at their peaks
}
