#include "models/experiments/scenario/resolve_layouts.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "models/experiments/layouts.hpp"
#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/training_gpus.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// Between blanks.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words{""};
  for (const char letter : text) {
    if (letter == ' ') {
      if (!words.back().empty()) { words.emplace_back(); }
    } else {
      words.back() += letter;
    }
  }
  if (words.back().empty()) { words.pop_back(); }
  return words;
}

class LayoutsResolution {
 public:
  LayoutsResolution(ReadingContext& context, const ClusterConfig& described, const Cluster& cluster,
                    const LayoutsConfig& config)
      : context_(context), described_(described), cluster_(cluster), config_(config) {}

  std::shared_ptr<const LayoutsSetup> resolve() {
    auto setup = std::make_shared<LayoutsSetup>();
    setup->task.mesh = config_.mesh;
    setup->task.search = config_.strategy == LayoutStrategy::searched;
    setup->task.training = config_.training;
    setup->task.precision = config_.precision;
    setup->task.element_bytes = config_.precision == Precision::fp32 ? 4 : 2;
    setup->task.optimizer_bytes = config_.optimizer_bytes.value_or(12);
    setup->task.keep_gathered = config_.keep_gathered.value_or(false);
    setup->task.most_memory = config_.memory;
    setup->max_error = config_.max_error;
    for (const auto& [column, value] : config_.measured) {
      if (value) { setup->measured.emplace(column, *value); }
    }
    const bool fits = fit_mesh() && build_graph(setup->task) && read_given(setup->task) && check(setup->task) &&
                      find_gpu(*setup) && find_compute(*setup);
    if (!fits) { return nullptr; }
    describe(*setup);
    return setup;
  }

 private:
  bool problem(const SourceLocation& place, const std::string& code, std::string message, std::string hint) {
    context_.problems.add({code, std::move(message), place, std::move(hint)});
    return false;
  }

  const SourceLocation& place(std::string_view key) const { return config_.places.find(key)->second; }

  bool fit_mesh() {
    std::set<std::string> names;
    std::uint64_t devices = 1;
    for (const MeshAxis& axis : config_.mesh.axes) {
      if (!names.insert(axis.name).second) {
        return problem(place("mesh"), "name-twice", fmt::format("there are two axes '{}'", axis.name),
                       "give each a name of its own");
      }
      if (axis.name.empty() || axis.name.find(' ') != std::string::npos) {
        return problem(place("mesh"), "wrong-name", fmt::format("'{}' is no name of an axis", axis.name),
                       "use a word without blanks");
      }
      devices = std::min<std::uint64_t>(devices * axis.size, UINT32_MAX);
    }
    if (config_.mesh.axes.size() > 4) {
      return problem(place("mesh"), "too-many-axes", fmt::format("a mesh of {} axes", config_.mesh.axes.size()),
                     "use four at most");
    }
    const std::uint64_t endpoints = cluster_.endpoints.size();
    if (devices == endpoints) { return true; }
    return problem(place("mesh"), "wrong-mesh",
                   fmt::format("the mesh has {} devices, and the cluster has {} endpoints", devices, endpoints),
                   "make the product of its sizes the number of endpoints");
  }

  bool refuse(const LayoutModelError& error, const PlaceInModel& where) {
    SourceLocation at = place("inputs");
    if (where.in_operator) {
      at = config_.operator_places[where.block][where.operator_number];
    } else if (where.block < config_.block_places.size()) {
      at = config_.block_places[where.block];
    }
    const std::string what =
        where.in_operator
            ? fmt::format("operator '{}': ", config_.model.blocks[where.block].operators[where.operator_number].output)
            : "";
    return problem(at, error.code(), what + error.what(), error.hint());
  }

  bool build_graph(LayoutTask& task) {
    PlaceInModel where;
    std::set<std::string> given;
    for (const GivenLayoutText& each : config_.given) { given.insert(each.tensor); }
    try {
      task.graph = graph_of(config_.model, given, where);
    } catch (const LayoutModelError& error) { return refuse(error, where); }
    return true;
  }

  bool read_given(LayoutTask& task) {
    std::vector<std::string> names;
    for (const LayoutGraph::Node& node : task.graph.nodes) { names.push_back(node.tensor); }
    for (const GivenLayoutText& each : config_.given) {
      const auto found = std::find(names.begin(), names.end(), each.tensor);
      if (found == names.end()) {
        const std::string near = nearest(each.tensor, names);
        return problem(each.place, "unknown-tensor", fmt::format("there is no tensor '{}'", each.tensor),
                       near.empty() ? "name one of the model's" : fmt::format("did you mean '{}'?", near));
      }
      const TensorShape& shape = task.graph.nodes[static_cast<std::size_t>(found - names.begin())].what.output_shape;
      std::optional<TensorLayout> layout = layout_of(each, shape);
      if (!layout) { return false; }
      if (!task.given.emplace(each.tensor, std::move(*layout)).second) {
        return problem(each.place, "name-twice", fmt::format("'{}' is given two layouts", each.tensor), "give it one");
      }
    }
    return true;
  }

  std::optional<TensorLayout> layout_of(const GivenLayoutText& text, const TensorShape& shape) {
    if (text.layout.size() != shape.size()) {
      problem(text.place, "wrong-layout",
              fmt::format("the layout of '{}' is of {} dimensions, and it has {}", text.tensor, text.layout.size(),
                          shape.size()),
              R"(write the axes of each dimension, "" where it is not sharded)");
      return std::nullopt;
    }
    TensorLayout layout = replicated(shape.size());
    std::set<std::uint8_t> used;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      for (const std::string& word : words_of(text.layout[i])) {
        const std::optional<std::uint8_t> axis = axis_of(text, word);
        if (!axis) { return std::nullopt; }
        if (!used.insert(*axis).second) {
          problem(text.place, "axis-twice", fmt::format("axis '{}' is used twice in '{}'", word, text.tensor),
                  "an axis shards one dimension at most");
          return std::nullopt;
        }
        if (config_.mesh.axes[*axis].size > 1) { layout.dimensions[i].push_back(*axis); }  // one device shards nothing
      }
      const std::uint32_t parts = config_.mesh.size(layout.dimensions[i]);
      if (shape[i] % parts == 0) { continue; }
      problem(text.place, "does-not-divide",
              fmt::format("dimension {} of '{}' has {} elements, which {} devices do not divide", i, text.tensor,
                          shape[i], parts),
              "layouts do not pad: shard another dimension, or make it a multiple");
      return std::nullopt;
    }
    return layout;
  }

  std::optional<std::uint8_t> axis_of(const GivenLayoutText& text, const std::string& word) {
    std::vector<std::string> names;
    for (std::uint8_t i = 0; i < config_.mesh.axes.size(); ++i) {
      if (config_.mesh.axes[i].name == word) { return i; }
      names.push_back(config_.mesh.axes[i].name);
    }
    const std::string near = nearest(word, names);
    problem(text.place, "unknown-axis", fmt::format("the mesh has no axis '{}'", word),
            near.empty() ? fmt::format("it has {}", text_of(config_.mesh)) : fmt::format("did you mean '{}'?", near));
    return std::nullopt;
  }

  bool check(const LayoutTask& task) {
    try {
      possible_strategies(task.graph, task.mesh, task.given, task.training);
    } catch (const LayoutModelError& error) {
      return problem(place("given"), error.code(), error.what(), error.hint());
    }
    const bool has_parameters = std::any_of(task.graph.nodes.begin(), task.graph.nodes.end(),
                                            [](const LayoutGraph::Node& node) { return node.parameter; });
    if (!task.training || has_parameters) { return true; }
    return problem(place(""), "no-effect", "\"training\" is of parameters, and there are none",
                   "leave it out, or name \"parameters\" of a block");
  }

  bool find_gpu(LayoutsSetup& setup) {
    ClusterGpus gpus{{config_.gpu}, {}};
    if (!config_.gpu) { gpus = gpus_of(described_, cluster_, context_.library); }
    if (gpus.gpus.empty() || !gpus.gpus.front()) {
      return problem(place(""), "no-gpu", "nothing says which GPUs these are",
                     R"(name a preset: "gpu": "H100-SXM-80GB")");
    }
    if (gpus.gpus.size() > 1) {
      return problem(place(""), "unequal-gpus",
                     "the cluster has GPUs of several kinds, and devices of a mesh are alike",
                     R"(use nodes of one kind, or name what counts: "gpu": "H100-SXM-80GB")");
    }
    try {
      setup.gpu = find_gpu_rates(*gpus.gpus.front(), context_.library);
      peak_of(setup.gpu, config_.precision);
    } catch (const ScenarioError& error) {
      for (const Problem& each : error.problems()) { context_.problems.add(each); }
      return false;
    } catch (const SimulationError& error) {
      return problem(place("precision"), error.code(), error.what(), "choose another precision");
    }
    return true;
  }

  bool find_compute(LayoutsSetup& setup) {
    if (config_.compute) {
      setup.compute = *config_.compute;
      return true;
    }
    const auto pool = context_.pools.steps(context_.library);
    if (!pool) {
      return problem(place(""), "no-compute-profile", "the library has no pool that tells how fast GPUs compute",
                     "name a profile: \"compute\" (see athanor list compute)");
    }
    setup.compute = pooled_compute(*pool, compute_parts(setup.gpu, config_.precision, TrainedModel{}));
    return true;
  }

  void describe(LayoutsSetup& setup) const {
    std::size_t operators = 0;
    std::size_t repetitions = 0;
    for (const OperatorBlockText& block : config_.model.blocks) {
      operators += block.operators.size();
      repetitions += block.operators.size() * block.repeat;
    }
    setup.model = operators == repetitions ? fmt::format("{} operators", operators)
                                           : fmt::format("{} operators, repeated to {}", operators, repetitions);
    setup.notes.emplace_back("computing and collectives follow each other: nothing overlaps");
    setup.notes.push_back(
        fmt::format("kernels take what the compute profile {} says, one for each operator", setup.compute.name));
    if (setup.task.training) {
      setup.notes.push_back(fmt::format(
          "gradients of an operator are shared as the operator is; the optimizer's step is not counted{}",
          setup.task.keep_gathered ? "" : ", and what was gathered of parameters is gathered again in backward"));
    }
  }

  ReadingContext& context_;
  const ClusterConfig& described_;
  const Cluster& cluster_;
  const LayoutsConfig& config_;
};

}  // namespace

std::shared_ptr<const LayoutsSetup> resolve_layouts(ReadingContext& context, const ClusterConfig& described,
                                                    const Cluster& cluster, const LayoutsConfig& config) {
  return LayoutsResolution(context, described, cluster, config).resolve();
}

}  // namespace athanor
