#include "tools/measure/report.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "models/execution/run.hpp"
#include "models/experiments/collective.hpp"
#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

double algorithm_bandwidth(const MeasuredRow& row) {
  return static_cast<double>(row.size.count()) / row.median_us / 1e3;
}

double bus_bandwidth(const MeasuredRow& row) {
  return algorithm_bandwidth(row) * bus_factor(row.collective.kind, row.collective.ranks);
}

std::string place_cells(const MeasuredRow* row) {
  if (row == nullptr) { return fmt::format(" {:>9} {:>7} {:>7} {:>6}", "-", "-", "-", "-"); }
  return fmt::format(" {} {} {} {:>6}", fitted(row->median_us, 9), fitted(algorithm_bandwidth(*row), 7),
                     fitted(bus_bandwidth(*row), 7), row->wrong);
}

std::string least_cell(const MeasuredRow* row) {
  return row == nullptr ? fmt::format("{:>9}", "-") : fitted(row->least_us, 9);
}

std::string line_of(const MeasuredRow* out_of_place, const MeasuredRow* in_place) {
  const MeasuredRow& row = out_of_place == nullptr ? *in_place : *out_of_place;
  return fmt::format("{:>12} {:>12} {:>9} {:>6} {:>5} {} {}  {:>5} {} {}  {:<24} {}\n", row.size.count(),
                     count_per_argument(row.collective), nccl_name(row.type),
                     reduces(row.collective.kind) ? nccl_name(row.reduction) : "none", printed_root(row.collective),
                     place_cells(out_of_place), place_cells(in_place), row.collective.ranks, least_cell(out_of_place),
                     least_cell(in_place), row.algorithm, row.backend);
}

std::string column_names() {
  const auto place = [](const char* time, const char* algbw, const char* busbw, const char* wrong) {
    return fmt::format(" {:>9} {:>7} {:>7} {:>6}", time, algbw, busbw, wrong);
  };
  const std::string names = place("time", "algbw", "busbw", "#wrong");
  const std::string units = place("(us)", "(GB/s)", "(GB/s)", "");
  return fmt::format("#{:>11} {:>12} {:>9} {:>6} {:>5} {:^33} {:^33}  {:>5}  {}\n", "", "", "", "", "", "out-of-place",
                     "in-place", "", "fastest iteration") +
         fmt::format("#{:>11} {:>12} {:>9} {:>6} {:>5} {} {}  {:>5} {:>9} {:>9}  {:<24} {}\n", "size", "count", "type",
                     "redop", "root", names, names, "ranks", "out", "in", "algorithm", "backend") +
         fmt::format("#{:>11} {:>12} {:>9} {:>6} {:>5} {} {}  {:>5} {:>9} {:>9}\n", "(B)", "(elements)", "", "", "",
                     units, units, "", "(us)", "(us)");
}

/// "2 channels, chunks of 64 KiB, 2 slices, 4 slots"
std::string cut(const MeasureRequest& request) {
  std::vector<std::string> parts;
  const auto counted = [&](std::uint32_t count, const char* what) {
    parts.push_back(fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"));
  };
  counted(request.channels, "channel");
  parts.push_back(request.chunk ? "chunks of " + to_string(*request.chunk) : "uncut chunks");
  counted(request.slices, "slice");
  if (request.slots) { counted(*request.slots, "slot"); }
  return fmt::format("{}", joined(parts, ", "));
}

std::string names_of(const std::vector<Backend*>& backends) {
  std::vector<std::string_view> names;
  for (const Backend* backend : backends) { names.push_back(backend->name()); }
  return fmt::format("{}", joined(names, ","));
}

/// The backends' versions and settings, each key once.
Measurement::Facts software_facts(const std::vector<Backend*>& backends) {
  Measurement::Facts facts;
  std::set<std::string> said;
  for (const Backend* backend : backends) {
    for (const auto& [key, value] : backend->facts()) {
      if (said.insert(key).second) { facts.emplace_back(key, value); }
    }
  }
  return facts;
}

std::vector<std::uint32_t> sides_of(const Dimensions& dimensions) {
  return {dimensions.begin(), std::find(dimensions.begin(), dimensions.end(), 0U)};
}

Measurement::Row to_row(const MeasuredRow& row, bool several_reductions, bool several_backends) {
  return {.bytes = row.size,
          .time_us = row.median_us,
          .min_us = row.least_us,
          .ranks = row.collective.ranks,
          .algorithm = row.algorithm,
          .collective = row.collective.kind,
          .in_place = row.collective.in_place,
          .type = row.type,
          .iterations = row.iterations,
          .reduction = several_reductions ? std::string(name(row.reduction)) : "",
          .backend = several_backends ? row.backend : "",
          .wrong = row.wrong};
}

}  // namespace

std::string measured_header(const MeasureRequest& request, const std::vector<Backend*>& backends,
                            const std::string& machine) {
  std::string lines = fmt::format("# {:<12} {}\n", "machine", machine);
  for (const Backend* backend : backends) {
    std::vector<std::string> facts;
    for (const auto& [key, value] : backend->facts()) { facts.push_back(key + " " + value); }
    lines += fmt::format("# {:<12} {}: {}\n", "backend", backend->name(), joined(facts, ", "));
  }
  lines += fmt::format("# {:<12} {}, {}\n", "collective", name(request.kind), cut(request));
  return lines +
         fmt::format("# {:<12} median of {} iterations after {} to warm up; rows of one size take turns\n#\n", "time",
                     request.iterations, request.warm_up) +
         column_names();
}

std::string measured_lines(const std::vector<MeasuredRow>& rows) {
  std::string lines;
  std::vector<const MeasuredRow*> told;
  for (const MeasuredRow& row : rows) {
    if (std::find(told.begin(), told.end(), &row) != told.end()) { continue; }
    const auto other = std::find_if(rows.begin(), rows.end(), [&](const MeasuredRow& each) {
      return each.algorithm == row.algorithm && each.backend == row.backend &&
             each.collective.in_place != row.collective.in_place;
    });
    const MeasuredRow* partner = other == rows.end() ? nullptr : &*other;
    told.push_back(partner);
    lines += row.collective.in_place ? line_of(partner, &row) : line_of(&row, partner);
  }
  return lines;
}

std::string measured_footer(const std::vector<MeasuredRow>& rows) {
  std::uint64_t wrong = 0;
  double sum = 0;
  for (const MeasuredRow& row : rows) {
    wrong += row.wrong;
    sum += bus_bandwidth(row);
  }
  std::string lines = fmt::format("# Out of bounds values : {} {}\n", wrong, wrong == 0 ? "OK" : "FAILED");
  if (!rows.empty()) {
    lines += fmt::format("# Avg bus bandwidth    : {:.4g}\n", sum / static_cast<double>(rows.size()));
  }
  return lines;
}

JsonValue measured_json(const MeasureRequest& request, const MeasuredRow& row) {
  return {{"collective", name(row.collective.kind)},
          {"algorithm", row.algorithm},
          {"channels", request.channels},
          {"ranks", row.collective.ranks},
          {"bytes", row.size.count()},
          {"type", name(row.type)},
          {"reduction", reduces(row.collective.kind) ? name(row.reduction) : "none"},
          {"root", printed_root(row.collective)},
          {"in_place", row.collective.in_place},
          {"backend", row.backend},
          {"time_us", row.median_us},
          {"min_time_us", row.least_us},
          {"algbw_gbps", algorithm_bandwidth(row)},
          {"busbw_gbps", bus_bandwidth(row)},
          {"iterations", row.iterations},
          {"wrong", row.wrong}};
}

Measurement to_measurement(const MeasureRequest& request, const std::vector<Backend*>& backends,
                           const std::vector<MeasuredRow>& rows) {
  Measurement measurement;
  measurement.kind = "athanor measure";
  measurement.software_facts = software_facts(backends);
  measurement.settings = MeasurementSettings{.backend = names_of(backends),
                                             .channels = request.channels,
                                             .chunk = request.chunk,
                                             .slices = request.slices,
                                             .slots = request.slots,
                                             .group = request.group,
                                             .dimensions = sides_of(request.dimensions),
                                             .rings = request.rings,
                                             .root = request.root,
                                             .warm_up = request.warm_up,
                                             .iterations = request.iterations};
  std::set<std::string_view> reductions;
  for (const MeasuredRow& row : rows) { reductions.insert(name(row.reduction)); }
  for (const MeasuredRow& row : rows) {
    measurement.rows.push_back(to_row(row, reductions.size() > 1, backends.size() > 1));
    measurement.healthy = measurement.healthy && row.wrong == 0;
  }
  measurement.settings->reduction = fmt::format("{}", joined(reductions, ","));
  if (!measurement.healthy) { measurement.notes = "some results were not what they should be: rows with \"wrong\""; }
  return measurement;
}

}  // namespace athanor
