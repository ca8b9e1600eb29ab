#include "tools/calibrate/tables/mpi_tables.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/experiments/scenario/scenario.hpp"
#include "models/library/library.hpp"
#include "sim/error.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

constexpr int kSizes = 13;  // 4 B to 16 KiB

/// A table of all-reduces over 8 processes with these times, as OSU's benchmark prints them.
std::string table(const std::vector<double>& times_us) {
  std::string rows;
  for (std::size_t i = 0; i < times_us.size(); ++i) {
    rows += fmt::format("{}{{\"bytes\": {}, \"time_us\": {:.6f}}}", i == 0 ? "" : ", ", 4U << i, times_us[i]);
  }
  return fmt::format(R"({{"id": "table", "source": "simulated", "kind": "osu-mpi", "collective": "all_reduce",
    "hardware": {{"gpu": "none", "gpus_per_node": 0, "nodes": 2, "ranks": 8, "ranks_per_node": 4}},
    "software": {{"mpi": "none", "algo": "auto"}}, "url": "none", "date": "2026-11-27", "dtype": "float",
    "in_place": false, "rows": [{}]}})",
                     rows);
}

/// Two nodes of four processes; `more`: further keys, each followed by a comma.
std::string scenario(const std::string& more) {
  return fmt::format(R"({{{} "cluster": {{"node": {{"preset": "AWS-hpc7g-4xlarge", "processes": 4}}, "nodes": 2,
    "fabric": {{"kind": "star", "link": {{"rate": "200Gb/s", "latency": "1us"}}}}}},
    "collective": {{"kind": "all_reduce", "sizes": "4B..16KiB"}}, "verify": {{"measurement": "table.json"}}}})",
                     more);
}

Tables tables_of(const Folder& folder, const std::string& text) {
  return Tables::of({read_scenario(folder.write("s.json", text), Library(ATHANOR_TEST_SCENARIOS))});
}

constexpr const char* kSoftware = R"("software": {"mpi": "open-mpi", "release": "4.1"},)";

}  // namespace

TEST_CASE("a fit of tables of MPI finds times again that a profile of MPI makes") {
  const Folder folder;
  folder.write("table.json", table(std::vector<double>(kSizes, 1.0)));
  const std::string truth = R"("profile": {"reduce_rate": "3GB/s", "overlapped": false, "protocols": [{"name": "mpi",
    "overhead": "300ns", "node": {"latency": "700ns", "rate": "3GB/s"}, "network": {"latency": "9us",
    "efficiency": 0.8}}]},)";
  Tables made = tables_of(folder, scenario(truth + kSoftware));
  REQUIRE(made.rows.size() == kSizes);
  std::vector<double> times;
  for (const TableRow& row : made.rows) { times.push_back(simulated_us(made.cases[row.in_case], row)); }
  folder.write("table.json", table(times));
  const MpiTablesFit fit = fit_mpi_tables(tables_of(folder, scenario(kSoftware)), {.evaluations = 150});
  REQUIRE(fit.residuals.size() == kSizes);
  double sum = 0;
  for (const double residual : fit.residuals) {
    CHECK(std::abs(residual) < 0.1);
    sum += std::abs(residual);
  }
  CHECK(sum / kSizes < 0.03);  // what is expected of figures beforehand counts, too
  const auto network = std::find_if(fit.figures.begin(), fit.figures.end(),
                                    [](const MpiFigure& each) { return each.name == "network.latency"; });
  REQUIRE(network != fit.figures.end());
  CHECK(network->get(fit.profile) == doctest::Approx(9e6).epsilon(0.35));
}

TEST_CASE("tables of MPI and others are not fitted together") {
  const Folder folder;
  folder.write("table.json", table(std::vector<double>(kSizes, 1.0)));
  const Tables with = tables_of(folder, scenario(kSoftware));
  const Tables without = tables_of(folder, scenario(""));
  CHECK(are_of_mpi(with));
  CHECK_FALSE(are_of_mpi(without));
  Tables both = with;
  both.cases.push_back(without.cases.front());
  CHECK_THROWS_AS(are_of_mpi(both), UsageError);
}
