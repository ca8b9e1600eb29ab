#include "tools/report/error_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "sim/format.hpp"
#include "tools/report/table.hpp"

namespace athanor {

namespace {

using namespace literals;

std::string range_of(const ErrorBand& band) {
  if (band.from == Bytes::zero()) { return "below " + to_string(band.below); }
  if (band.below == Bytes::max()) { return "from " + to_string(band.from) + " on"; }
  return fmt::format("{} up to {}", to_string(band.from), to_string(band.below));
}

}  // namespace

ErrorBand error_band(const std::vector<ResultRow>& rows, Bytes from, Bytes below) {
  ErrorBand band{.from = from, .below = below, .worst = {}};
  std::vector<double> errors;
  for (const ResultRow& row : rows) {
    const auto relative = error(row);
    if (!relative || row.run.size < from || row.run.size >= below) { continue; }
    errors.push_back(std::abs(*relative));
    if (!band.worst || std::abs(*relative) > std::abs(*error(*band.worst))) { band.worst = row; }
  }
  if (errors.empty()) { return band; }
  band.points = errors.size();
  band.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  band.median = *middle;
  return band;
}

std::vector<ErrorBand> error_bands(const std::vector<ResultRow>& rows) {
  return {error_band(rows, 0_B, 1_MiB), error_band(rows, 1_MiB, 64_MiB), error_band(rows, 64_MiB, Bytes::max())};
}

std::string error_header_lines() {
  return fmt::format("#{:>11} {:>9} {:>9} {:>8}  {:>8} {:>8}  {:<20} {}\n#{:>11} {:>9} {:>9} {:>8}  {:>8} {:>8}\n",
                     "size", "measured", "simulated", "error", "measured", "simul.", "algorithm", "protocol", "(B)",
                     "(us)", "(us)", "(%)", "busbw", "busbw");
}

std::string error_line(const ResultRow& row) {
  const double bus = bus_bandwidth(row);
  const std::string simulated = fitted(microseconds(row.run.time), 9);
  const auto relative = error(row);
  if (!relative) {
    return fmt::format("{:>12} {:>9} {} {:>8}  {:>8} {}  {:<20} {}\n", row.run.size.count(), "-", simulated, "-", "-",
                       fitted(bus, 8), row.run.algorithm, row.run.protocol);
  }
  return fmt::format("{:>12} {} {} {:>+8.1f}  {} {}  {:<20} {}\n", row.run.size.count(), fitted(*row.measured_us, 9),
                     simulated, *relative * 100, fitted(bus * (1 + *relative), 8), fitted(bus, 8), row.run.algorithm,
                     row.run.protocol);
}

std::string band_lines(const std::vector<ErrorBand>& bands) {
  std::string lines;
  for (const ErrorBand& band : bands) {
    if (band.points == 0) { continue; }
    lines += fmt::format("# {:<20} {:>2} points, mean |error| {:5.1f} %, worst {:+.1f} % at {}\n", range_of(band) + ":",
                         band.points, band.mean * 100, *error(*band.worst) * 100, to_string(band.worst->run.size));
  }
  return lines;
}

}  // namespace athanor
