#include "tests/fuzz/tolerances.hpp"

#include <string>

namespace athanor::fuzz {

double least_ratio(Law, const nlohmann::ordered_json&) { return 1; }

double least_slowdown(const nlohmann::ordered_json&) { return 1; }

bool scales(const nlohmann::ordered_json& scenario) {
  const bool has_nodes = scenario["cluster"].contains("node");  // its presets have rates of their own
  return !has_nodes && scenario["network"]["level"] != "packet";
}

double rounding(const nlohmann::ordered_json&, double time) { return 2000 + time * 1e-6; }

}  // namespace athanor::fuzz
