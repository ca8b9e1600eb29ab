#include "models/engines/trees/engine_places.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/words.hpp"

namespace athanor {

namespace {

bool is_in_place(const SwitchGraph& graph, const EngineLimits& limits, std::uint32_t number) {
  switch (limits.place) {
    case EnginePlace::every_switch: return true;
    case EnginePlace::leaf: return graph.next_to_endpoints(number);
    case EnginePlace::nvswitch:
    case EnginePlace::nic: return false;
  }
  return false;
}

std::vector<std::string> names_in_place(const SwitchGraph& graph, const EngineLimits& limits) {
  std::vector<std::string> names;
  for (std::uint32_t number = 0; number < graph.size(); ++number) {
    if (is_in_place(graph, limits, number)) { names.push_back(graph.fabric().name(graph.vertex(number))); }
  }
  return names;
}

}  // namespace

std::vector<bool> engine_places(const SwitchGraph& graph, const EngineLimits& limits) {
  std::vector<bool> places;
  for (std::uint32_t number = 0; number < graph.size(); ++number) {
    const bool named = limits.switches.empty() ||
                       std::any_of(limits.switches.begin(), limits.switches.end(), [&](const std::string& pattern) {
                         return matches_pattern(pattern, graph.fabric().name(graph.vertex(number)));
                       });
    places.push_back(named && is_in_place(graph, limits, number));
  }
  return places;
}

std::optional<Problem> wrong_places(const SwitchGraph& graph, const EngineLimits& limits) {
  if (limits.switches.empty()) { return std::nullopt; }
  const std::vector<std::string> names = names_in_place(graph, limits);
  for (const std::string& pattern : limits.switches) {
    const auto fits = [&](const std::string& name) { return matches_pattern(pattern, name); };
    if (std::any_of(names.begin(), names.end(), fits)) { continue; }
    const std::string_view what = limits.place == EnginePlace::leaf ? "switch next to hosts" : "switch";
    const std::string close = nearest(pattern, names);
    return Problem{"no-such-switch",
                   fmt::format("no {} is called \"{}\"", what, pattern),
                   {},
                   !close.empty() ? fmt::format("did you mean \"{}\"?", close)
                   : names.empty()
                       ? "the network has none"
                       : fmt::format("they are called as \"{}\" and \"{}\" are", names.front(), names.back())};
  }
  return std::nullopt;
}

}  // namespace athanor
