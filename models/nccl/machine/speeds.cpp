#include "models/nccl/machine/speeds.hpp"

#include <array>

namespace athanor {

namespace {

constexpr std::array<std::int64_t, 13> kIntra{40'000, 30'000, 20'000, 18'000, 15'000, 12'000, 10'000,
                                              9'000,  7'000,  6'000,  5'000,  4'000,  3'000};
constexpr std::array<std::int64_t, 19> kInter{48'000, 30'000, 28'000, 24'000, 20'000, 18'000, 15'000,
                                              12'000, 10'000, 9'000,  7'000,  6'000,  5'000,  4'000,
                                              3'000,  2'400,  1'200,  240,    120};

constexpr std::array<std::int64_t, 11> kHopperIntra{60'000, 50'000, 40'000, 30'000, 24'000, 20'000,
                                                    15'000, 12'000, 11'000, 6'000,  3'000};
constexpr std::array<std::int64_t, 17> kHopperInter{48'000, 45'000, 42'000, 40'000, 30'000, 24'000,
                                                    22'000, 20'000, 17'500, 15'000, 12'000, 6'000,
                                                    3'000,  2'400,  1'200,  240,    120};
/// Without 50 and 11, and without 22.
constexpr std::array<std::int64_t, 9> kEarlyHopperIntra{60'000, 40'000, 30'000, 24'000, 20'000,
                                                        15'000, 12'000, 6'000,  3'000};
constexpr std::array<std::int64_t, 16> kEarlyHopperInter{48'000, 45'000, 42'000, 40'000, 30'000, 24'000, 20'000, 17'500,
                                                         15'000, 12'000, 6'000,  3'000,  2'400,  1'200,  240,    120};

constexpr std::array<std::int64_t, 12> kBlackwellIntra{90'000, 80'000, 70'000, 60'000, 50'000, 45'000,
                                                       40'000, 30'000, 24'000, 20'000, 19'000, 18'000};
constexpr std::array<std::int64_t, 11> kBlackwellIntraNo45{90'000, 80'000, 70'000, 60'000, 50'000, 40'000,
                                                           30'000, 24'000, 20'000, 19'000, 18'000};
constexpr std::array<std::int64_t, 20> kBlackwellInter{96'000, 86'000, 80'000, 48'000, 45'100, 42'000, 40'000,
                                                       30'000, 24'000, 22'000, 20'000, 17'500, 15'000, 12'000,
                                                       6'000,  3'000,  2'400,  1'200,  240,    120};
constexpr std::array<std::int64_t, 19> kBlackwellInterNo86{96'000, 80'000, 48'000, 45'100, 42'000, 40'000, 30'000,
                                                           24'000, 22'000, 20'000, 17'500, 15'000, 12'000, 6'000,
                                                           3'000,  2'400,  1'200,  240,    120};
constexpr std::array<std::int64_t, 18> kBlackwellInterNo80{96'000, 48'000, 45'100, 42'000, 40'000, 30'000,
                                                           24'000, 22'000, 20'000, 17'500, 15'000, 12'000,
                                                           6'000,  3'000,  2'400,  1'200,  240,    120};

std::span<const std::int64_t> blackwell(bool across, const NcclVersion& version) {
  if (!across) {
    if (version < NcclVersion{2, 29, 2}) { return kBlackwellIntraNo45; }
    return kBlackwellIntra;
  }
  if (version < NcclVersion{2, 29, 7}) { return kBlackwellInterNo80; }
  if (version < NcclVersion{2, 30, 0}) { return kBlackwellInterNo86; }
  return kBlackwellInter;
}

std::span<const std::int64_t> hopper(bool across, const NcclVersion& version) {
  const bool early = version < NcclVersion{2, 19, 0};
  if (across) { return early ? std::span<const std::int64_t>(kEarlyHopperInter) : kHopperInter; }
  return early ? std::span<const std::int64_t>(kEarlyHopperIntra) : kHopperIntra;
}

}  // namespace

std::span<const std::int64_t> search_speeds(std::uint32_t compute_capability, bool across, const NcclVersion& version) {
  if (compute_capability >= 100) { return blackwell(across, version); }
  if (compute_capability >= 90) { return hopper(across, version); }
  return across ? std::span<const std::int64_t>(kInter) : kIntra;
}

}  // namespace athanor
