#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/jobs/inventory.hpp"
#include "models/jobs/job.hpp"

namespace athanor {

/// What Volcano counts of each queue, job and node: thousandths of cores, MiB, thousandths of GPUs.
struct Amounts {
  static constexpr std::size_t kKinds = 3;
  enum Kind : std::uint8_t { cpu, memory, gpu };
  static constexpr std::int64_t kUnlimited = INT64_MAX / 4;  ///< nodes have as much as jobs want

  std::array<std::int64_t, kKinds> of = {};

  Amounts& operator+=(const Amounts& other) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) { of[kind] += other.of[kind]; }
    return *this;
  }
  Amounts& operator-=(const Amounts& other) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) { of[kind] -= other.of[kind]; }
    return *this;
  }
  friend Amounts operator+(Amounts a, const Amounts& b) { return a += b; }
  bool operator==(const Amounts&) const = default;
};

inline Amounts amounts_of(const Demand& each, std::int64_t tasks) {
  return {{std::int64_t{each.cpu_milli} * tasks, std::int64_t{each.memory_mib} * tasks,
           (std::int64_t{each.gpus} * Inventory::kWhole + each.gpu_milli) * tasks}};
}

inline Amounts amounts_of(const Shape& shape) {
  Amounts sum;
  for (const TaskGroup& group : shape) { sum += amounts_of(group.each, group.tasks); }
  return sum;
}

inline Amounts amounts_of(const Allocation& where, const Shape& shape) {
  Amounts sum;
  for (const NodeShare& share : where) { sum += amounts_of(shape[share.group].each, share.tasks); }
  return sum;
}

/// A task that asks for nothing: "best effort".
inline bool asks_for_nothing(const Demand& each) {
  return each.gpus == 0 && each.gpu_milli == 0 && each.nics == 0 && each.cpu_milli == 0 && each.memory_mib == 0;
}

}  // namespace athanor
