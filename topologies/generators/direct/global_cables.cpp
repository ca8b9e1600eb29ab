#include "topologies/generators/direct/global_cables.hpp"

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

void check_groups(std::uint32_t groups, std::uint32_t switches, std::string_view name, std::uint32_t each) {
  constexpr std::uint64_t kMostSlots = 1U << 30U;
  const std::uint64_t slots = std::uint64_t{switches} * each;
  const auto refuse = [](std::string reason, std::string hint) {
    throw ScenarioError(Problem{"does-not-fit", std::move(reason), {}, std::move(hint)});
  };
  if (slots > kMostSlots) {
    refuse(fmt::format("{} {}s with {} global cables each in a group", switches, name, each), "use fewer");
  }
  if (groups > slots + 1) {
    refuse(fmt::format("{} groups of {} {}s with {} global cables each: a group reaches only {} others", groups,
                       switches, name, each, slots),
           fmt::format("use at most {} groups, or at least {} global cables per {}", slots + 1,
                       (groups - 1 + switches - 1) / switches, name));
  }
}

}  // namespace athanor
