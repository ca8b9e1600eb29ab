#include "tools/verify/error_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

using namespace literals;

constexpr Column kSimulatedTime{"", "simulated", "(us)", 9};
constexpr Column kMeasuredBus{"", "measured", "busbw", 8, Format::figure, 2};
constexpr Column kSimulatedBus{"", "simul.", "busbw", 8};

std::string range_of(const ErrorBand& band) {
  if (band.from == Bytes::zero()) { return "below " + to_string(band.below); }
  if (band.below == Bytes::max()) { return "from " + to_string(band.from) + " on"; }
  return fmt::format("{} up to {}", to_string(band.from), to_string(band.below));
}

}  // namespace

ErrorBand error_band(const std::vector<Record>& records, Bytes from, Bytes below) {
  ErrorBand band{.from = from, .below = below, .worst = {}};
  std::vector<double> errors;
  for (const Record& record : records) {
    if (!record.has(kError) || size_of(record) < from || size_of(record) >= below) { continue; }
    const double error = std::abs(record.number(kError));
    errors.push_back(error);
    if (!band.worst || error > std::abs(band.worst->number(kError))) { band.worst = record; }
  }
  if (errors.empty()) { return band; }
  band.points = errors.size();
  band.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  band.median = *middle;
  return band;
}

std::vector<ErrorBand> error_bands(const std::vector<Record>& records) {
  return {error_band(records, 0_B, 1_MiB), error_band(records, 1_MiB, 64_MiB),
          error_band(records, 64_MiB, Bytes::max())};
}

std::vector<const Column*> error_columns() {
  return {&kBytes, &kMeasuredTime, &kSimulatedTime, &kError, &kMeasuredBus, &kSimulatedBus, &kAlgorithm, &kProtocol};
}

Record with_errors(Record record) {
  const double bus = record.number(kBusBandwidth);
  record.put(kSimulatedTime, record.number(kTime));
  record.put(kSimulatedBus, bus);
  if (record.has(kError)) { record.put(kMeasuredBus, bus * (1 + record.number(kError))); }
  return record;
}

std::string band_lines(const std::vector<ErrorBand>& bands) {
  std::string lines;
  for (const ErrorBand& band : bands) {
    if (band.points == 0) { continue; }
    lines +=
        fmt::format("# {:<20} {:>2} points, mean |error| {:5.1f} %, worst {:+.1f} % at {}\n", range_of(band) + ":",
                    band.points, band.mean * 100, band.worst->number(kError) * 100, to_string(size_of(*band.worst)));
  }
  return lines;
}

}  // namespace athanor
