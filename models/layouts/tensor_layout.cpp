#include "models/layouts/tensor_layout.hpp"

#include <algorithm>

#include "sim/error.hpp"
#include "sim/units.hpp"

namespace athanor {

TensorLayout replicated(std::size_t dimensions) { return {std::vector<MeshAxes>(dimensions)}; }

bool divides(const TensorLayout& layout, const TensorShape& shape, const DeviceMesh& mesh) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] % mesh.size(layout.dimensions[i]) != 0) { return false; }
  }
  return true;
}

TensorShape local_shape(const TensorLayout& layout, const TensorShape& shape, const DeviceMesh& mesh) {
  TensorShape local = shape;
  for (std::size_t i = 0; i < shape.size(); ++i) { local[i] /= mesh.size(layout.dimensions[i]); }
  return local;
}

std::int64_t elements(const TensorShape& shape) {
  constexpr Wide kMost = Wide{1} << 50;  // a petabyte of one byte each
  Wide product = 1;
  for (const std::int64_t each : shape) {
    product *= each;
    if (product <= kMost) { continue; }
    throw SimulationError("tensor-too-large", "a tensor has more than 2^50 elements: make its dimensions smaller");
  }
  return static_cast<std::int64_t>(product);
}

std::int64_t local_elements(const TensorLayout& layout, const TensorShape& shape, const DeviceMesh& mesh) {
  return elements(local_shape(layout, shape, mesh));
}

MeshAxes unused_axes(const TensorLayout& layout, const DeviceMesh& mesh) {
  std::vector<bool> used(mesh.axes.size());
  for (const std::uint8_t axis : layout.partial) { used[axis] = true; }
  for (const MeshAxes& each : layout.dimensions) {
    for (const std::uint8_t axis : each) { used[axis] = true; }
  }
  MeshAxes unused;
  for (std::uint8_t axis = 0; axis < used.size(); ++axis) {
    if (!used[axis]) { unused.push_back(axis); }
  }
  return unused;
}

std::string text_of(const TensorLayout& layout, const DeviceMesh& mesh) {
  std::string text = "[";
  for (std::size_t i = 0; i < layout.dimensions.size(); ++i) {
    if (i > 0) { text += ", "; }
    text += layout.dimensions[i].empty() ? "-" : mesh.names(layout.dimensions[i]);
  }
  text += "]";
  if (!layout.partial.empty()) { text += " partial over " + mesh.names(layout.partial); }
  return text;
}

}  // namespace athanor
