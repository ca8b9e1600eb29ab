#include "sim/format.hpp"

#include <array>
#include <span>

#include <fmt/core.h>

namespace athanor {

namespace {

struct Scale {
  std::string_view name;
  std::int64_t worth;
};

constexpr auto kTimeScales = std::to_array<Scale>(
    {{"s", 1'000'000'000'000}, {"ms", 1'000'000'000}, {"us", 1'000'000}, {"ns", 1'000}, {"ps", 1}});
constexpr auto kWallTimeScales = std::to_array<Scale>({{"s", 1'000'000}, {"ms", 1'000}, {"us", 1}});
constexpr auto kBinaryScales =
    std::to_array<Scale>({{"TiB", 1LL << 40}, {"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}});
constexpr auto kDecimalScales =
    std::to_array<Scale>({{"TB", 1'000'000'000'000}, {"GB", 1'000'000'000}, {"MB", 1'000'000}, {"kB", 1'000}});
constexpr auto kRateScales = std::to_array<Scale>(
    {{"TB/s", 1'000'000'000'000}, {"GB/s", 1'000'000'000}, {"MB/s", 1'000'000}, {"kB/s", 1'000}, {"B/s", 1}});

/// |count|, also of the least of all.
std::uint64_t magnitude(std::int64_t count) {
  const auto bits = static_cast<std::uint64_t>(count);
  return count < 0 ? 0 - bits : bits;
}

/// numerator / denominator in all its digits. Requires the denominator to be a power of ten.
std::string decimal(std::int64_t numerator, std::int64_t denominator) {
  const std::uint64_t whole = magnitude(numerator) / static_cast<std::uint64_t>(denominator);
  const std::uint64_t rest = magnitude(numerator) % static_cast<std::uint64_t>(denominator);
  std::string text = fmt::format("{}{}", numerator < 0 ? "-" : "", whole);
  if (rest == 0) { return text; }
  const auto places = fmt::formatted_size("{}", denominator) - 1;
  text += fmt::format(".{:0{}}", rest, places);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

/// In the largest unit that is not larger than the value; the last one for all smaller values.
std::string in_scale(std::int64_t count, std::span<const Scale> scales) {
  for (const Scale& scale : scales) {
    if (magnitude(count) >= static_cast<std::uint64_t>(scale.worth)) {
      return fmt::format("{} {}", decimal(count, scale.worth), scale.name);
    }
  }
  return fmt::format("{} {}", count, scales.back().name);
}

}  // namespace

std::string to_string(Time time) { return in_scale(time.count(), kTimeScales); }

std::string to_string(WallTime time) {
  static constexpr auto kWhole =
      std::to_array<Scale>({{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"min", 60'000'000}});
  for (const Scale& scale : kWhole) {
    if (time.count() != 0 && time.count() % scale.worth == 0) {
      return fmt::format("{} {}", time.count() / scale.worth, scale.name);
    }
  }
  return in_scale(time.count(), kWallTimeScales);
}

std::string to_string(Bandwidth bandwidth) { return in_scale(bandwidth.count(), kRateScales); }

std::string to_string(Bytes bytes) {
  const std::int64_t count = bytes.count();
  for (const Scale& scale : kBinaryScales) {
    const bool short_enough = count != 0 && magnitude(count / scale.worth) < 4'096;
    if (short_enough && count % scale.worth == 0) { return fmt::format("{} {}", count / scale.worth, scale.name); }
  }
  for (const Scale& scale : kDecimalScales) {
    const bool large = magnitude(count) >= static_cast<std::uint64_t>(scale.worth);
    if (large && count % (scale.worth / 1'000) == 0 && count % 1'000 == 0) {
      return fmt::format("{} {}", decimal(count, scale.worth), scale.name);
    }
  }
  return fmt::format("{} B", count);
}

std::string to_string(Ratio ratio) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000'000;
  for (std::int64_t denominator = 1; denominator < kMost; denominator *= 10) {
    const Wide scaled = Wide{ratio.numerator} * denominator;
    if (scaled % ratio.denominator != 0) { continue; }
    const Wide numerator = scaled / ratio.denominator;
    if (numerator > INT64_MAX || numerator < INT64_MIN) { break; }
    return decimal(static_cast<std::int64_t>(numerator), denominator);
  }
  return fmt::format("{}/{}", ratio.numerator, ratio.denominator);
}

}  // namespace athanor
