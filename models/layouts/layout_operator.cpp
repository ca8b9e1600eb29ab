#include "models/layouts/layout_operator.hpp"

#include <algorithm>

#include "models/training/work_parts.hpp"

namespace athanor {

namespace {

bool has(const std::vector<std::int32_t>& labels, std::size_t label) {
  return std::find(labels.begin(), labels.end(), static_cast<std::int32_t>(label)) != labels.end();
}

MeshAxes sorted(MeshAxes axes) {
  std::sort(axes.begin(), axes.end());
  return axes;
}

/// Gives each axis to a label, or to none, or lets sums along it through.
class StrategyList {
 public:
  StrategyList(const LayoutOperator& each, const DeviceMesh& mesh, bool gradients)
      : each_(each), mesh_(mesh), gradients_(gradients) {
    current_.labels.resize(each.labels.size());
  }

  std::vector<OperatorStrategy> all() {
    place(0);
    return std::move(found_);
  }

 private:
  void place(std::uint8_t axis) {
    if (axis == mesh_.axes.size()) { return found_.push_back(current_); }
    place(axis + 1);
    if (mesh_.axes[axis].size == 1) { return; }
    for (std::size_t label = 0; label < each_.labels.size(); ++label) { shard(label, axis); }
    if (each_.linear && !each_.inputs.empty()) { let_through(current_.partial, axis); }
    if (each_.linear && gradients_ && !each_.inputs.empty()) { let_through(current_.gradient_partial, axis); }
  }

  /// Before, among or behind the axes that shard it already.
  void shard(std::size_t label, std::uint8_t axis) {
    if (each_.labels[label].whole) { return; }
    MeshAxes& axes = current_.labels[label];
    if (each_.labels[label].size % (std::int64_t{mesh_.size(axes)} * mesh_.axes[axis].size) != 0) { return; }
    for (std::size_t position = axes.size() + 1; position-- > 0;) {
      const auto where = static_cast<std::ptrdiff_t>(position);
      axes.insert(axes.begin() + where, axis);
      place(axis + 1);
      axes.erase(axes.begin() + where);
    }
  }

  void let_through(MeshAxes& axes, std::uint8_t axis) {
    axes.push_back(axis);
    place(axis + 1);
    axes.pop_back();
  }

  const LayoutOperator& each_;
  const DeviceMesh& mesh_;
  bool gradients_;
  OperatorStrategy current_;
  std::vector<OperatorStrategy> found_;
};

TensorLayout layout_of(const std::vector<std::int32_t>& labels, const OperatorStrategy& strategy) {
  TensorLayout layout = replicated(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != kNoLabel) { layout.dimensions[i] = strategy.labels[static_cast<std::size_t>(labels[i])]; }
  }
  return layout;
}

/// Axes of labels that are not among these.
MeshAxes summed_over(const std::vector<std::int32_t>& labels, const OperatorStrategy& strategy) {
  MeshAxes axes;
  for (std::size_t label = 0; label < strategy.labels.size(); ++label) {
    if (has(labels, label)) { continue; }
    axes.insert(axes.end(), strategy.labels[label].begin(), strategy.labels[label].end());
  }
  return axes;
}

TensorLayout with_partial(TensorLayout layout, MeshAxes axes, const MeshAxes& through) {
  axes.insert(axes.end(), through.begin(), through.end());
  layout.partial = sorted(std::move(axes));
  return layout;
}

double local_size(const LayoutOperator& each, const OperatorStrategy& strategy, const DeviceMesh& mesh,
                  const std::vector<std::int32_t>& labels) {
  double product = 1;
  for (const std::int32_t label : labels) {
    const auto index = static_cast<std::size_t>(label);
    product *= static_cast<double>(each.labels[index].size) / mesh.size(strategy.labels[index]);
  }
  return product;
}

Kernel product_kernel(Precision precision, double count, double m, double n, double k) {
  return gemm("product", precision, count, m, n, k);
}

struct LocalBytes {
  std::vector<double> inputs;
  double output = 0;
  double read = 0;  ///< of all inputs
};

LocalBytes local_bytes(const LayoutOperator& each, const OperatorStrategy& strategy, const DeviceMesh& mesh,
                       Precision precision) {
  LocalBytes local;
  const auto bytes = [&](const TensorLayout& layout, const TensorShape& shape) {
    return bytes_of(precision) * static_cast<double>(local_elements(layout, shape, mesh));
  };
  local.output = bytes(output_layout(each, strategy), each.output_shape);
  for (std::size_t i = 0; i < each.inputs.size(); ++i) {
    local.inputs.push_back(bytes(input_layout(each, strategy, i), each.input_shapes[i]));
    const bool looked_up = each.gathers && i + 1 == each.inputs.size();
    local.read += looked_up ? local.output : local.inputs.back();
  }
  return local;
}

}  // namespace

std::vector<OperatorStrategy> strategies_of(const LayoutOperator& each, const DeviceMesh& mesh, bool gradients) {
  return StrategyList(each, mesh, gradients).all();
}

TensorLayout input_layout(const LayoutOperator& each, const OperatorStrategy& strategy, std::size_t input) {
  return with_partial(layout_of(each.inputs[input], strategy), {}, strategy.partial);
}

TensorLayout output_layout(const LayoutOperator& each, const OperatorStrategy& strategy) {
  return with_partial(layout_of(each.output, strategy), summed_over(each.output, strategy), strategy.partial);
}

TensorLayout input_gradient_layout(const LayoutOperator& each, const OperatorStrategy& strategy, std::size_t input) {
  const std::vector<std::int32_t>& labels = each.inputs[input];
  return with_partial(layout_of(labels, strategy), summed_over(labels, strategy), strategy.gradient_partial);
}

TensorLayout output_gradient_layout(const LayoutOperator& each, const OperatorStrategy& strategy) {
  return with_partial(layout_of(each.output, strategy), {}, strategy.gradient_partial);
}

ProductLabels product_labels(const LayoutOperator& each) {
  ProductLabels result;
  for (std::size_t label = 0; label < each.labels.size(); ++label) {
    const bool first = has(each.inputs[0], label);
    const bool second = has(each.inputs[1], label);
    const bool out = has(each.output, label);
    const auto number = static_cast<std::int32_t>(label);
    if (first && second) {
      (out ? result.batch : result.inner).push_back(number);
    } else {
      (first ? result.rows : result.columns).push_back(number);
    }
  }
  return result;
}

Kernels forward_kernels(const LayoutOperator& each, const OperatorStrategy& strategy, const DeviceMesh& mesh,
                        Precision precision) {
  switch (each.kind) {
    case LayoutOperatorKind::source:
    case LayoutOperatorKind::copy: return {};
    case LayoutOperatorKind::product: {
      const ProductLabels labels = product_labels(each);
      const auto size = [&](const std::vector<std::int32_t>& some) { return local_size(each, strategy, mesh, some); };
      return {
          product_kernel(precision, size(labels.batch), size(labels.rows), size(labels.columns), size(labels.inner))};
    }
    case LayoutOperatorKind::memory: break;
  }
  const LocalBytes local = local_bytes(each, strategy, mesh, precision);
  return {memory("memory", local.read + local.output)};
}

Kernels backward_kernels(const LayoutOperator& each, const OperatorStrategy& strategy, const DeviceMesh& mesh,
                         Precision precision, const std::vector<bool>& has_gradient) {
  const bool any = std::find(has_gradient.begin(), has_gradient.end(), true) != has_gradient.end();
  if (!any || each.kind == LayoutOperatorKind::source || each.kind == LayoutOperatorKind::copy) { return {}; }
  if (each.kind == LayoutOperatorKind::product) {
    const Kernel forward = forward_kernels(each, strategy, mesh, precision).front();
    Kernels kernels;
    if (has_gradient[0]) {
      kernels.push_back(product_kernel(precision, forward.count, forward.m, forward.k, forward.n));
    }
    if (has_gradient[1]) {
      kernels.push_back(product_kernel(precision, forward.count, forward.k, forward.n, forward.m));
    }
    return kernels;
  }
  const LocalBytes local = local_bytes(each, strategy, mesh, precision);
  double written = 0;
  for (std::size_t i = 0; i < has_gradient.size(); ++i) {
    const bool looked_up = each.gathers && i + 1 == has_gradient.size();
    if (has_gradient[i]) { written += looked_up ? local.output : local.inputs[i]; }
  }
  const double read = each.linear || each.gathers ? 0 : local.read;
  return {memory("memory", local.output + read + written)};
}

}  // namespace athanor
