#include "models/experiments/scenario/layouts_section.hpp"

#include <fmt/core.h>

#include "models/experiments/layouts.hpp"
#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/resolve_layouts.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kMostSize = std::int64_t{1} << 40;

void visit_axis(Fields& fields, MeshAxis& axis) {
  fields.required("axis", axis.name, "Its name");
  fields.required("size", axis.size, "Devices along it", {1, 1U << 20U});
}

void visit_shape(Fields& fields, NamedShape& tensor) {
  fields.required("name", tensor.name, "By which operators take it");
  fields.required("shape", tensor.shape, "Elements along each dimension", {1, kMostSize});
}

void visit_carry(Fields& fields, std::pair<std::string, std::string>& carry) {
  fields.required("from", carry.first, "What a repetition gives out");
  fields.required("to", carry.second, "What the next one takes it as; the first takes what has this name before");
}

std::vector<Fields::Kind> operator_kinds(OperatorText& text) {
  const auto plain = [](Fields&) {};
  const auto dimensions = [&](const char* meaning) {
    return [&, meaning](Fields& f) { f.optional("dimensions", text.dimensions, meaning); };
  };
  const auto kind = [&](OperatorName which, std::string_view meaning, const Fields::VisitObject& visit) {
    return Fields::Kind{name(which), meaning, [&text, which, visit](Fields& f) {
                          if (f.reading()) { text.kind = which; }
                          visit(f);
                        }};
  };
  return {kind(OperatorName::einsum, "a product of two tensors, or sums and transposes of one, by subscripts",
               [&](Fields& f) { f.required("subscripts", text.subscripts, R"(As NumPy has them: "bsh,hf->bsf")"); }),
          kind(OperatorName::element_wise, "of each element by itself", plain),
          kind(OperatorName::add, "likewise, and sums of partial sums", plain),
          kind(OperatorName::softmax, "needs its dimensions whole", dimensions("Which, from 0 on; absent: the last")),
          kind(OperatorName::layer_norm, "likewise; further inputs scale and shift",
               dimensions("Which, from 0 on; absent: the last")),
          kind(OperatorName::embedding, "looks indices up in a table", plain),
          kind(OperatorName::reduce, "sums over dimensions", dimensions("Which, from 0 on; absent: the last")),
          kind(OperatorName::transpose, "dimensions in another order",
               [&](Fields& f) { f.required("dimensions", text.dimensions, "Which of the input's comes where"); }),
          kind(OperatorName::reshape, "the same elements in another shape", [&](Fields& f) {
            f.required("shape", text.shape, "The new one", {1, kMostSize});
          })};
}

void visit_operator(Fields& fields, OperatorText& text) {
  fields.choice("kind", "What it computes", operator_kinds(text));
  fields.required("inputs", text.inputs, "Tensors that it takes");
  fields.required("output", text.output, "What it gives out, by a new name");
}

void visit_block(Fields& fields, LayoutsConfig& config, OperatorBlockText& block) {
  std::vector<SourceLocation> places;
  fields.optional("name", block.name, "For people");
  fields.optional("repeat", block.repeat, "How often it runs, one repetition after the other", {1, 100'000});
  fields.optional_list("carries", block.carries, "What a repetition hands to the next", visit_carry);
  fields.optional_list("parameters", block.parameters, "Of each repetition its own", visit_shape);
  fields.required_list("operators", block.operators, "In the order in which they run",
                       [&](Fields& inner, OperatorText& text) {
                         places.push_back(inner.place());
                         visit_operator(inner, text);
                       });
  if (block.repeat == 1 && !block.carries.empty()) {
    fields.problem("carries", "no-effect", "there is one repetition, and none that takes what it gives out",
                   R"(leave it out, or write how often it runs: "repeat": 2)");
  }
  config.block_places.push_back(fields.place());
  config.operator_places.push_back(std::move(places));
}

void read_hardware(Fields& fields, ReadingContext& context, LayoutsConfig& config) {
  fields.optional_value("compute", "How fast GPUs compute: a name of `athanor list compute`, a file, or the figures",
                        [&](FieldValue& value) {
                          read_compute_profile(value, context.files, context.library, context.problems,
                                               config.compute.emplace());
                        });
  optional_device(fields, "gpu", "Whose peak counts: a preset, one with changes, or a GPU in full; absent: the nodes'",
                  config.gpu);
}

void read_training(Fields& fields, LayoutsConfig& config) {
  fields.optional("training", config.training, "Gradients of all parameters are computed, too");
  fields.optional("optimizer_bytes", config.optimizer_bytes,
                  "In training, kept of each parameter beside it and its gradient; absent: 12, Adam's in fp32",
                  {0, 64});
  fields.optional("keep_gathered", config.keep_gathered,
                  "In training, backward uses what forward converted of parameters; absent: it converts them again");
  for (const char* key : {"optimizer_bytes", "keep_gathered"}) {
    if (fields.has(key) && !config.training) {
      fields.problem(key, "no-effect", "it is of training, and this is none",
                     R"(leave it out, or write "training": true)");
    }
  }
}

void read_measured(Fields& fields, LayoutsConfig& config) {
  constexpr Ratio kLeast{1, 1'000'000'000};
  constexpr Ratio kMost{1'000'000'000'000, 1};
  fields.optional_object("measured", "Figures that `athanor verify` holds results against", [&](Fields& inner) {
    for (const Column* column : LayoutsExperiment::measurable()) {
      inner.optional(column->key, config.measured[column], "As results have it", {kLeast, kMost});
    }
  });
  fields.optional("max_error", config.max_error, "It fails above this |simulated / measured - 1|", {{0, 1}, {100, 1}});
  for (const auto& [column, value] : config.measured) {
    if (value) { return; }
  }
  for (const char* key : {"measured", "max_error"}) {
    if (fields.has(key) && fields.ok()) {
      fields.problem(key, "no-effect", "no figure is named that was measured",
                     R"(leave it out, or write "measured": {"time_ms": 20})");
    }
  }
}

void read_given(Fields& fields, LayoutsConfig& config) {
  fields.optional_list("given", config.given, "Layouts of some tensors", [](Fields& inner, GivenLayoutText& text) {
    inner.required("tensor", text.tensor, "Which");
    inner.required("layout", text.layout,
                   R"(By dimension the axes that shard it, the major one first: ["data", "", "tensor"])");
    text.place = inner.place();
  });
}

}  // namespace

void visit(Fields& fields, ReadingContext& context, LayoutsConfig& config) {
  fields.required_list("mesh", config.mesh.axes,
                       "Axes of the mesh of devices; the last varies fastest from one rank to the next", visit_axis);
  fields.required_list("inputs", config.model.inputs, "Tensors that come from outside", visit_shape);
  fields.required_list("blocks", config.model.blocks, "Operators, and how often they are repeated",
                       [&](Fields& inner, OperatorBlockText& block) { visit_block(inner, config, block); });
  read_given(fields, config);
  fields.optional("strategy", config.strategy, "How what is not given is found",
                  {{"propagated", LayoutStrategy::propagated}, {"searched", LayoutStrategy::searched}});
  read_training(fields, config);
  fields.optional("precision", config.precision, "Of all tensors",
                  {{"fp32", Precision::fp32}, {"fp16", Precision::fp16}, {"bf16", Precision::bf16}});
  fields.optional("memory", config.memory, "Of a device: what is searched keeps within it", {Bytes{1}});
  read_hardware(fields, context, config);
  read_measured(fields, config);
  for (const char* key : {"mesh", "memory", "precision", "inputs", "given", ""}) {
    config.places[key] = fields.place(key);
  }
}

namespace {

class LayoutsReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override { athanor::visit(section, context, config_); }

  void fit(CaseParts& parts) override {
    setup_ = resolve_layouts(parts.context, *parts.scenario_case.cluster_config, *parts.platform().cluster, config_);
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    std::optional<WorkloadNccl> nccl = prepare_workload(setup_->task.mesh.devices(), parts);
    if (!nccl) { return nullptr; }
    return std::make_shared<const LayoutsExperiment>(setup_, std::move(*nccl));
  }

 private:
  LayoutsConfig config_;
  std::shared_ptr<const LayoutsSetup> setup_;
};

}  // namespace

std::unique_ptr<ExperimentReader> layouts_reader() { return std::make_unique<LayoutsReader>(); }

}  // namespace athanor
