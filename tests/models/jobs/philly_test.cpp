#include <algorithm>
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "models/jobs/logs/log_format.hpp"
#include "models/jobs/summary.hpp"
#include "sim/file.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// Waits and completions in seconds of an independent simulation of the same rules: no job overtakes another, jobs of
/// up to 8 GPUs on the node with the fewest free ones that suffice, larger ones on free nodes.
struct Row {
  const char* cluster;
  std::uint32_t nodes;
  const char* scheduler;
  std::uint64_t jobs;
  double mean_wait, mean_completion, longest_wait;
  std::uint64_t queued;
};

constexpr Row kRows[] = {
    {"6214e9", 64, "fifo", 33950, 5.8, 5454.6, 2017, 279},     {"6214e9", 64, "sjf", 33950, 5.8, 5454.6, 3589, 274},
    {"7f04ca", 32, "fifo", 604, 0.0, 111147.6, 0, 0},          {"7f04ca", 32, "sjf", 604, 0.0, 111147.6, 0, 0},
    {"11cb48", 16, "fifo", 11897, 241.0, 3110.7, 25301, 192},  {"11cb48", 16, "sjf", 11897, 189.4, 3059.1, 25323, 189},
    {"b436b2", 64, "fifo", 7222, 22.8, 4558.0, 908, 357},      {"b436b2", 64, "sjf", 7222, 21.6, 4556.8, 1101, 353},
    {"ee9e8c", 64, "fifo", 1053, 0.0, 104996.3, 0, 0},         {"ee9e8c", 64, "sjf", 1053, 0.0, 104996.3, 0, 0},
    {"e13805", 16, "fifo", 264, 0.0, 44007.6, 0, 0},           {"e13805", 16, "sjf", 264, 0.0, 44007.6, 0, 0},
    {"6c71a0", 32, "fifo", 9383, 0.5, 14187.7, 314, 16},       {"6c71a0", 32, "sjf", 9383, 0.5, 14187.7, 342, 16},
    {"2869ce", 16, "fifo", 315, 11343.4, 97749.2, 101822, 70}, {"2869ce", 16, "sjf", 315, 5144.5, 91550.3, 102672, 32},
    {"ed69ec", 8, "fifo", 1096, 4.1, 25463.1, 450, 11},        {"ed69ec", 8, "sjf", 1096, 4.1, 25463.1, 454, 11},
    {"103959", 8, "fifo", 1450, 246.2, 24783.5, 39944, 22},    {"103959", 8, "sjf", 1450, 44.4, 24581.7, 39944, 6},
    {"0e4a51", 32, "fifo", 1269, 0.0, 95703.2, 0, 0},          {"0e4a51", 32, "sjf", 1269, 0.0, 95703.2, 0, 0},
};

JobList philly(const char* cluster) {
  LogSelection selection;
  selection.queues = {cluster};
  selection.from = date_of("2017-10-01");
  selection.to = date_of("2017-12-01");
  JobLog log(selection);
  const auto& formats = log_formats();
  const auto sia = std::find_if(formats.begin(), formats.end(), [](const auto& each) { return each.name == "sia"; });
  sia->make()->read("scenarios/jobs/logs/philly_sia_subset.csv.gz", FileReader(), log);
  log.finish();
  return log.take();
}

double to_a_tenth(double value) { return std::round(value * 10) / 10; }

}  // namespace

TEST_CASE("Philly's virtual clusters wait to the second as long as an independent simulation says") {
  for (const Row& row : kRows) {
    CAPTURE(row.cluster);
    CAPTURE(row.scheduler);
    const JobList jobs = philly(row.cluster);
    const NodeList nodes = equal_nodes(row.nodes, 8);
    const JobsRun run = run_of(jobs, nodes, row.scheduler, R"({"backfill": "none"})", "consolidate");
    const JobsSummary summary = summary_of(run, jobs, nodes);
    CHECK(summary.completed == row.jobs);
    CHECK(summary.queued == row.queued);
    CHECK(summary.wait.most == row.longest_wait);
    CHECK(to_a_tenth(summary.wait.mean) == doctest::Approx(row.mean_wait));
    CHECK(to_a_tenth(summary.completion.mean) == doctest::Approx(row.mean_completion));
  }
}
