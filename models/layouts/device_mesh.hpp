#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/workload/workload.hpp"

namespace athanor {

/// One axis of a mesh of devices, by which tensors may be sharded.
struct MeshAxis {
  std::string name;
  std::uint32_t size = 1;  ///< at least 1
  bool operator==(const MeshAxis&) const = default;
};

/// Axes of a mesh by number, from the one that varies slowest (major) to the one that varies fastest (minor).
using MeshAxes = std::vector<std::uint8_t>;

/// Devices in a grid of named axes, as GSPMD, Alpa and DTensor have it: device d is rank d, and the last axis varies
/// fastest from one rank to the next.
struct DeviceMesh {
  std::vector<MeshAxis> axes;

  std::uint32_t devices() const;
  /// The product of the sizes of these axes; 1 of none.
  std::uint32_t size(const MeshAxes& some) const;
  std::vector<std::uint32_t> coordinates(std::uint32_t device) const;
  std::uint32_t device(const std::vector<std::uint32_t>& coordinates) const;
  /// The place of a device among those that differ from it in these axes alone, counted with the last of them fastest.
  std::uint32_t place(const std::vector<std::uint32_t>& coordinates, const MeshAxes& some) const;
  /// Devices that differ in these axes alone are a group, in the order of their places. Groups come in the order of
  /// their first devices.
  EndpointGroups groups(const MeshAxes& some) const;
  /// "data x tensor"; "" of none.
  std::string names(const MeshAxes& some) const;
};

}  // namespace athanor
