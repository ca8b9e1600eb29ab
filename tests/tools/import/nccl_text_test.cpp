#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/import/import_measurement.hpp"

using namespace athanor;

namespace {

/// What came of a text.
struct Imported {
  Measurement measurement;
  std::string problems;  ///< "file:line:...", one per line
};

Imported imported(const std::string& text, const ImportHints& hints = {}) {
  Imported result;
  Problems problems;
  const auto format = recognised(text);
  REQUIRE(format);
  result.measurement = import_measurement(text, "run.log", *format, hints, problems);
  for (const Problem& problem : problems.list()) { result.problems += describe(problem) + "\n"; }
  return result;
}

std::string devices(int nodes, int per_node) {
  std::string text =
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20\n#\n# Using devices\n";
  for (int rank = 0; rank < nodes * per_node; ++rank) {
    text += fmt::format("#  Rank {:2} Group  0 Pid  {} on  host{} device {:2} [0x{:02x}] NVIDIA A100-SXM4-40GB\n", rank,
                        4000 + rank, rank / per_node, rank % per_node, rank);
  }
  return text;
}

constexpr const char* kColumns =
    "#\n#                                                              out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n";

/// Times over 8 ranks whose bandwidths agree.
constexpr const char* kAllReduceRows =
    "           8             2     float     sum      -1    13.67    0.00    0.00      0    13.03    0.00    0.00     "
    " 0\n"
    "  1073741824     268435456     float     sum      -1   4029.4  266.48  466.34      0   4027.2  266.62  466.59     "
    " "
    "0\n";

std::string table(const std::string& rows) {
  return devices(1, 8) + kColumns + rows + "# Out of bounds values : 0 OK\n";
}

}  // namespace

TEST_CASE("a table of nccl-tests gives times out of place and in place, and the machine without its hosts") {
  const Imported run = imported("./build/all_reduce_perf -b 8 -e 1G -f 2\n" + table(kAllReduceRows));
  CHECK(run.problems.empty());
  const Measurement& measurement = run.measurement;
  REQUIRE(measurement.rows.size() == 4);
  CHECK(measurement.kind == "nccl-tests");
  CHECK(measurement.healthy);
  const auto& row = measurement.rows[3];
  CHECK(row.bytes == Bytes{1073741824});
  CHECK(row.time_us == 4027.2);
  CHECK(row.in_place);
  CHECK(row.ranks == 8);
  CHECK(row.algorithm == "auto");
  CHECK(row.collective == CollectiveKind::all_reduce);
  CHECK(row.type == DataType::float32);
  CHECK_FALSE(measurement.rows[2].in_place);
  const std::string file = measurement_json(measurement);
  CHECK(file.find("NVIDIA A100-SXM4-40GB") != std::string::npos);
  CHECK(file.find("host0") == std::string::npos);
}

TEST_CASE("what mpirun, srun, a logger and a terminal put in front of lines is taken off") {
  const Imported plain = imported(table(kAllReduceRows));
  REQUIRE(plain.measurement.rows.size() == 4);
  for (const char* prefix :
       {"[1,0]<stdout>:", "0: ", " 12: ", "2026-11-21T15:04:05.123456Z ", "2026-11-21 15:04:05,123 ",
        "[2026-11-21 15:04:05] ", "\x1b[32m", "2026-11-21T15:04:05Z [1,12]<stdout>:"}) {
    CAPTURE(prefix);
    std::string text;
    const std::string lines = table(kAllReduceRows);
    for (std::size_t begin = 0; begin < lines.size();) {
      const std::size_t end = lines.find('\n', begin);
      text += prefix + lines.substr(begin, end - begin) + "\r\n";
      begin = end + 1;
    }
    const Imported run = imported(text);
    CHECK(run.problems.empty());
    CHECK(measurement_json(run.measurement) == measurement_json(plain.measurement));
  }
}

TEST_CASE("lines that other processes print between the rows do not matter") {
  std::string text = table(kAllReduceRows);
  text.insert(text.find("  1073741824"), "node1:12:12 [0] NCCL INFO NCCL version 2.18.3+cuda12.2\n12:30:01 hello\n\n");
  const Imported run = imported(text);
  CHECK(run.problems.empty());
  CHECK(run.measurement.rows.size() == 4);
  CHECK(std::get<std::string>(run.measurement.software_facts[0].second) == "2.18.3+cuda12.2");
}

TEST_CASE("the collective follows from operation, root and bandwidths where they fit one only") {
  const auto guess = [](const char* row, int ranks) { return imported(devices(1, ranks) + kColumns + row); };
  // 1e9 bytes in 10 ms: 100 GB/s, times the factor of the collective over 8 ranks.
  const Imported scatter = guess(" 1000000000 31250000 float sum -1 10000 100.00 87.50 0 10000 100.00 87.50 0\n", 8);
  CHECK(scatter.measurement.rows.at(0).collective == CollectiveKind::reduce_scatter);
  const Imported reduce = guess(" 1000000000 250000000 float sum 0 10000 100.00 100.00 0 10000 100.00 100.00 0\n", 8);
  CHECK(reduce.measurement.rows.at(0).collective == CollectiveKind::reduce);
  const Imported broadcast =
      guess(" 1000000000 250000000 float none 0 10000 100.00 100.00 0 10000 100.00 100.00 0\n", 8);
  CHECK(broadcast.measurement.rows.at(0).collective == CollectiveKind::broadcast);
  const Imported several = guess(" 1000000000 31250000 float none -1 10000 100.00 87.50 0 10000 100.00 87.50 0\n", 8);
  CHECK(several.problems.find("add --collective NAME") != std::string::npos);
  CHECK(several.measurement.rows.empty());
}

TEST_CASE("old versions without #wrong, root or a word for no operation are read by the names of their columns") {
  const std::string no_root =
      devices(1, 8) +
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   "
      "busbw  error\n"
      "        1000           250   float     sum    38.63    0.03    0.05  2e-07    38.85    0.03    "
      "0.05  1e-02\n"
      "        2000           500   float     sum    38.63    0.05    0.09  2e+01    38.85    0.05    "
      "0.09    N/A\n";
  const Imported run = imported("all_reduce_perf\n" + no_root);
  CHECK(run.problems.empty());
  REQUIRE(run.measurement.rows.size() == 4);
  CHECK(run.measurement.rows[0].wrong == 0);
  CHECK(run.measurement.rows[2].wrong == 1);
  CHECK_FALSE(run.measurement.healthy);
  const std::string no_word = devices(1, 2) +
                              "#  size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n"
                              "   1024  128  float  20.0  0.05  0.03  0e+00  21.0  0.05  0.02  0e+00\n";
  const Imported gathered = imported("all_gather_perf\n" + no_word);
  CHECK(gathered.problems.empty());
  REQUIRE(gathered.measurement.rows.size() == 2);
  CHECK(gathered.measurement.rows[1].time_us == 21);
  const std::string new_columns =
      devices(1, 2) + "#  size count type redop root time algbw busbw #wrong min max p99 cv time algbw busbw #wrong\n" +
      "1024 256 float sum -1 20.0 0.05 0.05 0 1 2 3 4 21.0 0.05 0.05 0\n";
  CHECK(imported("all_reduce_perf\n" + new_columns).measurement.rows.at(1).time_us == 21);
}

TEST_CASE("several tables in one log keep their collective, ranks and type") {
  const std::string second =
      devices(2, 1) + kColumns +
      "  1000000  500000 half none -1 100 10.00 5.00 0 N/A N/A N/A N/A\n# Avg bus bandwidth : 5\n";
  const Imported run =
      imported("all_reduce_perf -b 8\n" + table(kAllReduceRows) + "mpirun -x NCCL_ALGO=Ring alltoall_perf\n" + second);
  CHECK(run.problems.empty());
  REQUIRE(run.measurement.rows.size() == 5);
  const auto& last = run.measurement.rows[4];
  CHECK(last.collective == CollectiveKind::all_to_all);
  CHECK(last.ranks == 2);
  CHECK(last.type == DataType::float16);
  CHECK(run.measurement.rows[0].ranks == 8);
}

TEST_CASE("rccl-tests are told from nccl-tests, and an algorithm that was forced is kept") {
  const Imported run =
      imported("mpirun -x NCCL_ALGO=Tree -x NCCL_PROTO=LL all_reduce_perf\n# rccl-tests: Version develop\n" +
               table(kAllReduceRows));
  CHECK(run.measurement.kind == "rccl-tests");
  CHECK(run.measurement.rows.at(0).algorithm == "Tree");
}

TEST_CASE("wrong results are kept, and make the measurement an unhealthy one that says why") {
  const Imported run =
      imported("all_reduce_perf\n" + table("  1024 256 float sum -1 13.6 0.07 0.13 7 13.0 0.08 0.14 0\n"));
  CHECK(run.problems.empty());
  CHECK(run.measurement.rows.at(0).wrong == 7);
  CHECK_FALSE(run.measurement.healthy);
  CHECK(run.measurement.notes == "wrong results were counted, first at 1 KiB (line 17)");
}

TEST_CASE("what is no table, or a broken one, is named with its line") {
  const auto problem = [](const std::string& text, const ImportHints& hints = {}) {
    Problems problems;
    import_measurement(text, "run.log", ImportFormat::nccl_tests, hints, problems);
    std::string all;
    for (const Problem& each : problems.list()) { all += describe(each) + "\n"; }
    return all;
  };
  const auto with = [&](const std::string& rows) { return problem("all_reduce_perf\n" + table(rows)); };
  const auto says = [](const std::string& text, const char* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  says(problem("hello\n"), "run.log:1:1: there is no table of nccl-tests here");
  says(with("  1024 256 float sum -1 13.6 0.07\n"),
       "run.log:17:1: this row has 7 values where the table has 13 columns");
  says(with("  1024 256\n"), "run.log:17:1: this row has 2 values");
  says(with("  1024 256 float sum -1 13.6x 0.07 0.13 0 13.0 0.08 0.14 0\n"), "'13.6x' is no time or bandwidth");
  says(with("  1024 256 float sum -1 -13.6 0.07 0.13 0 13.0 0.08 0.14 0\n"), "run.log:17:1: a time of -13.6 us");
  says(with("  1024 256 float sum -1 13.6 0.07 0.13 0 13.0 0.08 0.14 0\n"
            "  1024 256 float sum -1 13.6 0.07 0.13 0 13.0 0.08 0.14 0\n"),
       "run.log:18:1: all_reduce over 8 ranks came with 1 KiB before in this table");
  std::string milliseconds = "all_reduce_perf\n" + table(kAllReduceRows);
  milliseconds.replace(milliseconds.find("(us)"), 4, "(ms)");
  says(problem(milliseconds), "a column is in (ms)");
  says(problem("all_reduce_perf\n" + std::string(kColumns) + kAllReduceRows), "add --ranks N");
  says(
      problem("all_reduce_perf\n" + table(kAllReduceRows), {.collective = {}, .ranks = 4, .nodes = {}, .hardware = ""}),
      "bus bandwidth for all_reduce over 4 ranks; state what was measured");
  says(problem("# size time\n"), "the columns of this table are not those of nccl-tests");
}

TEST_CASE("a long list of problems ends early") {
  std::string rows;
  for (int i = 0; i < 100; ++i) { rows += "  1024 256\n"; }
  Problems problems;
  import_measurement("all_reduce_perf\n" + table(rows), "run.log", ImportFormat::nccl_tests, {}, problems);
  CHECK(problems.size() == ImportedRows::kMostProblems + 1);
}
