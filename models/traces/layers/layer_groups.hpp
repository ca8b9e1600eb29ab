#pragma once

#include <cstdint>
#include <string>

#include "models/workload/workload.hpp"

namespace athanor {

/// How the ranks of a workload are divided, as the texts of ASTRA-sim and SimAI say it: tensor-parallel ranks stand
/// side by side, data-parallel ones apart by as many; of these, SimAI has expert-parallel ones side by side.
class LayerGroups {
 public:
  /// Throws SimulationError("not-in-layers") for communicators that are divided otherwise. Calls of one rank do not
  /// count.
  LayerGroups(const Workload& workload, bool experts);

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t tensor() const { return tensor_; }
  std::uint32_t expert() const { return expert_; }
  /// "ALLREDUCE", "ALLTOALL_EP": of a weight gradient or not. Throws as the constructor.
  std::string type_of(const Workload::Call& call, bool weight) const;

  static std::uint32_t size_of_group(const Workload& workload, const Workload::Call& call);

 private:
  bool is(std::uint32_t communicator, std::uint32_t size, std::uint32_t stride) const;

  const Workload& workload_;
  bool experts_;
  std::uint32_t ranks_ = 1;
  std::uint32_t tensor_ = 1;
  std::uint32_t expert_ = 1;
};

}  // namespace athanor
