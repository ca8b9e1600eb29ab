#include <doctest/doctest.h>

#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/import/import_measurement.hpp"

using namespace athanor;

namespace {

struct Imported {
  Measurement measurement;
  std::string problems;
};

Imported imported(const std::string& text, ImportFormat format, const ImportHints& hints = {}) {
  Imported result;
  Problems problems;
  result.measurement = import_measurement(text, "run.log", format, hints, problems);
  for (const Problem& problem : problems.list()) { result.problems += describe(problem) + "\n"; }
  return result;
}

const ImportHints kFourRanks{.collective = {}, .ranks = 4, .nodes = 2, .hardware = "EPYC"};

constexpr const char* kJson = R"({
  "version": 3, "start_time": "2026-11-21 10:00:00", "args": ["./all_gather_perf", "-b", "8"],
  "env": ["SECRET=1", "NCCL_ALGO=Ring"], "nccl_version": "2.27.3",
  "config": {"devices": [
    {"rank": 0, "hostname": "a", "device_info": "NVIDIA H100"}, {"rank": 1, "hostname": "b", "device_info": "NVIDIA H100"}]},
  "results": [
    {"size": 1024, "count": 128, "type": "half", "redop": "none", "root": "-1",
     "out_of_place": {"time": 12.5, "alg_bw": 0.08, "bus_bw": 0.04, "nwrong": "0"},
     "in_place": {"time": 11.5, "alg_bw": 0.09, "bus_bw": 0.04, "nwrong": 2},
     "out_of_place_per_iter": {"min_us": 11.0, "max_us": 20}},
    {"size": 2048, "count": 256, "type": "half", "redop": "none", "root": "-1",
     "out_of_place": {"time": "nan", "alg_bw": "nan", "bus_bw": 0.1}, "in_place": null}
  ]})";

}  // namespace

TEST_CASE("nccl-tests' JSON gives what its text does, and no secrets") {
  REQUIRE(recognised(kJson) == ImportFormat::nccl_tests_json);
  const Imported run = imported(kJson, ImportFormat::nccl_tests_json);
  CHECK(run.problems.empty());
  REQUIRE(run.measurement.rows.size() == 3);
  const auto& rows = run.measurement.rows;
  CHECK(rows[0].time_us == 12.5);
  CHECK(rows[0].min_us == 11);
  CHECK(rows[0].collective == CollectiveKind::all_gather);
  CHECK(rows[0].ranks == 2);
  CHECK(rows[0].algorithm == "Ring");
  CHECK(rows[0].type == DataType::float16);
  CHECK(rows[1].in_place);
  CHECK(rows[1].wrong == 2);
  CHECK_FALSE(run.measurement.healthy);
  CHECK_FALSE(rows[2].time_us);
  CHECK(measurement_json(run.measurement).find("SECRET") == std::string::npos);
}

TEST_CASE("JSON that is broken or incomplete is named with its line") {
  CHECK(imported(R"({"results": []})", ImportFormat::nccl_tests_json).problems.find("run.log:1:1: there are no") == 0);
  const std::string nothing = R"({"results": [
    {"size": 8},
    {"count": 8}]})";
  ImportHints hints = kFourRanks;
  hints.collective = CollectiveKind::reduce;
  const std::string found = imported(nothing, ImportFormat::nccl_tests_json, hints).problems;
  CHECK(found.find("run.log:2:1: this result has neither") != std::string::npos);
  CHECK(found.find("run.log:3:1: this result has no \"size\"") != std::string::npos);
  const std::string unknown = imported(nothing, ImportFormat::nccl_tests_json).problems;
  CHECK(unknown.find("add --collective NAME") != std::string::npos);
  CHECK(unknown.find("add --ranks N") != std::string::npos);
}

TEST_CASE("sendrecv_perf is a ring shift, and is not taken for one message") {
  ImportHints hints = kFourRanks;
  hints.collective = CollectiveKind::send_receive;
  const std::string json = R"({"results": [{"size": 8, "out_of_place": {"time": 3, "bus_bw": 0.1}}]})";
  const Imported run = imported(json, ImportFormat::nccl_tests_json, hints);
  CHECK(run.problems.find("every rank sends to the next one") != std::string::npos);
  CHECK(run.measurement.rows.empty());
  const std::string text =
      "# nThread 1\n# ./build/sendrecv_perf -b 8\n# size count type redop root time algbw busbw #wrong\n"
      "8 2 float sum -1 3.0 0.01 0.01 0\n";
  CHECK(imported(text, ImportFormat::nccl_tests, kFourRanks).problems.find("\"shift\"") != std::string::npos);
}

TEST_CASE("OSU's collectives: sizes become payloads, times stay, with the least time where -f gives it") {
  const std::string text =
      "# OSU MPI Allgather Latency Test v5.8\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
      "1                       2.50              2.00              3.00        1000\n"
      "1024                    5.50              5.00              6.00        1000\n";
  REQUIRE(recognised(text) == ImportFormat::osu);
  const Imported run = imported(text, ImportFormat::osu, kFourRanks);
  CHECK(run.problems.empty());
  REQUIRE(run.measurement.rows.size() == 2);
  const auto& row = run.measurement.rows[1];
  CHECK(row.bytes == Bytes{4096});
  CHECK(row.time_us == 5.5);
  CHECK(row.min_us == 5);
  CHECK(row.iterations == 1000U);
  CHECK(row.ranks == 4);
  CHECK(row.collective == CollectiveKind::all_gather);
  CHECK(imported(text, ImportFormat::osu).problems.find("run.log:3:1: OSU does not print how many ranks") == 0);
}

TEST_CASE("OSU's all-reduce counts the vector, latency and bandwidth tests are of two processes") {
  const auto rows = [](const std::string& text) {
    const Imported run = imported(text, ImportFormat::osu);
    CHECK(run.problems.empty());
    return run.measurement.rows;
  };
  const Imported reduced = imported(
      "# OSU MPI-CUDA Allreduce Latency Test v7.2\n# Datatype: MPI_CHAR.\n"
      "# Size       Avg Latency(us)   Validation\n4  2.5  Pass\n8  2.6  Fail\n",
      ImportFormat::osu, kFourRanks);
  REQUIRE(reduced.measurement.rows.size() == 2);
  CHECK(reduced.measurement.rows[0].bytes == Bytes{4});
  CHECK(reduced.measurement.rows[1].wrong == 1);
  CHECK_FALSE(reduced.measurement.healthy);
  const auto latency = rows("# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n0  0.25\n8  0.31\n");
  REQUIRE(latency.size() == 2);
  CHECK(latency[1].collective == CollectiveKind::send_receive);
  CHECK(latency[1].ranks == 2);
  CHECK(latency[1].time_us == 0.31);
  const auto bandwidth = rows("# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n1048576  12345.6\n");
  REQUIRE(bandwidth.size() == 1);
  CHECK_FALSE(bandwidth[0].time_us);
  CHECK(*bandwidth[0].busbw_gbps == doctest::Approx(12.3456));
  const Imported barrier =
      imported("# OSU MPI Barrier Latency Test v5.8\n# Avg Latency(us)\n 3.25\n", ImportFormat::osu, kFourRanks);
  REQUIRE(barrier.measurement.rows.size() == 1);
  CHECK(barrier.measurement.rows[0].bytes == Bytes{0});
  CHECK(barrier.measurement.rows[0].time_us == 3.25);
}

TEST_CASE("broken OSU tables and tests of other things are named with their lines") {
  const auto problem = [](const std::string& text) { return imported(text, ImportFormat::osu, kFourRanks).problems; };
  const std::string begin = "# OSU MPI Allreduce Latency Test v5.8\n# Size       Avg Latency(us)\n";
  CHECK(problem("x\n").find("run.log:1:1: there is no table of the OSU") == 0);
  CHECK(problem(begin + "8\n").find("run.log:3:1: this row has 1 values where the table has 2") == 0);
  CHECK(problem(begin + "8 abc\n").find("run.log:3:1: 'abc'") == 0);
  CHECK(problem(begin + "8 -1.5\n").find("run.log:3:1: a time of -1.5 us") == 0);
  const std::string least = "# OSU MPI Allreduce Latency Test v5.8\n# Size       Avg Latency(us)   Min Latency(us)\n";
  CHECK(problem(least + "8 2 1e308\n").find("run.log:3:1: a time of 1e+308 us is more than 100 days") == 0);
  CHECK(problem(begin + "8 1e308\n").find("run.log:3:1: a time of 1e+308 us is more than 100 days") == 0);
  CHECK(problem(begin + "8 1.5\n8 1.5\n").find("run.log:4:1: all_reduce over 4 ranks came with 8 B") == 0);
  CHECK(
      problem("# OSU MPI Allreduce Latency Test v5.8\n# Size       Avg Latency(ms)\n8 1\n").find("neither in us nor") !=
      std::string::npos);
  CHECK(problem("# OSU MPI Bi-Directional Bandwidth Test v5.8\n# Size  Bandwidth (MB/s)\n8 1\n")
            .find("run.log:1:1: 'OSU") == 0);
}

TEST_CASE("what is imported is a file that verify reads, and algorithms are still proven by the same command") {
  const Folder folder;
  const std::string log = folder.write("run.log",
                                       "# OSU MPI Allreduce Latency Test v5.8\n# Size       Avg Latency(us)\n"
                                       "1024 6.0\n2048 6.3\n");
  const std::string file = folder.path("mine.json");
  const Ran ran = athanor_run({"import", log, "--ranks", "4", "--hardware", "EPYC", "--source", "me", "-o", file});
  REQUIRE(ran.code == 0);
  CHECK(ran.says("osu: 2 times of all_reduce from 1 KiB to 2 KiB"));
  const std::string scenario =
      folder.write("s.json", small_with("\"name\"", R"("verify": {"measurement": "mine.json"}, "name")"));
  const Ran verified = athanor_run({"verify", scenario, "--json"});
  REQUIRE(verified.code == 0);
  CHECK(verified.json()["results"][0]["measured_time_us"] == 6.0);
  CHECK(athanor_run({"import", log, "--ranks", "4"}).json()["rows"].size() == 2);
}

TEST_CASE("import refuses what it cannot tell or do, with what to write instead") {
  const Folder folder;
  const std::string text = folder.write("notes.txt", "nothing of the kind\n");
  const Ran unknown = athanor_run({"import", text});
  CHECK(unknown.code == 3);
  CHECK(unknown.says(
      "neither an algorithm, a fabric nor the output of a benchmark; --format names one of msccl, nccl-tests"));
  CHECK(athanor_run({"import", text, "--format", "nccl"}).code == 2);
  const std::string log = folder.write("a.log", "# OSU MPI Allreduce Latency Test v5.8\n# Size  Avg Latency(us)\n");
  const Ran empty = athanor_run({"import", log, "--ranks", "2"});
  CHECK(empty.code == 3);
  CHECK(empty.says("the table has no rows"));
  CHECK(athanor_run({"import", log, log}).says("one measurement at a time"));
  CHECK(athanor_run({"import", folder.path("none.log")}).code == 4);
  CHECK(athanor_run({"import", log, "-o", folder.path("no/such/folder.json")}).code == 4);
}
