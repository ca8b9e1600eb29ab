#include "models/layouts/layout_graph.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

class GraphBuilder {
 public:
  GraphBuilder(const LayoutModelText& model, const std::set<std::string>& given, PlaceInModel& place)
      : model_(model), given_(given), place_(place) {}

  LayoutGraph build() {
    for (const NamedShape& each : model_.inputs) { add_source(each, 1, false, std::nullopt); }
    for (std::uint32_t i = 0; i < model_.blocks.size(); ++i) {
      place_ = {i, 0, false};
      add_block(i);
    }
    copy_what_is_shared();
    find_gradients();
    return std::move(graph_);
  }

 private:
  /// Who makes a tensor, and in which block.
  struct Maker {
    std::uint32_t node = 0;
    std::optional<std::uint32_t> block;
  };

  void add_tensor(const std::string& name, std::uint32_t node, std::optional<std::uint32_t> block) {
    if (!makers_.emplace(name, Maker{node, block}).second) {
      throw LayoutModelError("output", "name-twice", fmt::format("there are two tensors '{}'", name),
                             "give each a name of its own");
    }
  }

  void add_source(const NamedShape& what, std::uint32_t repeat, bool parameter, std::optional<std::uint32_t> block) {
    const auto node = static_cast<std::uint32_t>(graph_.nodes.size());
    graph_.nodes.push_back({source_of(what.name, what.shape), what.name, repeat, parameter});
    add_tensor(what.name, node, block);
  }

  const Maker& maker(const std::string& name, const char* key) const {
    const auto found = makers_.find(name);
    if (found != makers_.end()) { return found->second; }
    std::vector<std::string> names;
    for (const auto& [each, made] : makers_) { names.push_back(each); }
    const std::string near = nearest(name, names);
    throw LayoutModelError(key, "unknown-tensor", fmt::format("there is no tensor '{}' before this", name),
                           near.empty() ? "name an input, a parameter or what an operator before gives out"
                                        : fmt::format("did you mean '{}'?", near));
  }

  void add_block(std::uint32_t number) {
    const OperatorBlockText& block = model_.blocks[number];
    for (const NamedShape& each : block.parameters) { add_source(each, block.repeat, true, number); }
    std::map<std::string, std::uint32_t> entries;
    for (const auto& [out, in] : block.carries) { entries[in] = add_entry(in, block); }
    for (std::uint32_t i = 0; i < block.operators.size(); ++i) {
      place_ = {number, i, true};
      add_operator(block.operators[i], number, entries);
    }
    place_ = {number, 0, false};
    for (const auto& [out, in] : block.carries) { carry(out, in, entries.at(in), block); }
  }

  /// What a repetition begins with: first what comes from before the block.
  std::uint32_t add_entry(const std::string& tensor, const OperatorBlockText& block) {
    const Maker& from = maker(tensor, "carries");
    const auto node = static_cast<std::uint32_t>(graph_.nodes.size());
    graph_.nodes.push_back({copy_of(tensor, graph_.nodes[from.node].what.output_shape), tensor, block.repeat, false});
    graph_.edges.push_back({from.node, node, 0, 1});
    return node;
  }

  void carry(const std::string& out, const std::string& in, std::uint32_t entry, const OperatorBlockText& block) {
    const Maker& made = maker(out, "carries");
    if (graph_.nodes[made.node].what.output_shape != graph_.nodes[entry].what.output_shape) {
      throw LayoutModelError("carries", "wrong-shape",
                             fmt::format("'{}' has another shape than '{}' of the next repetition", out, in),
                             "carry what has the same shape");
    }
    if (block.repeat > 1) { graph_.edges.push_back({made.node, entry, 0, block.repeat - 1, true}); }
  }

  void add_operator(const OperatorText& text, std::uint32_t block,
                    const std::map<std::string, std::uint32_t>& entries) {
    std::vector<TensorShape> shapes;
    std::vector<std::uint32_t> from;
    const std::uint32_t repeat = model_.blocks[block].repeat;
    for (const std::string& input : text.inputs) {
      const auto entry = entries.find(input);
      const Maker made = entry == entries.end() ? maker(input, "inputs") : Maker{entry->second, block};
      from.push_back(made.node);
      shapes.push_back(graph_.nodes[made.node].what.output_shape);
    }
    const auto node = static_cast<std::uint32_t>(graph_.nodes.size());
    graph_.nodes.push_back({operator_of(text, shapes), text.output, repeat, false});
    for (std::uint32_t i = 0; i < from.size(); ++i) { graph_.edges.push_back({from[i], node, i, repeat}); }
    add_tensor(text.output, node, block);
  }

  void copy_what_is_shared() {
    const auto makers = static_cast<std::uint32_t>(graph_.nodes.size());
    for (std::uint32_t from = 0; from < makers; ++from) {
      const LayoutOperatorKind kind = graph_.nodes[from].what.kind;
      const bool is_given = kind != LayoutOperatorKind::source && given_.contains(graph_.nodes[from].tensor);
      if (kind == LayoutOperatorKind::copy) {
        graph_.nodes[from].constrained = is_given;
      } else if (is_given || takers(from) > 1) {
        copy(from, is_given);
      }
    }
  }

  std::size_t takers(std::uint32_t from) const {
    return static_cast<std::size_t>(std::count_if(graph_.edges.begin(), graph_.edges.end(),
                                                  [&](const LayoutGraph::Edge& edge) { return edge.from == from; }));
  }

  void copy(std::uint32_t from, bool is_given) {
    const auto copy = static_cast<std::uint32_t>(graph_.nodes.size());
    for (LayoutGraph::Edge& edge : graph_.edges) {
      if (edge.from == from) { edge.from = copy; }
    }
    const LayoutGraph::Node& source = graph_.nodes[from];
    LayoutGraph::Node node{copy_of(source.tensor, source.what.output_shape), source.tensor, source.repeat};
    node.constrained = is_given;
    graph_.edges.push_back({from, copy, 0, source.repeat});
    graph_.nodes.push_back(std::move(node));
  }

  /// Of all that depends on a parameter: until nothing changes, for repetitions hand on what they have.
  void find_gradients() {
    for (LayoutGraph::Node& node : graph_.nodes) { node.gradient = node.parameter; }
    for (bool changed = true; changed;) {
      changed = false;
      for (const LayoutGraph::Edge& edge : graph_.edges) {
        if (!graph_.nodes[edge.from].gradient || graph_.nodes[edge.to].gradient) { continue; }
        graph_.nodes[edge.to].gradient = true;
        changed = true;
      }
    }
  }

  const LayoutModelText& model_;
  const std::set<std::string>& given_;
  PlaceInModel& place_;
  std::map<std::string, Maker> makers_;
  LayoutGraph graph_;
};

}  // namespace

LayoutGraph graph_of(const LayoutModelText& model, const std::set<std::string>& given, PlaceInModel& place) {
  return GraphBuilder(model, given, place).build();
}

std::vector<std::uint32_t> in_order(const LayoutGraph& graph) {
  std::vector<std::uint32_t> missing(graph.nodes.size());
  for (const LayoutGraph::Edge& edge : graph.edges) { missing[edge.to] += edge.to_next ? 0 : 1; }
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < missing.size(); ++i) {
    if (missing[i] == 0) { order.push_back(i); }
  }
  for (std::size_t done = 0; done < order.size(); ++done) {
    for (const LayoutGraph::Edge& edge : graph.edges) {
      if (edge.from == order[done] && !edge.to_next && --missing[edge.to] == 0) { order.push_back(edge.to); }
    }
  }
  return order;
}

}  // namespace athanor
