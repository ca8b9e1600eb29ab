#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "models/layouts/device_mesh.hpp"

namespace athanor {

/// Elements along each dimension.
using TensorShape = std::vector<std::int64_t>;

/// Where the elements of a tensor are. Each dimension is cut into equal blocks by the axes that shard it: of several,
/// the first is major, as in GSPMD. Along the partial axes devices hold terms whose sum is the tensor (DTensor's
/// Partial); along all other axes they hold the same. No axis occurs twice.
struct TensorLayout {
  std::vector<MeshAxes> dimensions;
  MeshAxes partial{};  ///< ascending
  auto operator<=>(const TensorLayout&) const = default;
};

/// Every device has the whole tensor.
TensorLayout replicated(std::size_t dimensions);

/// Whether axes divide what they shard: no layout here pads.
bool divides(const TensorLayout& layout, const TensorShape& shape, const DeviceMesh& mesh);

/// What one device holds. Requires divides().
TensorShape local_shape(const TensorLayout& layout, const TensorShape& shape, const DeviceMesh& mesh);
std::int64_t elements(const TensorShape& shape);
std::int64_t local_elements(const TensorLayout& layout, const TensorShape& shape, const DeviceMesh& mesh);

/// Axes that neither shard it nor are partial, ascending.
MeshAxes unused_axes(const TensorLayout& layout, const DeviceMesh& mesh);

/// "[data, -, tensor]", with " partial over data" where it is.
std::string text_of(const TensorLayout& layout, const DeviceMesh& mesh);

}  // namespace athanor
