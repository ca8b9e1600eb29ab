#include "tools/compare/contest_options.hpp"

#include <boost/program_options/value_semantic.hpp>

#include "tools/cli/options.hpp"

namespace athanor {

boost::program_options::options_description contest_options() {
  namespace options = boost::program_options;
  auto described = simulation_options();
  auto add = described.add_options();
  add("by", options::value<std::string>()->value_name("WHAT"),
      "what is compared: input, case, algorithm or a parameter of a sweep; default: what there are several of");
  add("base", options::value<std::string>()->value_name("NAME"), "what ratios refer to; default: the first");
  add("figure", options::value<std::string>()->value_name("KEY"),
      "a key of results, such as busbw_gbps; default: time_us or step_time_s");
  add("pareto", options::value<std::string>()->value_name("KEY"),
      "what it costs: bill_usd, bill_w, bill_switches, bill_cables, energy_j, ...; marks what nothing beats in both");
  return described;
}

ContestRequest contest_request(const Invocation& invocation) {
  const auto text = [&](const char* option) { return invocation.has(option) ? invocation.text(option) : ""; };
  return {text("by"), text("base"), text("figure"), text("pareto")};
}

}  // namespace athanor
