#include "tools/sweep/workers.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

namespace athanor {

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
  nlohmann::json all = nlohmann::json::array();
  for (const SweepOutcome& each : outcomes) {
    nlohmann::json inputs = nlohmann::json::array();
    for (const Manifest::Input& input : each.inputs) { inputs.push_back({input.path, input.hash}); }
    all.push_back({each.point, each.results, each.warnings, each.error, each.host, each.seconds, inputs});
  }
  const std::vector<std::uint8_t> packed = nlohmann::json::to_msgpack(all);
  return {packed.begin(), packed.end()};
}

std::vector<SweepOutcome> unpack(std::string_view text) {
  std::vector<SweepOutcome> outcomes;
  for (const nlohmann::json& each : nlohmann::json::from_msgpack(text)) {
    SweepOutcome& outcome = outcomes.emplace_back();
    each.at(0).get_to(outcome.point);
    each.at(1).get_to(outcome.results);
    each.at(2).get_to(outcome.warnings);
    each.at(3).get_to(outcome.error);
    each.at(4).get_to(outcome.host);
    each.at(5).get_to(outcome.seconds);
    for (const nlohmann::json& input : each.at(6)) {
      outcome.inputs.push_back({input.at(0).get<std::string>(), input.at(1).get<std::string>()});
    }
  }
  return outcomes;
}

}  // namespace athanor
