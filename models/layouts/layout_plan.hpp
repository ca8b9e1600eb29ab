#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "models/layouts/choice_problem.hpp"
#include "models/layouts/layout_conversion.hpp"
#include "models/layouts/strategy_choice.hpp"

namespace athanor {

/// What is to be laid out.
struct LayoutTask {
  LayoutGraph graph;
  DeviceMesh mesh;
  GivenLayouts given{};
  bool search = true;                     ///< else what is not given is propagated
  bool training = false;                  ///< gradients of all parameters follow
  Precision precision = Precision::bf16;  ///< of all tensors
  std::int64_t element_bytes = 2;
  std::int64_t optimizer_bytes = 12;  ///< of each parameter in training, beside it and its gradient: Adam's in fp32
  bool keep_gathered = false;         ///< backward uses what forward has converted of parameters; else it does so again
  std::optional<Bytes> most_memory{};  ///< of a device
};

/// What things take.
struct LayoutPrices {
  LayoutStepPrice step;
  LayoutStepBound bound;
  std::function<Time(const Kernels&)> compute;
};

/// Steps between two operators, because the one leaves a tensor otherwise than the other needs it.
struct InsertedConversion {
  std::string tensor;
  bool gradient = false;  ///< of the gradient, back from the taker to the maker
  bool again = false;     ///< of a parameter in backward, once more
  bool parameter = false;
  std::string maker;  ///< what comes out of the operator that leaves it so
  std::string taker;
  TensorExtent extent;
  TensorLayout from;
  TensorLayout to;
  LayoutConversion conversion;
  std::uint32_t count = 1;
  std::optional<Time> plain;  ///< each, by gathering, summing and slicing alone
  bool in_backward() const { return gradient || again; }
  Time total() const { return conversion.time * count; }
};

/// Bytes of one device.
struct LayoutMemory {
  std::int64_t parameters = 0;   ///< in training with gradients and the optimizer's states
  std::int64_t activations = 0;  ///< in training: all tensors that backward reads
  std::int64_t working = 0;      ///< most that an operator reads and writes
  std::int64_t total() const { return parameters + activations + working; }
};

/// Layouts of all tensors, and what follows. Nothing overlaps: computing and collectives follow each other.
struct LayoutPlan {
  std::vector<OperatorStrategy> strategies;  ///< by node
  Time forward_compute;
  Time backward_compute;
  Time forward_communication;
  Time backward_communication;
  Time bound;  ///< nothing that could be chosen takes less time
  LayoutMemory memory;
  std::vector<InsertedConversion> inserted;
  std::uint64_t choices = 0;  ///< strategies of all operators together
  Time forward() const { return forward_compute + forward_communication; }
  Time backward() const { return backward_compute + backward_communication; }
  Time compute() const { return forward_compute + backward_compute; }
  Time communication() const { return forward_communication + backward_communication; }
  Time time() const { return forward() + backward(); }
};

/// Chooses strategies so that computing and collectives take least time together, of what is given and within the
/// memory, as Alpa's pass within operators (OSDI 2022) does: costs are of operators and of the edges between them. A
/// layer that is repeated is chosen once. In training an operator's gradients are computed with its own strategy: what
/// was replicated in forward has partial gradients and the other way round. Throws LayoutModelError where nothing fits,
/// and as the prices.
LayoutPlan plan_layouts(const LayoutTask& task, const LayoutPrices& prices, const std::stop_token& stop = {});

}  // namespace athanor
