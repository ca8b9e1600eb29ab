#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/layouts/tensor_layout.hpp"
#include "models/training/kernel.hpp"

namespace athanor {

/// What an operator of a graph is, as far as it decides what may be sharded and what is computed.
enum class LayoutOperatorKind : std::uint8_t {
  source,   ///< an input or a parameter of the model: nothing is computed
  copy,     ///< what comes in goes out, to several: nothing is computed
  product,  ///< of two tensors, an einsum: on tensor cores
  memory,   ///< all others: as long as memory takes to read and write
};

/// A dimension that an operator has of its own: of its inputs, of its output, or of both.
struct OperatorLabel {
  std::int64_t size = 1;  ///< what axes that shard it must divide
  bool whole = false;     ///< no device can do its part without the others': softmax, norms
};

constexpr std::int32_t kNoLabel = -1;  ///< of a dimension that cannot be sharded: a broadcast one of size 1

/// An operator by the rule of einsum, which all of them follow: labels stand for dimensions. A label that shards inputs
/// and is not among the output's makes the output a sum over its axes; one that an input has not makes that input's
/// gradient one.
struct LayoutOperator {
  std::string name;
  LayoutOperatorKind kind = LayoutOperatorKind::memory;
  std::vector<OperatorLabel> labels{};
  std::vector<std::vector<std::int32_t>> inputs{};  ///< by input, the label of each of its dimensions
  std::vector<TensorShape> input_shapes{};
  std::vector<std::int32_t> output{};
  TensorShape output_shape{};
  bool linear = false;   ///< of sums, it gives their sum: what is partial may go through
  bool gathers = false;  ///< of its last input it reads what it needs alone: a look-up
};

/// How an operator is shared among devices: which axes shard each of its labels. Of linear ones, axes along which what
/// comes in is a sum, and what goes out is; and axes along which gradients are, on their way back.
struct OperatorStrategy {
  std::vector<MeshAxes> labels;
  MeshAxes partial{};
  MeshAxes gradient_partial{};
  auto operator<=>(const OperatorStrategy&) const = default;
};

/// All strategies whose axes divide their labels, in a fixed order; the one that shares nothing comes first.
/// `gradients`: of linear operators also those that let sums of gradients through.
std::vector<OperatorStrategy> strategies_of(const LayoutOperator& each, const DeviceMesh& mesh, bool gradients);

/// The layout in which an input is needed, and in which the output comes out.
TensorLayout input_layout(const LayoutOperator& each, const OperatorStrategy& strategy, std::size_t input);
TensorLayout output_layout(const LayoutOperator& each, const OperatorStrategy& strategy);
/// The layout in which the gradient of an input comes out, and in which that of the output is needed.
TensorLayout input_gradient_layout(const LayoutOperator& each, const OperatorStrategy& strategy, std::size_t input);
TensorLayout output_gradient_layout(const LayoutOperator& each, const OperatorStrategy& strategy);

/// What one device computes; nothing of sources and copies. Requires that the strategy's axes divide.
Kernels forward_kernels(const LayoutOperator& each, const OperatorStrategy& strategy, const DeviceMesh& mesh,
                        Precision precision);
/// Of gradients of all inputs that have one, by input.
Kernels backward_kernels(const LayoutOperator& each, const OperatorStrategy& strategy, const DeviceMesh& mesh,
                         Precision precision, const std::vector<bool>& has_gradient);

/// The labels of a product, by which of its tensors have them.
struct ProductLabels {
  std::vector<std::int32_t> batch;  ///< of all three
  std::vector<std::int32_t> rows;   ///< of the first and the output
  std::vector<std::int32_t> columns;
  std::vector<std::int32_t> inner;  ///< of both inputs, not of the output
};
ProductLabels product_labels(const LayoutOperator& each);

}  // namespace athanor
