#include "models/experiments/scenario/circuits_section.hpp"

#include <fmt/core.h>

#include "models/experiments/circuits.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/sizes.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// Of all pairs, which rotors visit one by one, and rounds have all messages of.
constexpr std::uint32_t kMostRanks = 1024;

void visit_link(Fields& fields, CircuitSwitch& circuits) {
  fields.required("rate", circuits.rate, "Of one circuit, each way");
  fields.required("latency", circuits.latency, "From rank to rank");
}

void read_rotor(Fields& fields, CircuitsConfig& config) {
  Rotor& rotor = config.rotor.emplace();
  fields.required("slot", rotor.slot, "How long each set of circuits stays, the delay at its beginning included");
  fields.optional("indirect", rotor.indirect,
                  "Whether circuits that would be idle carry data to ranks that send them on");
  fields.optional(
      "demand", config.demand, "What is to be carried",
      {{"all_to_all", CircuitsConfig::Demand::all_to_all}, {"permutation", CircuitsConfig::Demand::permutation}});
}

void read_change(Fields& fields, CircuitsConfig& config) {
  const auto as = [&](CircuitChange change) { return [&config, change](Fields&) { config.change = change; }; };
  fields.choice("change", "When circuits change",
                {{"best", "where that makes the collective faster", as(CircuitChange::best)},
                 {"never", "one set for all rounds", as(CircuitChange::never)},
                 {"rounds", "for each round with other pairs", as(CircuitChange::rounds)},
                 {"rotor", "all the time, whatever is to be sent", [&](Fields& f) { read_rotor(f, config); }}},
                "best");
}

class CircuitsReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override {
    section.required("ports", config_.circuits.ports, "Circuits that a rank has at once", {1, 1024});
    section.required_value("link", "What a circuit carries", [&](FieldValue& value) {
      value.object([&](Fields& fields) { visit_link(fields, config_.circuits); });
    });
    section.required("delay", config_.circuits.delay, "Until circuits that were changed carry data");
    read_change(section, config_);
    std::vector<Named<CollectiveKind>> kinds;
    for (const CollectiveKind kind : collective_kinds()) {
      const bool odd = kind == CollectiveKind::all_to_all_v || kind == CollectiveKind::send_receive;
      if (!odd && kind != CollectiveKind::barrier) { kinds.push_back({name(kind), kind}); }
    }
    section.optional("collective", config_.collective, "What is done", Names<CollectiveKind>(kinds));
    AlgorithmChoice choice;
    read_algorithm_choice(section, config_.collective, context.imports, context.problems, choice);
    config_.algorithms = choice.algorithms;
    config_.each = choice.each;
    imports_ = choice.imports;
    if (choice.synthesised) {
      section.problem("algorithm", "not-simulated", "synthesised collectives are made for links that stay",
                      "name algorithms of the catalog, or leave it out");
    }
    section.required_value("sizes", "Of a rank, as collectives count them: \"1MiB\", \"1MiB..1GiB\", a list",
                           [&](FieldValue& value) { read_sizes(value, config_.sizes); });
    if (context.changes.sizes) { config_.sizes = *context.changes.sizes; }
    if (config_.rotor && config_.rotor->slot <= config_.circuits.delay) {
      section.problem("change", "out-of-range", "a slot ends before its circuits carry data",
                      "make \"slot\" longer than \"delay\"");
    }
    place_ = section.place("");
  }

  void fit(CaseParts& parts) override {
    const std::size_t ranks = parts.platform().cluster->endpoints.size();
    if (ranks >= 2 && ranks <= kMostRanks) {
      config_.ranks = static_cast<std::uint32_t>(ranks);
      return;
    }
    parts.context.problems.add({"out-of-range",
                                fmt::format("circuits are simulated between 2 to {} ranks, and the "
                                            "cluster has {}",
                                            kMostRanks, ranks),
                                place_, "take another number of nodes"});
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    refuse_software("collectives over circuits", parts);
    return std::make_shared<const CircuitsExperiment>(std::move(config_), std::move(imports_));
  }

 private:
  CircuitsConfig config_;
  std::vector<std::shared_ptr<const Algorithm>> imports_;
  SourceLocation place_;
};

}  // namespace

std::unique_ptr<ExperimentReader> circuits_reader() { return std::make_unique<CircuitsReader>(); }

}  // namespace athanor
