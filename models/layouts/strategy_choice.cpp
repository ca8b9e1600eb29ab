#include "models/layouts/strategy_choice.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

namespace athanor {

namespace {

bool is_given(const LayoutGraph::Node& node, const GivenLayouts& given) {
  const bool may_be = node.constrained || node.what.kind == LayoutOperatorKind::source;
  return may_be && given.contains(node.tensor);
}

class Propagation {
 public:
  Propagation(const LayoutGraph& graph, const DeviceMesh& mesh, const GivenLayouts& given)
      : graph_(graph), mesh_(mesh), order_(in_order(graph)) {
    for (const LayoutGraph::Node& node : graph.nodes) {
      const bool fixed = is_given(node, given);
      known_.push_back(fixed ? given.at(node.tensor).dimensions : std::vector<MeshAxes>(node.what.labels.size()));
      fixed_.push_back(fixed);
    }
    for (const LayoutGraph::Edge& edge : graph.edges) {
      if (fixed_[edge.to] && graph.nodes[edge.to].constrained) { pass(edge, false); }
    }
  }

  std::vector<std::vector<MeshAxes>> run() {
    do {
      while (sweep(true)) {}
    } while (sweep(false));
    return known_;
  }

 private:
  bool sweep(bool along) {
    bool changed = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::uint32_t node = along ? order_[i] : order_[order_.size() - 1 - i];
      for (const LayoutGraph::Edge& edge : graph_.edges) {
        if ((along ? edge.to : edge.from) == node) { changed = pass(edge, along) || changed; }
      }
    }
    return changed;
  }

  bool pass(const LayoutGraph::Edge& edge, bool along) {
    const std::vector<std::int32_t>& out = graph_.nodes[edge.from].what.output;
    const std::vector<std::int32_t>& in = graph_.nodes[edge.to].what.inputs[edge.input];
    bool changed = false;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i] == kNoLabel || in[i] == kNoLabel) { continue; }
      const auto from = static_cast<std::size_t>(out[i]);
      const auto to = static_cast<std::size_t>(in[i]);
      changed = (along ? learn(edge.to, to, known_[edge.from][from]) : learn(edge.from, from, known_[edge.to][to])) ||
                changed;
    }
    return changed;
  }

  bool learn(std::uint32_t node, std::size_t label, const MeshAxes& axes) {
    std::vector<MeshAxes>& own = known_[node];
    const OperatorLabel& what = graph_.nodes[node].what.labels[label];
    if (fixed_[node] || axes.empty() || !own[label].empty() || what.whole || what.size % mesh_.size(axes) != 0) {
      return false;
    }
    for (const MeshAxes& each : own) {
      for (const std::uint8_t axis : each) {
        if (std::find(axes.begin(), axes.end(), axis) != axes.end()) { return false; }
      }
    }
    own[label] = axes;
    return true;
  }

  const LayoutGraph& graph_;
  const DeviceMesh& mesh_;
  std::vector<std::uint32_t> order_;
  std::vector<std::vector<MeshAxes>> known_;
  std::vector<bool> fixed_;
};

}  // namespace

std::vector<std::vector<OperatorStrategy>> possible_strategies(const LayoutGraph& graph, const DeviceMesh& mesh,
                                                               const GivenLayouts& given, bool training) {
  std::vector<std::vector<OperatorStrategy>> result;
  for (const LayoutGraph::Node& node : graph.nodes) {
    std::vector<OperatorStrategy> all = strategies_of(node.what, mesh, training && node.gradient);
    if (is_given(node, given)) {
      const TensorLayout& wanted = given.at(node.tensor);
      std::erase_if(all, [&](const OperatorStrategy& each) {
        return output_layout(node.what, each) != wanted || output_gradient_layout(node.what, each) != wanted;
      });
      if (all.empty()) {
        throw LayoutModelError("layouts", "no-strategy",
                               fmt::format("no strategy leaves '{}' as {}", node.tensor, text_of(wanted, mesh)),
                               "shard dimensions by axes that divide them");
      }
    }
    result.push_back(std::move(all));
  }
  return result;
}

void propagate(const LayoutGraph& graph, const DeviceMesh& mesh, const GivenLayouts& given,
               std::vector<std::vector<OperatorStrategy>>& strategies) {
  const std::vector<std::vector<MeshAxes>> known = Propagation(graph, mesh, given).run();
  for (std::size_t node = 0; node < strategies.size(); ++node) {
    const bool is_copy = graph.nodes[node].what.kind == LayoutOperatorKind::copy;
    if (is_copy && !graph.nodes[node].constrained) { continue; }
    std::erase_if(strategies[node], [&](const OperatorStrategy& each) { return each.labels != known[node]; });
  }
}

}  // namespace athanor
