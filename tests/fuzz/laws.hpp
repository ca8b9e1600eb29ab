#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/random.hpp"
#include "tests/fuzz/watch.hpp"

namespace athanor::fuzz {

/// What every scenario's results obey.
enum class Law : std::uint8_t {
  bound,        ///< no time is below the least that the hardware allows
  folding,      ///< simulating every agent and every loop gives the same
  spelling,     ///< other units, orders of keys and defaults written out give the same
  size,         ///< more bytes do not take less time
  rate,         ///< twice the rates do not take more time
  latency,      ///< half the latencies do not take more time
  scale,        ///< both take half the time, where nothing else is set
  bytes,        ///< in packets: what ports carry into switches and hosts they carry out, but for what is dropped
  utilisation,  ///< no link is busy for more than all of the time
  shares,       ///< shares of a whole are from 0 to 1 and add up
  company,      ///< a job beside others is not faster than alone
  interval,     ///< that of a time has a width and does not begin below the bound
  naming,       ///< what nothing is called is refused by its name
};
constexpr std::size_t kLaws = 13;
std::string_view name(Law law);

/// What is simulated: the sections of scenarios by which verdicts are grouped, the last for all others.
constexpr std::array<const char*, 6> kSubjects{"nccl",    "training",         "trace",
                                               "traffic", "parameter_server", "collective"};

/// Runs the scenario and those made from it, in `folder`; which laws were held against it and which is broken.
/// `data`: the folder of presets.
Verdict judge(const nlohmann::ordered_json& scenario, const std::string& folder, const std::string& data,
              RandomStream& random);

}  // namespace athanor::fuzz
