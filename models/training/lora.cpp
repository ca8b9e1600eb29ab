#include "models/training/lora.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "sim/words.hpp"

namespace athanor {

std::string_view name(LoraTarget target) {
  switch (target) {
    case LoraTarget::query: return "query";
    case LoraTarget::key: return "key";
    case LoraTarget::value: return "value";
    case LoraTarget::output: return "output";
    case LoraTarget::gate: return "gate";
    case LoraTarget::up: return "up";
    case LoraTarget::down: return "down";
  }
  return "";
}

const std::vector<LoraTarget>& all_lora_targets() {
  static const std::vector<LoraTarget> all{LoraTarget::query, LoraTarget::key, LoraTarget::value, LoraTarget::output,
                                           LoraTarget::gate,  LoraTarget::up,  LoraTarget::down};
  return all;
}

std::string_view name(BasePrecision precision) {
  switch (precision) {
    case BasePrecision::wide: return "wide";
    case BasePrecision::nf4: return "nf4";
  }
  return "";
}

LoraTargets::LoraTargets(const std::vector<LoraTarget>& targets) {
  for (const LoraTarget target : targets) { bits_ |= bit(target); }
}

std::vector<LoraTarget> LoraTargets::list() const {
  std::vector<LoraTarget> targets;
  std::copy_if(all_lora_targets().begin(), all_lora_targets().end(), std::back_inserter(targets),
               [&](LoraTarget target) { return has(target); });
  return targets;
}

std::string text_of(const LoraTargets& targets) {
  std::vector<std::string> names;
  for (const LoraTarget target : targets.list()) { names.emplace_back(name(target)); }
  return fmt::format("{}", joined(names, "+"));
}

}  // namespace athanor
