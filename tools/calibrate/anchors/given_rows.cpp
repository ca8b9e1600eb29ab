#include "tools/calibrate/anchors/given_rows.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/import/import_measurement.hpp"

namespace athanor {

namespace {

std::string time_text(double time_us) { return to_string(Time{std::llround(time_us * 1e6)}); }

TablePoint point_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw UsageError(fmt::format("calibrate: --row '{}' is no size with its time, as in --row 8B=31us", text));
  }
  const Bytes size = quantity_in("calibrate", "row", text.substr(0, equals), &parse_bytes);
  const Time time = quantity_in("calibrate", "row", text.substr(equals + 1), &parse_time);
  if (size <= Bytes::zero() || time <= Time::zero()) {
    throw UsageError(fmt::format("calibrate: --row '{}': both are more than nothing", text));
  }
  return {size, microseconds(time)};
}

void check_elements(const TablePoint& point, const CollectiveSetup& setup) {
  if (point.size % size_of(setup.type) == Bytes::zero()) { return; }
  throw UsageError(fmt::format("calibrate: --row {}: no whole number of {} elements of {}", written(point.size),
                               name(setup.type), to_string(size_of(setup.type))));
}

Problem contradiction(const GivenRows& rows, const TablePoint& one, const TablePoint& other) {
  const bool same = one.size == other.size;
  return {"rows-contradict",
          fmt::format("{} and {} contradict each other: {}", rows.name(one), rows.name(other),
                      same ? "one size has two times" : "a larger payload took less"),
          {rows.file, 0, 0, ""},
          same ? "keep one of them, or their median" : "is one of them in another unit, or of a disturbed machine?"};
}

/// Each size once, and none much faster than a smaller one.
void check_order(GivenRows& rows) {
  constexpr double kNoise = 1.1;
  std::vector<TablePoint>& points = rows.points;
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  Problems problems;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const TablePoint& before = points[i - 1];
    const TablePoint& here = points[i];
    const bool two_times = before.size == here.size && before.time_us != here.time_us;
    if (two_times || before.time_us > kNoise * here.time_us) { problems.add(contradiction(rows, before, here)); }
  }
  problems.throw_if_any();
  const auto same = [](const TablePoint& a, const TablePoint& b) { return a.size == b.size; };
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
}

/// What a table holds beside the times of a quiet machine.
void leave_out_disturbed(GivenRows& rows) {
  constexpr double kNoise = 1.25;
  std::vector<TablePoint> kept;
  double least = INFINITY;  // of the larger ones
  for (auto each = rows.points.rbegin(); each != rows.points.rend(); ++each) {
    if (each->spike || each->time_us > kNoise * least) {
      rows.left_out.push_back(
          fmt::format("{}: {}", rows.name(*each), each->spike ? "an isolated spike" : "a larger payload took less"));
      continue;
    }
    least = std::min(least, each->time_us);
    kept.push_back(*each);
  }
  std::reverse(kept.begin(), kept.end());
  if (3 * rows.left_out.size() > rows.points.size()) {
    throw ScenarioError({"rows-contradict",
                         fmt::format("{} of {} rows are spikes or took longer than larger payloads, the first: {}",
                                     rows.left_out.size(), rows.points.size(), rows.left_out.back()),
                         {rows.file, 0, 0, ""},
                         "measure again on a quiet machine"});
  }
  rows.points = std::move(kept);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// A measurement file, which has bandwidths as the texts of other programs do.
bool is_measurement(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' && has(text, "\"rows\"");
}

/// A text of another program; false: it is none.
bool import_text(const CollectiveSetup& setup, GivenRows& rows, Problems& problems) {
  const auto format = recognised(rows.text);
  if (is_measurement(rows.text) || !format || *format == ImportFormat::msccl) { return false; }
  ImportHints hints;
  if (!has(rows.text, "_perf") && *format != ImportFormat::osu) { hints.collective = setup.kind; }
  if (!has(rows.text, " Rank ")) { hints.ranks = setup.ranks; }
  rows.measurement = import_measurement(rows.text, rows.file, *format, hints, problems);
  return true;
}

void take_points(const CollectiveSetup& setup, GivenRows& rows) {
  const std::string algorithm = setup.algorithms.size() == 1 ? setup.algorithms.front()->name : "";
  rows.points = measured_points(rows.measurement, setup.measured_like(algorithm));
  std::erase_if(rows.points, [&](const TablePoint& point) {
    return point.time_us <= 0 || point.size % size_of(setup.type) != Bytes::zero();
  });
  if (!rows.points.empty()) { return; }
  throw ScenarioError(
      {"no-rows",
       fmt::format("no row is of {} over {} ranks, which the scenario simulates", name(setup.kind), setup.ranks),
       {rows.file, 0, 0, ""},
       "name the table of such a run, or a scenario of what was measured"});
}

}  // namespace

std::string GivenRows::name(const TablePoint& point) const {
  const std::string time = time_text(point.time_us);
  if (file.empty()) {
    return fmt::format("--row {}={}", written(point.size), written(Time{std::llround(point.time_us * 1e6)}));
  }
  return fmt::format("{} in {}", to_string(point.size), time);
}

GivenRows given_rows(const std::vector<std::string>& texts, const CollectiveSetup& setup) {
  GivenRows rows;
  for (const std::string& text : texts) {
    rows.points.push_back(point_of(text));
    check_elements(rows.points.back(), setup);
  }
  check_order(rows);
  Measurement& measurement = rows.measurement;
  measurement.id = "rows given by hand";
  measurement.source = "athanor calibrate --row";
  measurement.collective = setup.kind;
  measurement.ranks = setup.ranks;
  for (const TablePoint& point : rows.points) {
    measurement.rows.push_back(
        {.bytes = point.size, .time_us = point.time_us, .ranks = setup.ranks, .collective = setup.kind});
  }
  return rows;
}

GivenRows read_given_rows(const std::string& path, const FileReader& files, const CollectiveSetup& setup) {
  GivenRows rows;
  rows.file = path;
  rows.text = files.text(path);
  Problems problems;
  if (!import_text(setup, rows, problems)) {
    rows.text.clear();
    rows.measurement = read_measurement(files, path, problems);
  }
  problems.throw_if_any();
  take_points(setup, rows);
  leave_out_disturbed(rows);
  return rows;
}

}  // namespace athanor
