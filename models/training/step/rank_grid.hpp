#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/training/parallel_plan.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// Which ranks form which groups, as Megatron-LM numbers them (core 0.11: megatron/core/parallel_state.py,
/// RankGenerator): a rank is the mixed-radix number of its coordinates, the first dimension of the order varying
/// fastest. Experts have coordinates of their own over the same ranks, in which expert-data takes what is left.
class RankGrid {
 public:
  enum class Dimension : std::uint8_t { tensor, context, expert, data, pipeline };

  /// Of everything but experts. Requires an order that names each dimension once.
  static RankGrid dense(const ParallelPlan& plan);
  /// Of experts. Requires that their degrees divide the ranks of a stage.
  static RankGrid expert(const ParallelPlan& plan);

  std::uint32_t size(Dimension dimension) const { return sizes_[static_cast<std::size_t>(dimension)]; }
  /// By Dimension.
  std::uint32_t rank(const std::vector<std::uint32_t>& coordinates) const;

  /// All groups of one pipeline stage whose ranks differ in these dimensions only; those of `dimensions` that come
  /// first in the order vary fastest within a group.
  EndpointGroups groups(std::uint32_t stage, const std::vector<Dimension>& dimensions) const;
  /// For each rank of one stage, itself and the rank of the other that has the same coordinates otherwise.
  EndpointGroups pairs(std::uint32_t from, std::uint32_t to) const;

 private:
  RankGrid(std::vector<std::uint32_t> sizes, const std::string& order);
  template <class See>
  void for_each(const std::vector<Dimension>& dimensions, std::vector<std::uint32_t>& coordinates, See see) const;

  std::vector<std::uint32_t> sizes_;    ///< by Dimension
  std::vector<Dimension> order_;        ///< fastest first
  std::vector<std::uint32_t> strides_;  ///< by Dimension
};

/// Whether a text is an order such as "tp-cp-ep-dp-pp": every dimension once.
bool is_rank_order(const std::string& order);

}  // namespace athanor
