#include "models/training/step/rank_grid.hpp"

#include <doctest/doctest.h>

using namespace athanor;

namespace {

using Dimension = RankGrid::Dimension;

ParallelPlan plan(std::uint32_t tensor, std::uint32_t context, std::uint32_t pipeline, std::uint32_t data) {
  ParallelPlan result;
  result.tensor = tensor;
  result.context = context;
  result.pipeline = pipeline;
  result.data = data;
  return result;
}

}  // namespace

// The example in the comment of Megatron-LM's initialize_model_parallel: 16 GPUs, two for tensors, four stages.
TEST_CASE("ranks are grouped as Megatron-LM groups them") {
  const RankGrid grid = RankGrid::dense(plan(2, 1, 4, 2));
  CHECK(grid.groups(0, {Dimension::tensor}) == EndpointGroups{{0, 1}, {2, 3}});
  CHECK(grid.groups(3, {Dimension::tensor}) == EndpointGroups{{12, 13}, {14, 15}});
  CHECK(grid.groups(0, {Dimension::data}) == EndpointGroups{{0, 2}, {1, 3}});
  CHECK(grid.groups(2, {Dimension::data}) == EndpointGroups{{8, 10}, {9, 11}});
  CHECK(grid.pairs(0, 1) == EndpointGroups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
}

TEST_CASE("gradients are summed over context and data together") {
  const RankGrid grid = RankGrid::dense(plan(2, 2, 1, 2));
  CHECK(grid.groups(0, {Dimension::context}) == EndpointGroups{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  CHECK(grid.groups(0, {Dimension::context, Dimension::data}) == EndpointGroups{{0, 2, 4, 6}, {1, 3, 5, 7}});
}

TEST_CASE("experts are spread over ranks that otherwise hold the same, and over tensor ranks") {
  ParallelPlan experts = plan(2, 1, 2, 4);
  experts.expert = 4;
  const RankGrid grid = RankGrid::expert(experts);
  CHECK(grid.groups(0, {Dimension::expert}) == EndpointGroups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(grid.groups(0, {Dimension::data}) == EndpointGroups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  experts.expert_tensor = 2;
  CHECK(RankGrid::expert(experts).groups(1, {Dimension::expert}) == EndpointGroups{{8, 10, 12, 14}, {9, 11, 13, 15}});
}

TEST_CASE("another order puts pipeline stages beside each other") {
  ParallelPlan other = plan(2, 1, 2, 2);
  other.order = "tp-pp-dp-cp-ep";
  const RankGrid grid = RankGrid::dense(other);
  CHECK(grid.groups(0, {Dimension::data}) == EndpointGroups{{0, 4}, {1, 5}});
  CHECK(grid.pairs(0, 1) == EndpointGroups{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
}

TEST_CASE("an order names every dimension once") {
  CHECK(is_rank_order("tp-cp-ep-dp-pp"));
  CHECK_FALSE(is_rank_order("tp-cp-ep-dp"));
  CHECK_FALSE(is_rank_order("tp-tp-ep-dp-pp"));
  CHECK_FALSE(is_rank_order("tp-cp-ep-dp-xx"));
  CHECK_FALSE(is_rank_order(""));
}
