#include "tools/scenario/key_scopes.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/execution/candidate.hpp"
#include "tools/scenario/profile_section.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

namespace {

using Control = TransportSpec::Control;

/// For which cases keys count.
struct Scope {
  std::vector<const char*> keys;  ///< JSON pointers
  bool (*counts)(const Case&);
  const char* why;      ///< they do nothing elsewhere
  const char* instead;  ///< what to do
};

bool is_workload(const Case& each) { return each.training || each.trace; }
bool is_collective(const Case& each) { return !each.traffic && !each.parameter_server && !is_workload(each); }
bool shares_machine(const Case& each) { return each.cluster->processors > 0 || each.cluster->shared_gpus > 0; }
bool is_at_packets(const Case& each) { return each.level == NetworkLevel::packet && !shares_machine(each); }
bool has_network(const Case& each) { return !shares_machine(each); }
bool has_software(const Case& each) { return is_collective(each) || is_workload(each); }
bool has_flow_control(const Case& each, FlowControl control) { return each.packet.fabric.flow_control == control; }
bool may_run(const Case& each, std::initializer_list<std::string_view> names) {
  return std::any_of(each.algorithms.begin(), each.algorithms.end(), [&](const Algorithm* algorithm) {
    return std::find(names.begin(), names.end(), algorithm->name) != names.end();
  });
}

/// By NCCL, workloads and jobs of their own: whoever asks for their result is told what they took.
bool may_use_switches(const Case& each) {
  if (!is_collective(each) || each.profile.nccl || (each.jobs && !each.jobs->own.empty())) { return true; }
  return std::any_of(each.algorithms.begin(), each.algorithms.end(),
                     [](const Algorithm* algorithm) { return aggregates(*algorithm); });
}

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
      {{"/network/queue_pairs"},
       [](const Case& each) { return each.level != NetworkLevel::ideal; },
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
      {{"/network/aggregation/on_exhausted", "/network/aggregation/fallback"},
       [](const Case& each) { return is_collective(each) && !each.profile.nccl; },
       "NCCL, and the groups of a workload, go on without engines that they do not get",
       "leave it out"},
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
       [](const Case& each) { return each.packet.fabric.load_balancing == LoadBalancing::flowlets; },
       "nothing is balanced by flowlets",
       R"(write "load_balancing": "flowlets", or leave it out)"},
      {{"/network/transport/swift"},
       [](const Case& each) { return each.packet.transport.control == Control::swift; },
       "it is of another congestion control",
       R"(write "control": "swift", or leave it out)"},
      {{"/network/transport/hpcc"},
       [](const Case& each) { return each.packet.transport.control == Control::hpcc; },
       "it is of another congestion control",
       R"(write "control": "hpcc", or leave it out)"},
      {{"/network/transport/initial_window"},
       [](const Case& each) {
         const Control control = each.packet.transport.control;
         return control == Control::newreno || control == Control::cubic || control == Control::dctcp ||
                control == Control::swift || control == Control::pull;
       },
       "only newreno, cubic, dctcp, swift and pull begin with one",
       "choose one of these as \"control\", or leave it out"},
  };
}

template <TraceFormat... kFormats>
bool is_trace_of(const Case& each) {
  return !each.trace || ((each.trace->trace->format == kFormats) || ...);
}

std::vector<Scope> scopes_of_workloads() {
  return {
      {{"/trace/unit"},
       &is_trace_of<TraceFormat::astra, TraceFormat::simai>,
       "times of this format have a unit",
       "leave it out: it is of ASTRA-sim's and SimAI's text"},
      {{"/trace/ranks"},
       &is_trace_of<TraceFormat::astra, TraceFormat::kineto>,
       "this format says how many ranks there are",
       "leave it out: it is of ASTRA-sim's text and of a profile of one rank"},
      {{"/trace/model_ranks"},
       &is_trace_of<TraceFormat::astra>,
       "this format says who shares a model",
       "leave it out: it is of ASTRA-sim's text"},
      {{"/trace/groups", "/trace/roofline"},
       &is_trace_of<TraceFormat::chakra, TraceFormat::chakra_json>,
       "this format says it itself",
       "leave it out: it is of Chakra"},
      {{"/trace/step"}, &is_trace_of<TraceFormat::kineto>, "there are no ProfilerSteps", "leave it out"},
      {{"/trace/eager"},
       &is_trace_of<TraceFormat::goal, TraceFormat::goal_binary>,
       "this format says when messages are received",
       "leave it out: it is of GOAL"},
      {{"/training/expert_imbalance"},
       [](const Case& each) {
         return !each.training ||
                (each.training->setup.model.transformer && each.training->setup.model.transformer->experts);
       },
       "the model has no experts",
       "leave it out, or train a mixture of experts"},
      {{"/training/sequence", "/training/costs/tokens", "/training/parallel/fused_attention",
        "/training/parallel/fused_loss", "/training/parallel/dropout"},
       [](const Case& each) { return !each.training || each.training->setup.model.transformer; },
       "a list of layers says itself what each computes, and has no tokens",
       "leave it out, or train a transformer"},
      {{"/parameter_server/replication"},
       [](const Case& each) {
         return !each.parameter_server || each.parameter_server->setup.shards.front().size() > 1;
       },
       "there is one copy of each shard",
       R"(write "copies": 2 or more, or leave it out)"},
  };
}

std::vector<Scope> scopes_of_what_is_simulated() {
  return {
      {{"/seeds"},
       [](const Case& each) { return !is_workload(each); },
       "a training or a trace is simulated once",
       "leave it out, and run it with one --seed after the other"},
      {{"/nccl"},
       &has_software,
       "NCCL carries out collectives, and here are none",
       "leave it out, or simulate a collective, a training or a trace"},
      {{"/collective/root"},
       [](const Case& each) { return has_root(each.kind); },
       "all ranks play the same part in such a collective",
       "leave it out"},
      {{"/collective/reduction"},
       [](const Case& each) { return reduces(each.kind); },
       "such a collective reduces nothing",
       "leave it out"},
      {{"/collective/dimensions"},
       [](const Case& each) {
         return may_run(each, {"torus", "mesh", "swing"});
       },
       "it is of torus, mesh and swing",
       "choose one of these as \"algorithm\", or leave it out"},
      {{"/collective/rings"},
       [](const Case& each) { return may_run(each, {"multi_ring"}); },
       "it is the number of rings of multi_ring",
       R"(write "algorithm": "multi_ring", or leave it out)"},
  };
}

bool is_there(const nlohmann::json& root, const char* pointer) {
  return root.contains(nlohmann::json::json_pointer(pointer));
}

}  // namespace

void refuse_keys_without_effect(const Document& document, const Case& scenario_case, Problems& problems) {
  for (const auto& scopes : {scopes_of_the_network(), scopes_of_what_is_simulated(), scopes_of_workloads()}) {
    for (const Scope& scope : scopes) {
      if (scope.counts(scenario_case)) { continue; }
      for (const char* key : scope.keys) {
        if (!is_there(document.root(), key)) { continue; }
        const std::string name = std::string(key).substr(std::string(key).rfind('/') + 1);
        problems.add({"no-effect", fmt::format("'{}' has no effect here: {}", name, scope.why), document.place(key),
                      scope.instead});
      }
    }
  }
}

void EnginesInUse::see(const Document& document, const Case& scenario_case) {
  constexpr auto kKey = "/network/aggregation";
  if (!scenario_case.aggregation || !is_there(document.root(), kKey)) { return; }
  if (may_use_switches(scenario_case)) { used_ = true; }
  if (used_ || unused_) { return; }
  unused_ = {"no-effect", "'aggregation' has no effect here: none of the algorithms uses switches that reduce",
             document.place(kKey),
             R"(choose another "algorithm", such as aggregation_tree or "best", or leave it out)"};
}

std::optional<Problem> EnginesInUse::problem() const { return used_ ? std::nullopt : unused_; }

}  // namespace athanor
