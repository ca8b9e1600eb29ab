#include "tools/verify/published_table.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "sim/check.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

/// Runs of letters and digits.
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      all.back() += c;
    } else if (!all.back().empty()) {
      all.emplace_back();
    }
  }
  return all;
}

using Points = std::vector<TablePoint>;

double log_size(const TablePoint& point) { return std::log(static_cast<double>(point.size.count())); }
double log_time(const TablePoint& point) { return std::log(point.time_us); }

double slope(const TablePoint& a, const TablePoint& b) {
  return (log_time(b) - log_time(a)) / (log_size(b) - log_size(a));
}

/// Logarithm of the time at `size` on the line through two others.
double on_line(const TablePoint& a, const TablePoint& b, const TablePoint& at) {
  return log_time(a) + slope(a, b) * (log_size(at) - log_size(a));
}

/// Where the two points on one `side` of point i, before it (-1) or after it (1), go on to at its size.
double going_on(const Points& points, std::ptrdiff_t i, std::ptrdiff_t side) {
  const auto at = [&](std::ptrdiff_t place) -> const TablePoint& { return points[static_cast<std::size_t>(place)]; };
  const TablePoint& near = at(i + side);
  const std::ptrdiff_t behind = i + 2 * side;
  const bool alone = behind < 0 || behind >= static_cast<std::ptrdiff_t>(points.size());
  const double steepness = alone ? (side < 0 ? 1.0 : 0.0) : std::clamp(slope(near, at(behind)), 0.0, 1.0);
  return log_time(near) + steepness * (log_size(at(i)) - log_size(near));
}

bool is_spike(const Points& points, std::size_t i) {
  const auto place = static_cast<std::ptrdiff_t>(i);
  const double highest = std::max(
      {on_line(points[i - 1], points[i + 1], points[i]), going_on(points, place, -1), going_on(points, place, 1)});
  return log_time(points[i]) > highest + std::log(1.2);
}

}  // namespace

KnownChoice known_choice(const std::string& algo) {
  KnownChoice known;
  const std::vector<std::string> all = words(algo);
  known.forced = all.front() != "auto";
  for (const std::string& word : all) {
    if (const auto algorithm = nccl_algorithm(word)) { known.algorithms.push_back(*algorithm); }
  }
  return known;
}

std::optional<NcclAlgorithm> nccl_algorithm_of(const Record& record) {
  const std::string name = record.string(kAlgorithm);
  if (const auto own = nccl_algorithm_of(std::string_view(name))) { return own; }
  if (name == "double_binary_tree") { return NcclAlgorithm::tree; }  // of profiles without "nccl"
  return std::nullopt;
}

bool agrees(const KnownChoice& known, const std::vector<Record>& records) {
  require(!known.algorithms.empty() && !records.empty(), "nothing to agree with");
  const auto runs_it = [&](const Record& record) {
    const auto algorithm = nccl_algorithm_of(record);
    return algorithm &&
           std::find(known.algorithms.begin(), known.algorithms.end(), *algorithm) != known.algorithms.end();
  };
  return known.forced ? std::all_of(records.begin(), records.end(), runs_it) : runs_it(records.back());
}

std::string choices_by_size(const std::vector<Record>& records) {
  std::string text;
  std::string algorithm;
  std::string protocol;
  for (const Record& record : records) {
    const bool first = text.empty();
    const bool same_algorithm = !first && algorithm == record.string(kAlgorithm);
    if (same_algorithm && protocol == record.string(kProtocol)) { continue; }
    algorithm = record.string(kAlgorithm);
    protocol = record.string(kProtocol);
    text += fmt::format("{}{}{}{}", first ? "" : ", ", same_algorithm ? "" : algorithm + " ", protocol,
                        first ? "" : " from " + to_string(size_of(record)));
  }
  return text;
}

void mark_spikes(Points& points) {
  for (std::size_t i = 1; i + 1 < points.size(); ++i) { points[i].spike = is_spike(points, i); }
}

Points measured_points(const Measurement& measurement, const Measurement::Wanted& wanted) {
  std::set<Bytes> sizes;
  for (const Measurement::Row& row : measurement.rows) {
    if (row.bytes > Bytes::zero()) { sizes.insert(row.bytes); }
  }
  Points points;
  for (const Bytes size : sizes) {
    const Measurement::Row* row = measurement.find(wanted, size);
    if (row != nullptr) { points.push_back({size, *row->time_us}); }
  }
  mark_spikes(points);
  return points;
}

std::optional<double> noise(const Points& points, Bytes from, Bytes below) {
  Points smooth;
  std::copy_if(points.begin(), points.end(), std::back_inserter(smooth),
               [](const TablePoint& point) { return !point.spike; });
  double sum = 0;
  int counted = 0;
  for (std::size_t i = 1; i + 1 < smooth.size(); ++i) {
    if (smooth[i].size < from || smooth[i].size >= below) { continue; }
    const double line = on_line(smooth[i - 1], smooth[i + 1], smooth[i]);
    sum += std::abs(std::exp(log_time(smooth[i]) - line) - 1);
    ++counted;
  }
  return counted == 0 ? std::nullopt : std::optional(sum / counted);
}

}  // namespace athanor
