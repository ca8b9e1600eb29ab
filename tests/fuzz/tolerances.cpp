#include "tests/fuzz/tolerances.hpp"

#include <string>

namespace athanor::fuzz {

namespace {

using Json = nlohmann::ordered_json;

bool ideal(const Json& scenario) { return scenario["network"]["level"] == "ideal"; }

/// Has channels and threads to choose alone: for a ring, in one protocol.
bool is_fixed(const Json& nccl) {
  const Json environment = nccl.value("environment", Json::object());
  return environment.contains("NCCL_ALGO") && environment.contains("NCCL_PROTO");
}

bool adaptive(const Json& scenario) { return scenario["network"].value("routing", std::string()) == "ugal"; }

}  // namespace

bool nccl_chooses(const Json& scenario) {
  if (scenario.contains("nccl") || scenario.contains("software")) { return true; }
  const bool has_costs = scenario.contains("profile") && scenario["profile"].is_object();
  const bool calls = scenario.contains("collective") || scenario.contains("training") || scenario.contains("trace");
  if (!scenario["cluster"].contains("node") || has_costs || !calls) { return false; }
  const Json collective = scenario.value("collective", Json::object());
  const std::string algorithm = collective.value("algorithm", std::string("best"));
  const bool foreign = algorithm != "best" && algorithm != "ring" && algorithm != "pat";
  return !foreign && !collective.contains("chunk") && !collective.contains("channels");
}

/// At the ideal level a time is the longest way through a schedule, which grows with each of its parts. Where messages
/// share links it may not (docs/reliability.md).
double least_ratio(Law law, const Json& scenario) {
  // NCCL chooses by a model of its own, in which a faster link may make another algorithm look better.
  if (nccl_chooses(scenario)) { return is_fixed(scenario.value("nccl", Json::object())) ? 0.75 : 0.25; }
  // Of jobs side by side each takes what would be best alone, and what is best alone may change.
  const bool jobs = scenario.contains("collective") && scenario["collective"].contains("jobs");
  if (jobs && scenario["collective"]["algorithm"] == "best") { return 0.5; }
  if (ideal(scenario) && law != Law::size) { return 1; }
  return adaptive(scenario) ? 0.6 : 0.75;
}

double least_slowdown(const Json& scenario) { return adaptive(scenario) ? 0.5 : 0.8; }

bool scales(const Json& scenario) {
  const bool has_nodes = scenario["cluster"].contains("node");  // its presets have rates of their own
  const bool computes = scenario.contains("training") || scenario.contains("trace");
  return !has_nodes && !computes && scenario["network"]["level"] != "packet";
}

/// A picosecond for each of up to some thousand messages one behind the other; where links are shared, ties that are
/// broken otherwise.
double rounding(const Json& scenario, double time) {
  constexpr double kPicoseconds = 5000;
  return kPicoseconds + time * (ideal(scenario) ? 1e-6 : adaptive(scenario) ? 0.2 : 0.05);
}

}  // namespace athanor::fuzz
