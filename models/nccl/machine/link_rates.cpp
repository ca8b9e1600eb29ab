#include "models/nccl/machine/link_rates.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace athanor {

namespace {

constexpr Time kNvlinkLatency{25'000};
constexpr Time kPcieLatency{150'000};
constexpr Time kSocketLatency{100'000};
constexpr std::int64_t kMegabyte = 1'000'000;

Link link(std::int64_t line_megabytes, std::int64_t usable_megabytes, Time latency, LinkKind kind) {
  return {Bandwidth{line_megabytes * kMegabyte}, Bandwidth{usable_megabytes * kMegabyte}, latency, kind};
}

struct NvlinkRate {
  int from;  ///< compute capability
  std::int64_t line, usable;
};
constexpr std::array<NvlinkRate, 7> kNvlinks{{{100, 50'000, 40'100},
                                              {90, 25'000, 20'600},
                                              {87, 25'000, 20'000},
                                              {86, 14'062, 12'000},
                                              {80, 25'000, 20'000},
                                              {70, 25'000, 20'000},
                                              {60, 20'000, 18'000}}};

struct PcieRate {
  std::string_view speed;
  std::int64_t line;    ///< kilobytes per second of a lane
  std::int64_t usable;  ///< NCCL's: x100 Mbit/s of a lane, / 80 in GB/s
};
constexpr std::array<PcieRate, 6> kPcie{{{"2.5", 250'000, 187'500},
                                         {"5", 500'000, 375'000},
                                         {"8", 984'375, 750'000},
                                         {"16", 1'968'750, 1'500'000},
                                         {"32", 3'937'500, 3'000'000},
                                         {"64", 7'562'500, 6'000'000}}};
constexpr std::size_t kPcie3 = 2;

const PcieRate* pcie_rate(std::string_view speed) {
  const std::string_view number = speed.substr(0, speed.find(' '));
  if (speed.find("GT/s") == std::string_view::npos) { return nullptr; }
  const auto same = [&](const PcieRate& rate) {
    return number == rate.speed || (number.ends_with(".0") && number.substr(0, number.size() - 2) == rate.speed);
  };
  const auto* const found = std::find_if(kPcie.begin(), kPcie.end(), same);
  return found == kPcie.end() ? nullptr : found;
}

std::optional<Link> intel_socket(std::uint32_t family, std::uint32_t model) {
  if (family != 6) { return std::nullopt; }
  if (model >= 0xCF) { return link(160'000, 40'000, kSocketLatency, LinkKind::socket); }
  if (model >= 0x8F) { return link(128'000, 22'000, kSocketLatency, LinkKind::socket); }
  if (model >= 0x55) { return link(62'400, 10'000, kSocketLatency, LinkKind::socket); }
  return link(38'400, 6'000, kSocketLatency, LinkKind::socket);
}

}  // namespace

std::optional<Link> nccl_nvlink(int compute_capability) {
  for (const NvlinkRate& rate : kNvlinks) {
    if (compute_capability >= rate.from) { return link(rate.line, rate.usable, kNvlinkLatency, LinkKind::nvlink); }
  }
  return std::nullopt;
}

bool nccl_knows_pcie_speed(std::string_view speed) { return pcie_rate(speed) != nullptr; }

Link nccl_pcie(std::string_view speed, std::int64_t width) {
  const PcieRate* known = pcie_rate(speed);
  const PcieRate& rate = known == nullptr ? kPcie[kPcie3] : *known;
  const std::int64_t lanes = width == 0 ? 16 : width;
  constexpr std::int64_t kKilobyte = 1'000;
  return {Bandwidth{rate.line * kKilobyte * lanes}, Bandwidth{rate.usable * kKilobyte * lanes}, kPcieLatency,
          LinkKind::pcie};
}

std::optional<Link> nccl_socket(const CpuIdentity& cpu) {
  if (cpu.arch == "ppc64") { return link(32'000, 32'000, kSocketLatency, LinkKind::socket); }
  if (cpu.arch == "arm64") { return link(6'000, 6'000, kSocketLatency, LinkKind::socket); }
  if (cpu.arch != "x86_64") { return std::nullopt; }
  if (cpu.vendor == "AuthenticAMD") { return link(128'000, 16'000, kSocketLatency, LinkKind::socket); }
  if (cpu.vendor == "GenuineIntel") { return intel_socket(cpu.family, cpu.model); }
  return std::nullopt;
}

Link nccl_local() { return link(5'000'000, 5'000'000, kPcieLatency, LinkKind::pcie); }

Link nccl_c2c(std::int64_t megabytes) { return link(megabytes, megabytes, kNvlinkLatency, LinkKind::c2c); }

std::optional<std::int64_t> nccl_nvlink_megabytes(std::uint32_t compute_capability, const NcclVersion& version) {
  const std::optional<Link> one = nccl_nvlink(static_cast<int>(compute_capability));
  if (!one) { return std::nullopt; }
  const bool early_hopper = compute_capability >= 90 && compute_capability < 100 && version < NcclVersion{2, 19, 0};
  return early_hopper ? 20'000 : one->usable.count() / kMegabyte;
}

std::optional<std::int64_t> nccl_pcie_megabytes(Bandwidth line_rate) {
  const std::int64_t kilobytes = line_rate.count() / 1'000;
  std::optional<std::int64_t> best;
  std::int64_t nearest = kilobytes / 25;
  for (const PcieRate& rate : kPcie) {
    for (std::int64_t lanes = 1; lanes <= 16; lanes *= 2) {
      const std::int64_t off = std::abs(rate.line * lanes - kilobytes);
      if (off > nearest) { continue; }
      nearest = off;
      best = rate.usable * lanes / 1'000;
    }
  }
  return best;
}

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
