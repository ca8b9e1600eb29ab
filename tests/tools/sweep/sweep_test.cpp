#include <algorithm>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/sweep/database.hpp"

namespace athanor {

namespace {

struct SweepFolder {
  Folder folder;
  std::string scenario = folder.write("small.json", kSmall);
  std::string file = folder.path("small.sqlite");

  Ran sweep(std::vector<std::string> more) const {
    std::vector<std::string> words{"sweep", scenario, "-o", file, "-q"};
    words.insert(words.end(), more.begin(), more.end());
    return athanor_run(words);
  }
};

/// Everything that does not hang on when and where it was simulated.
std::string content(const std::string& path) {
  SweepDatabase database(path, SqliteFile::Access::read);
  std::string text;
  database.each([&](const SweepOutcome& each) {
    text += fmt::format("{} {}\n", each.point, each.error);
    for (const std::string& result : each.results) { text += result + "\n"; }
  });
  return text;
}

TEST_CASE("a sweep simulates what athanor run does, at every point") {
  const SweepFolder here;
  const Ran ran = here.sweep({"--vary", "/collective/ranks=2,4", "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const nlohmann::json results = ran.json()["results"];
  REQUIRE(results.size() == 6);  // two points of three sizes
  for (const auto& each : results) {
    const Ran alone =
        athanor_run({"run", here.scenario, "--json", "--sizes", fmt::format("{}B", each["bytes"].get<int>()), "--set",
                     fmt::format("/collective/ranks={}", each["ranks"].get<int>())});
    CHECK(each["time_us"] == alone.json()["results"][0]["time_us"]);
  }
  CHECK(results[3]["parameters"]["ranks"] == "4");
}

TEST_CASE("the table of a sweep has the figures of its kind of experiment, and counts what is extrapolated") {
  const Folder folder;
  const std::string cluster = R"({"cluster": {"node": "DGX-H100", "nodes": 1}, )";
  const auto swept = [&](const std::string& experiment, const char* axis) {
    const std::string scenario = folder.write("swept.json", cluster + experiment + "}");
    return athanor_run({"sweep", scenario, "-o", folder.path("swept.sqlite"), "--overwrite", "-q", "--vary", axis});
  };
  const Ran servers =
      swept(R"("parameter_server": {"parameters": "1MiB", "servers": 1, "workers": 3, "compute": {"mean": "1ms"}})",
            "/parameter_server/workers=2,3");
  CHECK_MESSAGE(servers.out.find("updates (1/s)") != std::string::npos, servers.out, servers.err);
  const Ran traffic = swept(R"("traffic": {"pattern": "shift", "sizes": "1MiB"})", "/traffic/by=1,2");
  CHECK_MESSAGE(traffic.out.find("goodput (GB/s)  ratio (%)") != std::string::npos, traffic.out, traffic.err);
  const Ran all_reduce =
      swept(R"("profile": "nccl-a100-ib", "collective": {"kind": "all_reduce", "sizes": "1MiB"})", "/seed=1,2");
  CHECK_MESSAGE(
      all_reduce.out.find("algorithm  size (B)  time (us)  low (us)  high (us)  busbw (GB/s)") != std::string::npos,
      all_reduce.out, all_reduce.err);
  CHECK_MESSAGE(all_reduce.out.find("2 of 2 results are extrapolated") != std::string::npos, all_reduce.out);
}

TEST_CASE("plot draws the file of a sweep, and says in one line why it cannot") {
  const SweepFolder here;
  REQUIRE(here.sweep({"--vary", "/collective/ranks=2,3,4"}).code == 0);
  const std::string out = here.folder.path("plots");
  const Ran ran = athanor_run({"plot", here.file, "--out", out});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.out == fmt::format("{0}/over-ranks.svg\n{0}/over-ranks.png\n", out));
  CHECK(athanor_run({"plot", here.file, "--out", out, "--figure", "busbw_gbps"}).code == 0);
  const Ran unknown = athanor_run({"plot", here.file, "--out", out, "--figure", "mfu"});
  CHECK(unknown.code == 4);
  CHECK(unknown.says(here.file + ": no result has a number 'mfu'"));
  REQUIRE(here.sweep({"--vary", "/collective/ranks=5,6", "--overwrite"}).code == 1);
  CHECK(athanor_run({"plot", here.file, "--out", out}).says("all 2 points failed; the first: "));
  REQUIRE(here.sweep({"--vary", "/collective/ranks=4", "--overwrite"}).code == 0);
  CHECK(athanor_run({"plot", here.file, "--out", out}).out ==
        fmt::format("{0}/all-reduce.svg\n{0}/all-reduce.png\n", out));
}

TEST_CASE("the file holds the same for any number of jobs") {
  const SweepFolder one;
  const std::vector<std::string> axes{"--vary", "/collective/ranks=2..4+1", "--vary", "/seed=1,2,3,4"};
  std::vector<std::string> words = axes;
  words.insert(words.end(), {"--jobs", "1"});
  REQUIRE(one.sweep(words).code == 0);
  const std::string expected = content(one.file);
  words.back() = "5";
  words.emplace_back("--overwrite");
  REQUIRE(one.sweep(words).code == 0);
  CHECK(content(one.file) == expected);
}

TEST_CASE("no more threads are started than there are points") {
  const SweepFolder here;
  CHECK(here.sweep({"--vary", "/seed=1,2", "--jobs", "100000"}).code == 0);
}

TEST_CASE("a sweep in the scenario's file, and one over its cases") {
  const SweepFolder here;
  here.folder.write("small.json", small_with("\"name\": \"small\",",
                                             R"("sweep": {"parameters": [
    {"pointer": "/collective/ranks", "from": 2, "to": 4, "factor": 2, "name": "GPUs", "labels": ["two", "four"]}]},
    "cases": [{"name": "fast"}, {"name": "slow", "cluster": {"fabric": {"link": {"rate": "1GB/s"}}}}],)"));
  const Ran ran = here.sweep({"--csv"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.says("point,GPUs,"));
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 13);  // a head and 2 cases x 2 ranks x 3 sizes
  CHECK(ran.says("\n3,four,"));
  CHECK(ran.says(",slow,"));
  const Ran chosen = here.sweep({"--case", "slow", "--overwrite", "--csv"});
  CHECK(std::count(chosen.out.begin(), chosen.out.end(), '\n') == 7);
}

TEST_CASE("an interrupted sweep goes on and ends as if it had not been interrupted") {
  const SweepFolder here;
  const std::vector<std::string> axes{"--vary", "/seed=1..40+1", "--jobs", "1"};
  REQUIRE(here.sweep(axes).code == 0);
  const std::string expected = content(here.file);
  std::vector<std::string> words{"sweep", here.scenario, "-o", here.file, "-q", "--overwrite"};
  words.insert(words.end(), axes.begin(), axes.end());
  const Ran interrupted = athanor_with(words, 30);
  REQUIRE(interrupted.code == 130);
  CHECK(interrupted.err.find("--resume") != std::string::npos);
  CHECK(content(here.file).size() < expected.size());
  words[5] = "--resume";
  const Ran resumed = athanor_run(words);
  REQUIRE(resumed.code == 0);
  CHECK(resumed.says("were there"));
  CHECK(content(here.file) == expected);
}

TEST_CASE("a point that fails is recorded, and the others are simulated") {
  const SweepFolder here;
  const Ran ran = here.sweep({"--vary", "/collective/ranks=2,99,4"});
  CHECK(ran.code == 1);
  CHECK(ran.says("failed: /collective: 99 ranks, but the cluster has 4 endpoints"));
  CHECK(ran.says("3 points: 3 simulated, 1 failed"));
  SUBCASE("and is not tried again unless asked") {
    CHECK(here.sweep({"--vary", "/collective/ranks=2,99,4", "--resume"}).says("0 simulated, 3 were there"));
    CHECK(here.sweep({"--vary", "/collective/ranks=2,99,4", "--resume", "--retry-failed"})
              .says("1 simulated, 2 were there, 1 failed"));
  }
}

TEST_CASE("a file is neither overwritten nor mixed with another sweep") {
  const SweepFolder here;
  REQUIRE(here.sweep({"--vary", "/seed=1,2"}).code == 0);
  CHECK(here.sweep({"--vary", "/seed=1,2"}).says("--resume"));
  const Ran other = here.sweep({"--vary", "/seed=1,2,3", "--resume"});
  CHECK(other.code == 4);
  CHECK(other.says("holds another sweep: what is varied differs"));
  CHECK(
      here.sweep({"--vary", "/seed=1,2", "--set", "/collective/ranks=2", "--resume"}).says("the command line changes"));
  here.folder.write("small.json", small_with("10GB/s", "20GB/s"));
  CHECK(here.sweep({"--vary", "/seed=1,2", "--resume"}).says("the scenario's text differs"));
}

TEST_CASE("a sweep's file is exported without its scenario, and as --csv and --json would have done") {
  const SweepFolder here;
  const std::string csv = here.folder.path("s.csv");
  REQUIRE(here.sweep({"--vary", "/collective/ranks=2,4", "--csv=" + csv}).code == 0);
  std::filesystem::remove(here.scenario);
  const Ran exported = athanor_run({"export", "sweep", here.file});
  REQUIRE_MESSAGE(exported.code == 0, exported.err);
  CHECK(exported.out == read_text_file(csv));
  const nlohmann::json json = athanor_run({"export", "sweep", here.file, "--format", "json"}).json();
  CHECK(json["results"].size() == 6);
  const std::string lines = here.folder.path("s.jsonl");
  REQUIRE(athanor_run({"export", "sweep", here.file, "--format", "jsonl", "-o", lines}).code == 0);
  const std::string text = read_text_file(lines);
  CHECK(std::count(text.begin(), text.end(), '\n') == 6);
  CHECK(athanor_run({"export", "sweep", here.file, "--format", "xls"}).says("choose csv, json or jsonl"));
  CHECK(athanor_run({"export", "sweep", here.file, "--ranks", "2"})
            .says("export sweep: --ranks does not go with sweeps"));
  CHECK(athanor_run({"export", "sweep", csv}).code == 4);
}

TEST_CASE("a sweep is not continued with other inputs than it began with") {
  const Folder folder;
  const std::string scenario = folder.write("exchange.json", kExchange);
  const std::string matrix = folder.write("matrix.csv", kPairs);
  const std::string file = folder.path("exchange.sqlite");
  const std::vector<std::string> words{"sweep", scenario, "--vary", "/seed=1,2", "-o", file, "--resume", "--json"};
  const Ran first = athanor_run(words);
  REQUIRE(first.code == 0);
  const nlohmann::json inputs = first.json()["manifest"]["inputs"];  // in the order of their paths
  CHECK(std::count_if(inputs.begin(), inputs.end(), [&](const auto& input) { return input["path"] == matrix; }) == 1);
  CHECK(athanor_run(words).code == 0);
  std::ofstream(matrix) << "0,4096\n2048,0\n";
  const Ran changed = athanor_run(words);
  CHECK(changed.code == 4);
  CHECK(changed.says("matrix.csv was another file when points of"));
}

TEST_CASE("what cannot be swept is refused before anything is simulated") {
  const SweepFolder here;
  const auto refused = [&](const std::string& axis, int code, const std::string& words) {
    const Ran ran = here.sweep({"--vary", axis});
    CHECK(ran.code == code);
    CHECK_MESSAGE(ran.says(words), ran.err);
    CHECK_FALSE(std::ifstream(here.file).good());
  };
  refused("/collective/rnaks=1,2", 3, "did you mean 'ranks'");
  refused("/colective/ranks=1,2", 2, "did you mean '/collective'");
  refused("/collective/ranks=64..8", 2, "empty");
  refused("/collective/ranks=1..8+0", 2, "the step of a range is above 0");
  refused("/seed=1..200000+1", 2, "--most-points 200000");
  CHECK(here.sweep({}).says("varies nothing"));
  CHECK(here.sweep({"--vary", "/seed=1", "--vary", "/seed=2"}).says("two --vary set /seed"));
  CHECK(here.sweep({"--vary", "/seed=1", "--retry-failed"}).says("goes with --resume"));
  CHECK(here.sweep({"--vary", "/seed=1..200000+1", "--most-points", "200000", "--dry-run"}).says("200000 points"));
}

TEST_CASE("files that are no sweep, of another format or damaged are told apart, and stay as they are") {
  const SweepFolder here;
  std::ofstream(here.file) << "this is no database, whatever its name says, and it is long enough to be read as one";
  const Ran text = here.sweep({"--vary", "/seed=1,2", "--resume"});
  CHECK(text.code == 4);
  CHECK(text.says("it is no database"));
  CHECK(here.sweep({"--vary", "/seed=1,2", "--overwrite"}).code == 4);
  CHECK(std::ifstream(here.file).good());
  const std::string other = here.folder.path("other.sqlite");
  SqliteFile(other, SqliteFile::Access::create).run("CREATE TABLE t (x)");
  CHECK(athanor_run({"sweep", here.scenario, "--vary", "/seed=1", "-o", other, "--resume"}).says("none of a sweep"));
  const std::string sweep = here.folder.path("sweep.sqlite");
  REQUIRE(athanor_run({"sweep", here.scenario, "--vary", "/seed=1", "-o", sweep}).code == 0);
  SqliteFile(sweep, SqliteFile::Access::write).run("PRAGMA user_version = 7");
  CHECK(athanor_run({"sweep", here.scenario, "--vary", "/seed=1", "-o", sweep, "--resume"}).says("has format 7"));
}

TEST_CASE("a sweep's file is damaged: an error, and nothing is written into it") {
  const SweepFolder here;
  REQUIRE(here.sweep({"--vary", "/seed=1..50+1"}).code == 0);
  {
    std::fstream file(here.file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(40'000, 'x');
  }
  const std::string before = read_text_file(here.file);
  const Ran ran = here.sweep({"--vary", "/seed=1..50+1", "--resume"});
  CHECK(ran.code == 4);
  CHECK_MESSAGE(ran.says("damaged"), ran.err);
  CHECK(read_text_file(here.file) == before);
}

}  // namespace

}  // namespace athanor
