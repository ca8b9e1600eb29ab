#include "models/experiments/scenario/expert_exchange_section.hpp"

#include <fmt/core.h>

#include "models/experiments/expert_exchange.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/expert_fields.hpp"
#include "models/experts/exchange.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

void read_exchange(Fields& fields, ExpertExchangeConfig& config) {
  athanor::visit(fields, config.settings);
  fields.required("experts", config.layer.experts, "Of the layer", {1, 100'000});
  fields.required("chosen", config.layer.chosen, "Experts that each token goes to", {1, 64});
  fields.required("hidden", config.layer.hidden, "Elements of a token", {1, 1'000'000});
  fields.required("tokens", config.tokens, "Of each rank", {1, 100'000'000});
  fields.optional("ranks", config.ranks, "That share the experts, from endpoint 0 on; absent: all", {1});
  fields.optional_object("measured_time", "What each way took on such a machine", [&](Fields& inner) {
    inner.optional("dispatch", config.dispatch.time, "To the experts", {Time{1}});
    inner.optional("combine", config.combine.time, "Back", {Time{1}});
  });
  fields.optional_object("measured_bandwidth", "The same as bandwidth, of bytes counted as DeepEP counts them",
                         [&](Fields& inner) {
                           inner.optional("dispatch", config.dispatch.bandwidth, "To the experts", {Bandwidth{1}});
                           inner.optional("combine", config.combine.bandwidth, "Back", {Bandwidth{1}});
                         });
  for (const auto* of : {&config.dispatch, &config.combine}) {
    if (!of->time || !of->bandwidth) { continue; }
    fields.problem("measured_bandwidth", "conflict", "\"measured_time\" says the same of this way",
                   "leave out one of them");
  }
  for (const char* key : {"", "ranks", "kind"}) { config.places[key] = fields.place(key); }
}

class ExpertExchangeReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& /*context*/) override { read_exchange(section, config_); }

  void fit(CaseParts& parts) override {
    const auto endpoints = static_cast<std::uint32_t>(parts.platform().cluster->endpoints.size());
    ExpertLayer& layer = config_.layer;
    layer.ranks = config_.ranks.value_or(endpoints);
    layer.tokens = static_cast<double>(config_.tokens);
    if (layer.ranks > endpoints) {
      return refuse(parts, "ranks", "too-few-endpoints",
                    fmt::format("{} ranks on {} endpoints", layer.ranks, endpoints), "take fewer, or more nodes");
    }
    if (config_.settings.kind == ExchangeKind::pairwise) {
      return refuse(parts, "kind", "no-such-exchange", "pairwise exchanges are a collective of their own",
                    R"(write "collective": {"kind": "all_to_all", ...}, or "kind": "deep_ep")");
    }
    const std::vector<std::string> faults = faults_of(config_.settings, layer);
    for (const std::string& fault : faults) { refuse(parts, "", "experts-do-not-fit", fault, ""); }
    if (faults.empty()) { check_routing(parts); }
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    refuse_software("an exchange of experts, whose kernels are not a collective library's,", parts);
    return std::make_shared<const ExpertExchangeExperiment>(config_);
  }

 private:
  void refuse(CaseParts& parts, const char* key, const char* code, std::string message, std::string hint) const {
    parts.context.problems.add({code, std::move(message), config_.places.find(key)->second, std::move(hint)});
  }

  void check_routing(CaseParts& parts) const {
    std::vector<std::uint32_t> all(config_.layer.ranks);
    for (std::uint32_t rank = 0; rank < config_.layer.ranks; ++rank) { all[rank] = rank; }
    try {
      routing_of(config_.settings, config_.layer);
      group_of(all, *parts.platform().cluster);
    } catch (const SimulationError& error) { refuse(parts, "", error.code().c_str(), error.what(), ""); }
  }

  ExpertExchangeConfig config_;
};

}  // namespace

std::unique_ptr<ExperimentReader> expert_exchange_reader() { return std::make_unique<ExpertExchangeReader>(); }

}  // namespace athanor
