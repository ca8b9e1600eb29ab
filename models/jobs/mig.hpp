#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace athanor {

/// A kind of slice that a GPU can be split into (NVIDIA's Multi-Instance GPU): how much of its memory it has, and where
/// in it it can begin, as the driver allows. What it has of the multiprocessors follows from where it is.
/// Source: NVIDIA, Multi-Instance GPU user guide, supported profiles and placements.
struct MigSlice {
  std::uint8_t eighths = 0;  ///< of the memory
  std::uint8_t starts = 0;   ///< a bit for each eighth that it can begin with, from the lowest on

  /// What it takes if it begins with an eighth, a bit for each.
  constexpr std::uint8_t at(std::uint32_t start) const {
    return static_cast<std::uint8_t>(((1U << eighths) - 1) << start);
  }
  /// Of a GPU, in thousandths.
  constexpr std::uint16_t gpu_milli() const { return static_cast<std::uint16_t>(eighths * 125); }
};

/// Slices are known by their place in here, counted from 1; 0 is none.
constexpr std::array<MigSlice, 6> kMigSlices = {
    {{1, 0b01111111}, {2, 0b01010101}, {2, 0b00010101}, {4, 0b00010001}, {4, 0b00000001}, {8, 0b00000001}}};
constexpr const MigSlice& mig_slice(std::uint8_t number) { return kMigSlices.at(number - 1U); }

/// How many more of a slice fit on a GPU of which these eighths are taken.
std::uint32_t mig_room(const MigSlice& slice, std::uint8_t taken);
/// Where the next one begins: where the most places are left for slices of all kinds, the highest of those. None: it
/// does not fit.
std::optional<std::uint8_t> mig_start(const MigSlice& slice, std::uint8_t taken);

/// A slice as NVIDIA calls it: "1g.10gb".
struct MigProfile {
  std::string_view name;
  std::uint8_t slice = 0;
};
/// What GPUs of a type can be split into; empty: they cannot. Where its name does not say how much memory it has
/// ("A100"), of all GPUs that are called so.
std::vector<MigProfile> mig_profiles(std::string_view gpu_type);

/// What a name of a slice means on GPUs of some types.
struct MigChoice {
  std::vector<std::uint8_t> slices;  ///< in rising order; none: no GPU has it; several: the name does not say which
  std::vector<std::string> types;    ///< that have it
};
MigChoice mig_choice(const std::vector<std::string>& gpu_types, std::string_view profile);
/// What each type can be split into, for people: "A30: 1g.6gb, 2g.12gb, 4g.24gb; T4: none".
std::string mig_names(const std::vector<std::string>& gpu_types);

}  // namespace athanor
