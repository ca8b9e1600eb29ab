#include "models/layouts/device_mesh.hpp"

#include <map>

namespace athanor {

std::uint32_t DeviceMesh::devices() const {
  std::uint32_t product = 1;
  for (const MeshAxis& axis : axes) { product *= axis.size; }
  return product;
}

std::uint32_t DeviceMesh::size(const MeshAxes& some) const {
  std::uint32_t product = 1;
  for (const std::uint8_t axis : some) { product *= axes[axis].size; }
  return product;
}

std::vector<std::uint32_t> DeviceMesh::coordinates(std::uint32_t device) const {
  std::vector<std::uint32_t> result(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    result[i] = device % axes[i].size;
    device /= axes[i].size;
  }
  return result;
}

std::uint32_t DeviceMesh::device(const std::vector<std::uint32_t>& coordinates) const {
  std::uint32_t result = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) { result = result * axes[i].size + coordinates[i]; }
  return result;
}

std::uint32_t DeviceMesh::place(const std::vector<std::uint32_t>& coordinates, const MeshAxes& some) const {
  std::uint32_t result = 0;
  for (const std::uint8_t axis : some) { result = result * axes[axis].size + coordinates[axis]; }
  return result;
}

EndpointGroups DeviceMesh::groups(const MeshAxes& some) const {
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_first;
  for (std::uint32_t each = 0; each < devices(); ++each) {
    const std::vector<std::uint32_t> own = coordinates(each);
    std::vector<std::uint32_t> first = own;
    for (const std::uint8_t axis : some) { first[axis] = 0; }
    std::vector<std::uint32_t>& group = by_first[device(first)];
    group.resize(size(some));
    group[place(own, some)] = each;
  }
  EndpointGroups result;
  for (auto& [first, group] : by_first) { result.push_back(std::move(group)); }
  return result;
}

std::string DeviceMesh::names(const MeshAxes& some) const {
  std::string text;
  for (const std::uint8_t axis : some) { text += (text.empty() ? "" : " x ") + axes[axis].name; }
  return text;
}

}  // namespace athanor
