#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The vocabulary of NCCL: what its documents, logs and environment variables name.
namespace athanor {

/// In NCCL's order; where estimates are equal, the first wins.
enum class NcclAlgorithm : std::uint8_t { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
constexpr std::size_t kNcclAlgorithms = 7;

enum class NcclProtocol : std::uint8_t { ll, ll128, simple };
constexpr std::size_t kNcclProtocols = 3;

/// As NCCL_ALGO takes it: "Ring", "CollnetDirect", ...
std::string_view name(NcclAlgorithm algorithm);
/// As NCCL_PROTO takes it: "LL", "LL128", "Simple".
std::string_view name(NcclProtocol protocol);
/// The inverse, whatever the case of letters, as NCCL reads it.
std::optional<NcclAlgorithm> nccl_algorithm(std::string_view name);
std::optional<NcclProtocol> nccl_protocol(std::string_view name);

/// "2.27.5"; what is left out is zero.
struct NcclVersion {
  std::uint32_t major = 2;
  std::uint32_t minor = 30;
  std::uint32_t patch = 0;
  auto operator<=>(const NcclVersion&) const = default;
};

/// Reads "2.27.5" or "2.27"; none where it is nothing of the kind.
std::optional<NcclVersion> nccl_version(std::string_view text);
/// "2.27.5".
std::string to_string(const NcclVersion& version);

}  // namespace athanor
