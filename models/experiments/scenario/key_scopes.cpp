#include "models/experiments/scenario/key_scopes.hpp"

#include <vector>

#include <fmt/core.h>

#include "models/experiments/scenario/scenario.hpp"

namespace athanor {

namespace {

/// For which cases keys count.
struct Scope {
  std::vector<const char*> keys;  ///< JSON pointers
  bool (*counts)(const Case&);
  const char* why;      ///< they do nothing elsewhere
  const char* instead;  ///< what to do
};

bool has_network(const Case& each) { return !each.platform.shares_machine(); }
bool is_at_packets(const Case& each) {
  return each.platform.network.level == NetworkLevel::packet && has_network(each);
}
bool has_software(const Case& each) { return each.experiment->has_collectives(); }
const PacketSettings& packet(const Case& each) { return each.platform.network.packet; }
bool has_flow_control(const Case& each, FlowControl control) { return packet(each).fabric.flow_control == control; }

std::vector<Scope> scopes_of_the_network() {
  return {
      {{"/network"},
       &has_network,
       "ranks that share one machine have no network",
       "leave it out, or describe nodes or a fabric"},
      {{"/network/transport", "/network/switches", "/network/pcie", "/network/nvlink"},
       &is_at_packets,
       "there are packets at packet level alone",
       R"(write "level": "packet" beside it, or leave it out; in a case by null)"},
      {{"/network/skip_error"},
       [](const Case& each) { return each.platform.network.level != NetworkLevel::ideal; },
       "without contention nothing has to settle",
       R"(write another "level", or leave it out)"},
      {{"/network/queue_pairs"},
       [](const Case& each) { return each.platform.network.level != NetworkLevel::ideal; },
       "without contention messages over several queue pairs take as long as over one",
       R"(write another "level", or leave it out)"},
      {{"/network/aggregation"},
       &has_software,
       "engines of switches carry out collectives, and here are none",
       "leave it out, or simulate a collective, a training or a trace"},
      {{"/network/offload"},
       &has_software,
       "NICs carry out collectives, and here are none",
       "leave it out, or simulate a collective, a training or a trace"},
      {{"/network/switches/pause_above", "/network/switches/resume_below"},
       [](const Case& each) { return has_flow_control(each, FlowControl::pfc); },
       "it is a threshold of PFC",
       R"(write "flow_control": "pfc", or leave it out)"},
      {{"/network/switches/lane_buffer"},
       [](const Case& each) { return has_flow_control(each, FlowControl::credits); },
       "it is what credits are given for",
       R"(write "flow_control": "credits", or leave it out)"},
      {{"/network/switches/queue"},
       [](const Case& each) { return has_flow_control(each, FlowControl::none); },
       "under flow control a queue has no limit of its own",
       R"(write "flow_control": "none", or leave it out)"},
      {{"/network/switches/flowlet_gap"},
       [](const Case& each) { return packet(each).fabric.load_balancing == LoadBalancing::flowlets; },
       "nothing is balanced by flowlets",
       R"(write "load_balancing": "flowlets", or leave it out)"},
  };
}

/// Of repetitions, of which a row is made where the kind of experiment says how.
std::vector<Scope> scopes_of_seeds() {
  return {{{"/seeds"},
           [](const Case& each) { return each.experiment->repetitions() != nullptr; },
           "this kind of experiment runs with one seed",
           "leave it out, and run it with one --seed after the other"}};
}

/// Of NCCL, which no experiment without collectives has.
std::vector<Scope> scopes_of_software() {
  return {{{"/nccl"},
           &has_software,
           "NCCL carries out collectives, and here are none",
           "leave it out, or simulate a collective, a training or a trace"},
          {{"/software"},
           &has_software,
           "it carries out collectives, and here are none",
           "leave it out, or simulate a collective, a training or a trace"}};
}

bool is_there(const JsonValue& root, const std::string& pointer) { return root.at(pointer) != nullptr; }

}  // namespace

void refuse_keys_without_effect(const Document& document, const Case& scenario_case, Problems& problems) {
  const auto refuse_key = [&](const std::string& key, const std::string& why, const std::string& instead) {
    if (!is_there(document.root(), key)) { return; }
    const std::string name = key.substr(key.rfind('/') + 1);
    problems.add({"no-effect", fmt::format("'{}' has no effect here: {}", name, why), document.place(key), instead});
  };
  const auto refuse = [&](const std::vector<const char*>& keys, const char* why, const char* instead) {
    for (const char* key : keys) { refuse_key(key, why, instead); }
  };
  const ControlWords& control = packet(scenario_case).transport.control->words();
  for (const ControlEntry& each : congestion_controls()) {
    if (!each.words.has_keys || each.words.name == control.name) { continue; }
    refuse_key(fmt::format("/network/transport/{}", each.words.name), "it is of another congestion control",
               fmt::format(R"(write "control": "{}", or leave it out)", each.words.name));
  }
  if (!control.initial_window) {
    refuse_key("/network/transport/initial_window",
               fmt::format("only {} begin with one", controls_with_initial_window()),
               "choose one of these as \"control\", or leave it out");
  }
  for (const auto& scopes : {scopes_of_seeds(), scopes_of_the_network(), scopes_of_software()}) {
    for (const Scope& scope : scopes) {
      if (!scope.counts(scenario_case)) { refuse(scope.keys, scope.why, scope.instead); }
    }
  }
  for (const IdleKeys& idle : scenario_case.experiment->idle_keys(scenario_case.platform)) {
    refuse(idle.keys, idle.why, idle.instead);
  }
}

void EnginesInUse::see(const Document& document, const Case& scenario_case) {
  constexpr auto kKey = "/network/aggregation";
  if (!scenario_case.platform.aggregation || !is_there(document.root(), kKey)) { return; }
  if (scenario_case.experiment->may_use_switches(scenario_case.platform)) { used_ = true; }
  if (used_ || unused_) { return; }
  unused_ = {"no-effect", "'aggregation' has no effect here: none of the algorithms uses switches that reduce",
             document.place(kKey),
             R"(choose another "algorithm", such as aggregation_tree or "best", or leave it out)"};
}

std::optional<Problem> EnginesInUse::problem() const { return used_ ? std::nullopt : unused_; }

}  // namespace athanor
