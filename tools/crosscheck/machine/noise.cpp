#include "tools/crosscheck/machine/noise.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <span>

#include <fmt/core.h>

namespace athanor {

namespace {

struct Part {
  double mean = 0;
  double squares = 0;  ///< of the distances from it
};

Part part_of(std::span<const double> values) {
  Part part;
  for (const double value : values) { part.mean += value / static_cast<double>(values.size()); }
  for (const double value : values) { part.squares += (value - part.mean) * (value - part.mean); }
  return part;
}

}  // namespace

std::optional<TwoModes> two_modes(const std::vector<double>& times) {
  constexpr std::size_t kFewest = 12;
  constexpr std::size_t kLeastShare = 6;  // one in so many
  constexpr double kApart = 1.25;
  constexpr double kDeviations = 5;
  constexpr double kEmpty = 0.5;  // of the distance
  if (times.size() < kFewest) { return std::nullopt; }
  std::vector<double> logarithms;
  for (const double time : times) { logarithms.push_back(std::log(time)); }
  std::sort(logarithms.begin(), logarithms.end());
  const std::span<const double> all(logarithms);
  const std::size_t least = all.size() / kLeastShare;
  Part lower;
  Part upper;
  std::size_t cut = 0;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = least; i + least <= all.size(); ++i) {
    const Part one = part_of(all.first(i));
    const Part other = part_of(all.subspan(i));
    if (one.squares + other.squares >= best) { continue; }
    best = one.squares + other.squares;
    lower = one;
    upper = other;
    cut = i;
  }
  const double distance = upper.mean - lower.mean;
  const double deviation = std::sqrt(best / static_cast<double>(all.size()));
  const bool apart = distance >= std::log(kApart) && distance >= kDeviations * deviation;
  if (!apart || all[cut] - all[cut - 1] < kEmpty * distance) { return std::nullopt; }
  return TwoModes{std::exp(lower.mean), std::exp(upper.mean),
                  static_cast<double>(all.size() - cut) / static_cast<double>(all.size())};
}

std::optional<double> load_average(const std::string& root) {
  std::ifstream file(root + "/proc/loadavg");
  double load = 0;
  return file >> load ? std::optional(load) : std::nullopt;
}

std::string load_warning(double load, unsigned processors, unsigned threads) {
  constexpr double kSome = 0.25;  // of a processor: what systems do beside
  if (load + threads <= processors + kSome) { return ""; }
  return fmt::format("the load of the last minute is {:.2f}, and {} of {} processors are to be idle", load,
                     std::min(threads, processors), processors);
}

}  // namespace athanor
