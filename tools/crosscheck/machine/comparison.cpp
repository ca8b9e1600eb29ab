#include "tools/crosscheck/machine/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/interval.hpp"
#include "models/experiments/run.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "models/experiments/table.hpp"
#include "sim/check.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using Json = JsonValue;
using Asked = std::pair<CollectiveKind, std::uint32_t>;  // and ranks

Json scenario_of(const Asked& asked, const std::set<Bytes>& sizes, const Json& profile, const Json& cluster) {
  Json collective{{"kind", name(asked.first)}, {"algorithm", "each"}, {"ranks", asked.second}};
  if (asked.first != CollectiveKind::barrier) {
    Json list = Json::list();
    for (const Bytes size : sizes) { list.push_back(written(size)); }
    collective["sizes"] = std::move(list);
  }
  return {{"cluster", cluster}, {"collective", std::move(collective)}, {"profile", profile}};
}

/// What was simulated, by algorithm and size.
using Times = std::map<std::pair<std::string, Bytes>, Record>;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) { lines.push_back(line.substr(begin)); }
  }
  return lines;
}

/// None where nothing can run the collective with the profile, which `why_not` then says.
Times simulated(const Json& scenario, const Library& library, std::string& why_not) {
  ScenarioReader reader(library);
  Problems problems;
  const Scenario read = reader.read_text(text_of(scenario, 0), "crosscheck", {}, problems);
  const std::vector<Problem>& found = problems.list();
  if (found.size() == 1 && found.front().code == "algorithm-does-not-fit") {
    why_not = fmt::format("{}", joined(lines_of(found.front().message), " "));
    return {};
  }
  problems.throw_if_any();
  Times times;
  for (const Record& record : run(read, read.cases.front())) {
    times[{record.string(kAlgorithm), size_of(record)}] = record;
  }
  return times;
}

ComparedRow compared_row(const MeasuredRow& measured, const Record& record) {
  ComparedRow row{.measured = measured, .simulated_us = record.number(kTime), .modes = two_modes(measured.times_us)};
  if (record.has(kTimeLow)) { row.interval_us = {record.number(kTimeLow), record.number(kTimeHigh)}; }
  return row;
}

/// Rows with an interval, and how many of them lie within it.
struct Inside {
  std::size_t known = 0;
  std::size_t inside = 0;
};

Inside inside_of(const std::vector<ComparedRow>& rows) {
  Inside found;
  for (const ComparedRow& row : rows) {
    if (!row.interval_us) { continue; }
    ++found.known;
    found.inside += row.inside() ? 1 : 0;
  }
  return found;
}

/// "; 3 of 4 within their intervals of 80 %"; "": none has one.
std::string coverage_text(const std::vector<ComparedRow>& rows) {
  const Inside found = inside_of(rows);
  if (found.known == 0) { return ""; }
  return fmt::format("; {} of {} within their intervals of 80 %", found.inside, found.known);
}

std::string errors_line(const std::string& what, const std::vector<ComparedRow>& rows) {
  double worst = 0;
  for (const ComparedRow& row : rows) { worst = std::max(worst, std::abs(row.error())); }
  return fmt::format("# {:<16} {:>4} points, median |error| {:5.1f} %, worst {:6.1f} %{}\n", what + ":", rows.size(),
                     median_error(rows) * 100, worst * 100, coverage_text(rows));
}

/// With a gap before it; a row that has none is in a table with others that do.
std::string interval_cell(const ComparedRow& row) {
  if (!row.interval_us) { return fmt::format(" {:>11}", "none"); }
  const auto& [low, high] = *row.interval_us;
  return fmt::format(" {:>11}", interval_text(low / row.simulated_us, high / row.simulated_us));
}

std::string remark(const ComparedRow& row) {
  if (row.measured.wrong > 0) { return "  WRONG"; }
  const std::string outside = row.interval_us && !row.inside() ? "  outside" : "";
  return outside + (row.modes ? "  two modes" : "");
}

}  // namespace

bool ComparedRow::inside() const {
  require(interval_us.has_value(), "within what interval?");
  return interval_us->first <= measured.median_us && measured.median_us <= interval_us->second;
}

Compared compared(const std::vector<MeasuredRow>& rows, const Json& profile,
                  const std::function<Json(std::uint32_t ranks)>& cluster, const Library& library) {
  std::map<Asked, std::set<Bytes>> all;
  for (const MeasuredRow& row : rows) { all[{row.collective.kind, row.collective.ranks}].insert(row.size); }
  std::map<Asked, Times> times;
  Compared result;
  for (const auto& [asked, sizes] : all) {
    std::string why_not;
    times[asked] = simulated(scenario_of(asked, sizes, profile, cluster(asked.second)), library, why_not);
    if (!why_not.empty()) { result.left_out.push_back(fmt::format("{}: {}", name(asked.first), why_not)); }
  }
  for (const MeasuredRow& row : rows) {
    const Times& known = times[{row.collective.kind, row.collective.ranks}];
    const auto found = known.find({row.algorithm, row.size});
    if (found != known.end()) { result.rows.push_back(compared_row(row, found->second)); }
  }
  return result;
}

std::string table_of(const std::vector<ComparedRow>& rows) {
  const bool intervals = coverage(rows).has_value();
  const auto head = [&](const char* interval) { return intervals ? fmt::format(" {:>11}", interval) : ""; };
  std::string text = fmt::format("# {:<16} {:<24} {:>5} {:>10} {:>10} {:>10}{} {:>8}\n", "collective", "algorithm",
                                 "ranks", "size", "measured", "simulated", head("interval"), "error");
  text += fmt::format("# {:<16} {:<24} {:>5} {:>10} {:>10} {:>10}{} {:>8}\n", "", "", "", "", "(us)", "(us)",
                      head("(80 %)"), "(%)");
  for (const ComparedRow& row : rows) {
    text += fmt::format("  {:<16} {:<24} {:>5} {:>10} {} {}{} {:>+8.1f}{}\n", name(row.measured.collective.kind),
                        row.measured.algorithm, row.measured.collective.ranks, to_string(row.measured.size),
                        fitted(row.measured.median_us, 10), fitted(row.simulated_us, 10),
                        intervals ? interval_cell(row) : "", row.error() * 100, remark(row));
  }
  return text;
}

std::string error_lines(const std::vector<ComparedRow>& rows) {
  std::map<CollectiveKind, std::vector<ComparedRow>> by_kind;
  for (const ComparedRow& row : rows) { by_kind[row.measured.collective.kind].push_back(row); }
  std::string text;
  for (const auto& [kind, some] : by_kind) { text += errors_line(std::string(name(kind)), some); }
  return rows.empty() ? text : text + errors_line("all", rows);
}

double median_error(const std::vector<ComparedRow>& rows) {
  require(!rows.empty(), "the error of something");
  std::vector<double> errors;
  for (const ComparedRow& row : rows) { errors.push_back(std::abs(row.error())); }
  return median(std::move(errors));
}

std::optional<double> coverage(const std::vector<ComparedRow>& rows) {
  const Inside found = inside_of(rows);
  if (found.known == 0) { return std::nullopt; }
  return static_cast<double>(found.inside) / static_cast<double>(found.known);
}

Json json_of(const ComparedRow& row) {
  const MeasuredRow& measured = row.measured;
  Json json{{"collective", name(measured.collective.kind)},
            {"algorithm", measured.algorithm},
            {"ranks", measured.collective.ranks},
            {"bytes", measured.size.count()},
            {"measured_time_us", measured.median_us},
            {"min_time_us", measured.least_us},
            {"iterations", measured.iterations},
            {"wrong", measured.wrong},
            {"time_us", row.simulated_us},
            {"error", row.error()}};
  if (row.interval_us) {
    json[std::string(kTimeLow.key)] = row.interval_us->first;
    json[std::string(kTimeHigh.key)] = row.interval_us->second;
    json["within_interval"] = row.inside();
  }
  if (row.modes) {
    json["modes"] = {
        {"lower_us", row.modes->lower}, {"upper_us", row.modes->upper}, {"upper_share", row.modes->upper_share}};
  }
  return json;
}

}  // namespace athanor
