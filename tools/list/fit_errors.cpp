#include "tools/list/fit_errors.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "models/software/software_pool.hpp"
#include "sim/percentile.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

void collect_numbers(const Json& value, std::vector<double>& numbers) {
  if (value.is_number()) { numbers.push_back(value.number()); }
  if (!value.is_list()) { return; }
  for (const Json& each : value.elements()) { collect_numbers(each, numbers); }
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) { return std::nullopt; }
  std::sort(values.begin(), values.end());
  return percentile(values, 50);
}

constexpr std::array<const char*, kSizeBands> kBands{"below_1MiB", "to_64MiB", "above"};

/// Of one entry of "calibration": medians over tables, of all and of each band of sizes, or what calibrations on probes
/// say.
Json medians_of(const Json& entry) {
  if (entry.contains("median_error")) { return {{"median", entry.number_at("median_error")}}; }
  std::vector<double> all;
  std::array<std::vector<double>, kSizeBands> by_band;
  for (const auto& [table, bands] : entry.members()) {
    collect_numbers(bands, all);
    for (std::size_t i = 0; bands.is_list() && i < std::min(bands.size(), kSizeBands); ++i) {
      collect_numbers(bands.elements()[i], by_band.at(i));
    }
  }
  Json medians = Json::object();
  const auto add = [&](const char* key, const std::vector<double>& errors) {
    if (const auto error = median(errors)) { medians[key] = *error; }
  };
  add("median", all);
  for (std::size_t i = 0; i < kSizeBands; ++i) { add(kBands.at(i), by_band.at(i)); }
  return medians;
}

std::string short_percent(double error) { return fmt::format("{:.{}f}", error * 100, error < 0.0995 ? 1 : 0); }

}  // namespace

Json fit_errors(const Json& file) {
  Json errors = Json::object();
  const Json* calibration = file.find("calibration");
  if (calibration == nullptr) { return errors; }
  for (const auto& [key, entry] : calibration->members()) {
    const bool judged = key == "fit" || key.starts_with("hold_out");
    if (!judged || !entry.is_object()) { continue; }
    Json medians = medians_of(entry);
    if (!medians.empty()) { errors[key] = std::move(medians); }
  }
  return errors;
}

std::string by_band(const Json* medians) {
  if (medians == nullptr) { return "-"; }
  std::vector<std::string> words;
  bool told_apart = false;
  for (const char* band : kBands) {
    const Json* error = medians->find(band);
    told_apart = told_apart || error != nullptr;
    words.push_back(error == nullptr ? "-" : short_percent(error->number()));
  }
  return told_apart ? std::string(joined(words, "/")) : short_percent(medians->number_at("median"));
}

}  // namespace athanor
