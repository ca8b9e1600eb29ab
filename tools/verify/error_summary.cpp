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

/// The greater of the two in the middle.
double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void count_intervals(const std::vector<Record>& records, ErrorBand& band) {
  std::vector<double> widths;
  for (const Record& record : records) {
    const bool counts = record.has(kError) && record.has(kTimeLow) && record.number(kTimeLow) > 0;
    if (!counts || size_of(record) < band.from || size_of(record) >= band.below) { continue; }
    const double measured = record.number(kMeasuredTime);
    const double low = record.number(kTimeLow);
    const double high = record.number(kTimeHigh);
    band.inside += low <= measured && measured <= high ? 1 : 0;
    widths.push_back(high / low - 1);
  }
  band.with_interval = widths.size();
  if (!widths.empty()) { band.median_width = median_of(std::move(widths)); }
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
  band.median = median_of(std::move(errors));
  count_intervals(records, band);
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

namespace {

std::string interval_words(const ErrorBand& band) {
  if (band.with_interval == 0) { return ""; }
  return fmt::format("; {} of {} within their intervals", band.inside, band.with_interval);
}

}  // namespace

std::string band_lines(const std::vector<ErrorBand>& bands) {
  std::string lines;
  for (const ErrorBand& band : bands) {
    if (band.points == 0) { continue; }
    lines += fmt::format("# {:<20} {:>2} points, mean |error| {:5.1f} %, worst {:+.1f} % at {}{}\n",
                         range_of(band) + ":", band.points, band.mean * 100, band.worst->number(kError) * 100,
                         to_string(size_of(*band.worst)), interval_words(band));
  }
  return lines;
}

}  // namespace athanor
