#include "models/software/nccl.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <fmt/core.h>

#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::array<std::string_view, kNcclAlgorithms> kAlgorithmNames{
    "Tree", "Ring", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT"};
constexpr std::array<std::string_view, kNcclProtocols> kProtocolNames{"LL", "LL128", "Simple"};

template <class Value, std::size_t N>
std::optional<Value> find_name(const std::array<std::string_view, N>& names, std::string_view wanted) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](std::string_view each) { return equal_but_case(each, wanted); });
  if (found == names.end()) { return {}; }
  return static_cast<Value>(found - names.begin());
}

}  // namespace

std::string_view name(NcclAlgorithm algorithm) { return kAlgorithmNames.at(static_cast<std::size_t>(algorithm)); }
std::string_view name(NcclProtocol protocol) { return kProtocolNames.at(static_cast<std::size_t>(protocol)); }

std::optional<NcclAlgorithm> nccl_algorithm(std::string_view name) {
  return find_name<NcclAlgorithm>(kAlgorithmNames, name);
}
std::optional<NcclProtocol> nccl_protocol(std::string_view name) {
  return find_name<NcclProtocol>(kProtocolNames, name);
}

std::optional<NcclVersion> nccl_version(std::string_view text) {
  std::array<std::uint32_t, 3> parts{};
  std::size_t count = 0;
  for (const char* at = text.data(); count < parts.size(); ++count) {
    const char* end = text.data() + text.size();
    const auto [after, mistake] = std::from_chars(at, end, parts.at(count));
    if (mistake != std::errc()) { return {}; }
    if (after == end && count > 0) { return NcclVersion{parts[0], parts[1], parts[2]}; }
    if (after == end || *after != '.') { return {}; }
    at = after + 1;
  }
  return {};
}

std::string to_string(const NcclVersion& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace athanor
