#include "models/layouts/layout_plan.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kKibibyte = 1024;

/// Different layouts among those of several strategies.
struct LayoutKinds {
  std::vector<TensorLayout> layouts;
  std::vector<std::uint32_t> of;  ///< by strategy
};

template <class LayoutOf>
LayoutKinds kinds_of(const std::vector<OperatorStrategy>& strategies, const LayoutOf& layout_of) {
  LayoutKinds result;
  std::map<TensorLayout, std::uint32_t> known;
  for (const OperatorStrategy& strategy : strategies) {
    const TensorLayout layout = layout_of(strategy);
    const auto [place, is_new] = known.emplace(layout, static_cast<std::uint32_t>(result.layouts.size()));
    if (is_new) { result.layouts.push_back(layout); }
    result.of.push_back(place->second);
  }
  return result;
}

class LayoutPlanner {
 public:
  LayoutPlanner(const LayoutTask& task, const LayoutPrices& prices, const std::stop_token& stop)
      : task_(task),
        graph_(task.graph),
        prices_(prices),
        stop_(stop),
        converter_(task.mesh, prices.step, prices.bound, task.most_memory) {}

  LayoutPlan plan() {
    strategies_ = possible_strategies(graph_, task_.mesh, task_.given, task_.training);
    if (!task_.search) { propagate(graph_, task_.mesh, task_.given, strategies_); }
    ChoiceProblem problem;
    for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) { add_node(node, problem); }
    for (const LayoutGraph::Edge& edge : graph_.edges) { problem.pairs.push_back(pair_of(edge)); }
    ChoiceLimits limits;
    if (task_.most_memory) { limits.memory = task_.most_memory->count() / kKibibyte; }
    const ChoiceSolution solution = solve(problem, limits, stop_);
    if (solution.cost >= ChoiceProblem::kImpossible) { refuse(); }
    return plan_of(solution);
  }

 private:
  [[noreturn]] void refuse() const {
    if (task_.most_memory) {
      throw LayoutModelError(
          "memory", "out-of-memory",
          fmt::format("no layouts that were found need less than {} on each device", to_string(*task_.most_memory)),
          "allow more memory, use more devices, or give fewer layouts");
    }
    throw LayoutModelError("layouts", "no-strategy",
                           "no strategies of the operators go with the layouts that are given", "give fewer of them");
  }

  std::vector<bool> gradients_of(std::uint32_t node) const {
    std::vector<bool> result(graph_.nodes[node].what.inputs.size());
    for (const LayoutGraph::Edge& edge : graph_.edges) {
      if (edge.to == node && graph_.nodes[edge.from].gradient) { result[edge.input] = true; }
    }
    return result;
  }

  Time time_of_all(std::uint32_t node, const Kernels& kernels) const {
    return kernels.empty() ? Time::zero() : prices_.compute(kernels) * graph_.nodes[node].repeat;
  }

  Time forward_time(std::uint32_t node, const OperatorStrategy& strategy) const {
    return time_of_all(node, forward_kernels(graph_.nodes[node].what, strategy, task_.mesh, task_.precision));
  }

  Time backward_time(std::uint32_t node, const OperatorStrategy& strategy, const std::vector<bool>& gradients) const {
    if (!task_.training) { return Time::zero(); }
    const LayoutOperator& what = graph_.nodes[node].what;
    return time_of_all(node, backward_kernels(what, strategy, task_.mesh, task_.precision, gradients));
  }

  /// Backward of what is not linear reads what came in.
  bool reads_again(std::uint32_t node) const {
    const LayoutOperator& what = graph_.nodes[node].what;
    return !what.linear && graph_.nodes[node].gradient;
  }

  /// Whether backward reads what the node gives out, through copies of it, too.
  bool is_kept(std::uint32_t node) const {
    return std::any_of(graph_.edges.begin(), graph_.edges.end(), [&](const LayoutGraph::Edge& edge) {
      if (edge.from != node || edge.to_next) { return false; }
      const bool is_copy = graph_.nodes[edge.to].what.kind == LayoutOperatorKind::copy;
      return is_copy ? is_kept(edge.to) : reads_again(edge.to);
    });
  }

  std::int64_t local_bytes(const TensorLayout& layout, const TensorShape& shape) const {
    return local_elements(layout, shape, task_.mesh) * task_.element_bytes;
  }

  std::int64_t parameter_bytes(std::uint32_t node, const OperatorStrategy& strategy) const {
    const LayoutGraph::Node& what = graph_.nodes[node];
    if (!what.parameter) { return 0; }
    const std::int64_t count = local_elements(output_layout(what.what, strategy), what.what.output_shape, task_.mesh);
    const std::int64_t each = task_.training ? 2 * task_.element_bytes + task_.optimizer_bytes : task_.element_bytes;
    return count * each * what.repeat;
  }

  std::int64_t activation_bytes(std::uint32_t node, const OperatorStrategy& strategy) const {
    const LayoutGraph::Node& what = graph_.nodes[node];
    const bool is_own = !what.parameter && what.what.kind != LayoutOperatorKind::copy;
    if (!task_.training || !is_own || !is_kept(node)) { return 0; }
    return local_bytes(output_layout(what.what, strategy), what.what.output_shape) * what.repeat;
  }

  void add_node(std::uint32_t node, ChoiceProblem& problem) const {
    const std::vector<bool> gradients = gradients_of(node);
    std::vector<std::int64_t> costs;
    std::vector<std::int64_t> memory;
    for (const OperatorStrategy& strategy : strategies_[node]) {
      costs.push_back((forward_time(node, strategy) + backward_time(node, strategy, gradients)).count());
      memory.push_back((parameter_bytes(node, strategy) + activation_bytes(node, strategy)) / kKibibyte);
    }
    problem.costs.push_back(std::move(costs));
    problem.memory.push_back(std::move(memory));
  }

  TensorExtent extent_of(const LayoutGraph::Edge& edge) const {
    return {graph_.nodes[edge.from].what.output_shape, task_.element_bytes};
  }

  /// How often forward's conversion is made: of parameters in backward once more, unless it is kept.
  std::int64_t forward_count(const LayoutGraph::Edge& edge) const {
    const bool again = task_.training && graph_.nodes[edge.from].parameter && !task_.keep_gathered;
    return std::int64_t{edge.count} * (again ? 2 : 1);
  }

  /// Whether a converted tensor is kept for backward, beside the one that it was made of.
  bool keeps_converted(const LayoutGraph::Edge& edge) const {
    const bool is_parameter = graph_.nodes[edge.from].parameter;
    return task_.training && (is_parameter ? task_.keep_gathered : reads_again(edge.to));
  }

  std::vector<std::int64_t> times_between(const LayoutGraph::Edge& edge, const LayoutKinds& from, const LayoutKinds& to,
                                          std::int64_t count) {
    std::vector<std::int64_t> times;
    for (const TensorLayout& a : from.layouts) {
      for (const TensorLayout& b : to.layouts) {
        const std::optional<Time> time = converter_.time(extent_of(edge), a, b);
        times.push_back(time ? (*time * count).count() : ChoiceProblem::kImpossible);
      }
    }
    return times;
  }

  ChoiceProblem::Pair pair_of(const LayoutGraph::Edge& edge) {
    if (stop_.stop_requested()) { throw Interrupted(); }
    const LayoutOperator& maker = graph_.nodes[edge.from].what;
    const LayoutOperator& taker = graph_.nodes[edge.to].what;
    const std::vector<OperatorStrategy>& makers = strategies_[edge.from];
    const std::vector<OperatorStrategy>& takers = strategies_[edge.to];
    const LayoutKinds out = kinds_of(makers, [&](const auto& each) { return output_layout(maker, each); });
    const LayoutKinds in = kinds_of(takers, [&](const auto& each) { return input_layout(taker, each, edge.input); });
    const std::vector<std::int64_t> forward = times_between(edge, out, in, forward_count(edge));
    ChoiceProblem::Pair pair{edge.from, edge.to, {}};
    for (std::size_t i = 0; i < makers.size(); ++i) {
      for (std::size_t j = 0; j < takers.size(); ++j) {
        pair.costs.push_back(forward[out.of[i] * in.layouts.size() + in.of[j]]);
        if (!keeps_converted(edge)) { continue; }
        const TensorLayout& needed = in.layouts[in.of[j]];
        const bool same = out.layouts[out.of[i]] == needed;
        pair.memory.push_back(same ? 0 : local_bytes(needed, maker.output_shape) * edge.count / kKibibyte);
      }
    }
    if (task_.training && graph_.nodes[edge.from].gradient) { add_gradient(edge, pair); }
    return pair;
  }

  void add_gradient(const LayoutGraph::Edge& edge, ChoiceProblem::Pair& pair) {
    const LayoutOperator& maker = graph_.nodes[edge.from].what;
    const LayoutOperator& taker = graph_.nodes[edge.to].what;
    const std::vector<OperatorStrategy>& makers = strategies_[edge.from];
    const std::vector<OperatorStrategy>& takers = strategies_[edge.to];
    const LayoutKinds needed = kinds_of(makers, [&](const auto& each) { return output_gradient_layout(maker, each); });
    const LayoutKinds made =
        kinds_of(takers, [&](const auto& each) { return input_gradient_layout(taker, each, edge.input); });
    const std::vector<std::int64_t> times = times_between(edge, made, needed, edge.count);
    for (std::size_t i = 0; i < makers.size(); ++i) {
      for (std::size_t j = 0; j < takers.size(); ++j) {
        std::int64_t& cost = pair.costs[i * takers.size() + j];
        cost = std::min(cost + times[made.of[j] * needed.layouts.size() + needed.of[i]], ChoiceProblem::kImpossible);
      }
    }
  }

  LayoutPlan plan_of(const ChoiceSolution& solution) {
    LayoutPlan plan;
    plan.bound = Time{solution.bound};
    for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) {
      const OperatorStrategy& strategy = strategies_[node][solution.chosen[node]];
      plan.strategies.push_back(strategy);
      plan.forward_compute += forward_time(node, strategy);
      plan.backward_compute += backward_time(node, strategy, gradients_of(node));
      plan.memory.parameters += parameter_bytes(node, strategy);
      plan.memory.activations += activation_bytes(node, strategy);
      plan.memory.working = std::max(plan.memory.working, working_bytes(node, strategy));
      plan.choices += strategies_[node].size();
    }
    for (const LayoutGraph::Edge& edge : graph_.edges) { insert(edge, plan); }
    for (const InsertedConversion& each : plan.inserted) {
      (each.in_backward() ? plan.backward_communication : plan.forward_communication) += each.total();
    }
    return plan;
  }

  std::int64_t working_bytes(std::uint32_t node, const OperatorStrategy& strategy) const {
    const LayoutOperator& what = graph_.nodes[node].what;
    if (what.kind == LayoutOperatorKind::source || what.kind == LayoutOperatorKind::copy) { return 0; }
    std::int64_t sum = local_bytes(output_layout(what, strategy), what.output_shape);
    for (std::size_t i = 0; i < what.inputs.size(); ++i) {
      sum += local_bytes(input_layout(what, strategy, i), what.input_shapes[i]);
    }
    return sum;
  }

  void insert(const LayoutGraph::Edge& edge, LayoutPlan& plan) {
    const LayoutOperator& maker = graph_.nodes[edge.from].what;
    const LayoutOperator& taker = graph_.nodes[edge.to].what;
    const OperatorStrategy& made = plan.strategies[edge.from];
    const OperatorStrategy& taken = plan.strategies[edge.to];
    const TensorLayout out = output_layout(maker, made);
    const TensorLayout in = input_layout(taker, taken, edge.input);
    InsertedConversion forward = inserted(edge, out, in);
    const bool is_kept = !forward.conversion.steps.empty() && keeps_converted(edge);
    if (is_kept) { plan.memory.activations += local_bytes(in, maker.output_shape) * edge.count; }
    add(forward, plan);
    if (forward_count(edge) > edge.count) {
      forward.again = true;
      add(forward, plan);
    }
    if (!task_.training || !graph_.nodes[edge.from].gradient) { return; }
    InsertedConversion back =
        inserted(edge, input_gradient_layout(taker, taken, edge.input), output_gradient_layout(maker, made));
    back.gradient = true;
    add(back, plan);
  }

  static void add(const InsertedConversion& each, LayoutPlan& plan) {
    if (!each.conversion.steps.empty()) { plan.inserted.push_back(each); }
  }

  /// Of a copy those that take it, else what comes out of the operator.
  std::string takers_of(std::uint32_t node) const {
    if (graph_.nodes[node].what.kind != LayoutOperatorKind::copy) { return graph_.nodes[node].tensor; }
    std::string all;
    for (const LayoutGraph::Edge& edge : graph_.edges) {
      if (edge.from == node) { all += (all.empty() ? "" : "', '") + takers_of(edge.to); }
    }
    return all.empty() ? graph_.nodes[node].tensor : all;
  }

  InsertedConversion inserted(const LayoutGraph::Edge& edge, const TensorLayout& from, const TensorLayout& to) {
    const LayoutGraph::Node& maker = graph_.nodes[edge.from];
    InsertedConversion result{.tensor = maker.tensor,
                              .parameter = maker.parameter,
                              .maker = maker.tensor,
                              .taker = takers_of(edge.to),
                              .extent = extent_of(edge),
                              .from = from,
                              .to = to,
                              .conversion = {},
                              .count = edge.count,
                              .plain = {}};
    const std::optional<LayoutConversion> found = converter_.find(result.extent, from, to);
    if (!found) {
      throw LayoutModelError("layouts", "no-strategy", "a layout cannot be reached", "give fewer layouts");
    }
    result.conversion = *found;
    if (const auto plain = converter_.find_plain(result.extent, from, to)) { result.plain = plain->time; }
    return result;
  }

  const LayoutTask& task_;
  const LayoutGraph& graph_;
  const LayoutPrices& prices_;
  const std::stop_token& stop_;
  LayoutConverter converter_;
  std::vector<std::vector<OperatorStrategy>> strategies_;
};

}  // namespace

LayoutPlan plan_layouts(const LayoutTask& task, const LayoutPrices& prices, const std::stop_token& stop) {
  return LayoutPlanner(task, prices, stop).plan();
}

}  // namespace athanor
