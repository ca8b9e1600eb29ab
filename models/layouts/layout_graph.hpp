#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/layouts/operator_rules.hpp"

namespace athanor {

/// A tensor with a name.
struct NamedShape {
  std::string name;
  TensorShape shape;
};

/// Operators that are repeated, one repetition after the other: the layers of a model.
struct OperatorBlockText {
  std::string name;
  std::uint32_t repeat = 1;
  /// What comes out of one repetition, and what it is of the next one's inputs: {"y", "x"}.
  std::vector<std::pair<std::string, std::string>> carries{};
  std::vector<NamedShape> parameters{};  ///< of each repetition its own
  std::vector<OperatorText> operators;
};

/// A model as a graph of operators, as a user describes it. Names of tensors are unique.
struct LayoutModelText {
  std::vector<NamedShape> inputs;
  std::vector<OperatorBlockText> blocks;
};

/// Operators, and who gets what from whom.
struct LayoutGraph {
  struct Node {
    LayoutOperator what;
    std::string tensor;        ///< that comes out of it
    std::uint32_t repeat = 1;  ///< how often it runs
    bool parameter = false;
    bool gradient = false;     ///< in training, its output has one
    bool constrained = false;  ///< a copy, in the layout that is given for its tensor
  };
  struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t input = 0;  ///< of `to`
    std::uint32_t count = 1;  ///< how often the tensor is passed on
    bool to_next = false;     ///< by a repetition to the next one
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

/// Where in a model something is wrong: block and operator; none: of the block itself, or of the inputs.
struct PlaceInModel {
  std::uint32_t block = 0;
  std::uint32_t operator_number = 0;
  bool in_operator = false;
};

/// Of inputs, parameters and all operators. A tensor that several take goes through a copy, so that a conversion that
/// all of them need is there once, and their gradients are added before they go on. So does what an operator gives out
/// and `given` names: there it has the layout that is given for it. Throws LayoutModelError; `place`: where.
LayoutGraph graph_of(const LayoutModelText& model, const std::set<std::string>& given, PlaceInModel& place);

/// All nodes, each behind those that it takes something from within a repetition.
std::vector<std::uint32_t> in_order(const LayoutGraph& graph);

}  // namespace athanor
