#include "tools/sweep/workers.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "sim/config/json_value.hpp"

namespace athanor {

namespace {

std::vector<std::string> strings_of(const JsonValue& list) {
  std::vector<std::string> strings;
  for (const JsonValue& each : list.elements()) { strings.push_back(each.string()); }
  return strings;
}

}  // namespace

std::uint32_t launched_processes() {
  // Open MPI, MPICH and its relatives (Hydra), srun.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) { continue; }
    const std::string_view digits(text);
    std::uint32_t count = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), count).ec == std::errc() && count > 1) {
      return count;
    }
  }
  return 1;
}

std::string pack(const std::vector<SweepOutcome>& outcomes) {
  JsonValue all = JsonValue::list();
  for (const SweepOutcome& each : outcomes) {
    JsonValue inputs = JsonValue::list();
    for (const Manifest::Input& input : each.inputs) { inputs.push_back(JsonValue::List{input.path, input.hash}); }
    all.push_back(
        JsonValue::List{each.point, each.results, each.warnings, each.error, each.host, each.seconds, inputs});
  }
  return text_of(all);
}

std::vector<SweepOutcome> unpack(std::string_view text) {
  std::vector<SweepOutcome> outcomes;
  const JsonValue all = json_value_of(text).value();
  for (const JsonValue& packed : all.elements()) {
    const JsonValue::List& parts = packed.elements();
    SweepOutcome& outcome = outcomes.emplace_back();
    outcome.point = static_cast<std::size_t>(parts.at(0).whole().value());
    outcome.results = strings_of(parts.at(1));
    outcome.warnings = strings_of(parts.at(2));
    outcome.error = parts.at(3).string();
    outcome.host = parts.at(4).string();
    outcome.seconds = parts.at(5).number();
    for (const JsonValue& input : parts.at(6).elements()) {
      outcome.inputs.push_back({input.elements().at(0).string(), input.elements().at(1).string()});
    }
  }
  return outcomes;
}

}  // namespace athanor
