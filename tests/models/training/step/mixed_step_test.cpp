// Steps of ranks that are not alike: GPUs of several speeds, stages with unlike layers, copies with unlike batches.
#include <algorithm>
#include <map>
#include <numeric>

#include <doctest/doctest.h>

#include "models/training/step/lanes.hpp"
#include "models/training/step/step_workload.hpp"
#include "tests/models/training/step/told_times.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

WorkPiece computes(Time time) {
  WorkPiece piece;
  piece.label = "work";
  piece.time = time;
  return piece;
}

WorkPiece all_reduces() {
  WorkPiece piece;
  piece.computes = false;
  piece.label = "all-reduce";
  piece.size = 1000_B;
  return piece;
}

/// Of every place one layer of these forward and backward times.
struct PassTimes {
  Time forward;
  Time backward;
  Time both() const { return forward + backward; }
};

StepPieces pieces_of(const std::vector<PassTimes>& places, double parameters = 0) {
  StepPieces pieces;
  for (const PassTimes& each : places) {
    LayerPieces layer;
    layer.forward = {computes(each.forward)};
    layer.backward = {computes(each.backward)};
    layer.dense_parameters = parameters;
    pieces.places.push_back({.layers = {layer}});
  }
  pieces.boundaries.assign(places.size() - 1, 1000_B);
  pieces.optimizer.resize(places.size());
  return pieces;
}

const auto kFree = [](const Workload::Call&) { return Time::zero(); };

/// `kinds`: the pieces of each kind of GPU.
Workload workload_on(const ParallelPlan& plan, const std::vector<std::uint32_t>& kind_of_rank,
                     const std::vector<StepPieces>& kinds) {
  const StepLanes lanes(plan, kind_of_rank);
  std::map<std::uint32_t, PipelineSchedule> schedules;
  std::vector<LaneStep> steps;
  for (const StepLane& lane : lanes.all()) {
    const auto [found, fresh] = schedules.try_emplace(lane.micro_batches);
    if (fresh) { found->second = schedule_of(with_micro_batches(plan, lane.micro_batches)); }
    LaneStep& step = steps.emplace_back(LaneStep{&found->second, {}});
    for (const std::uint32_t kind : lane.kinds) { step.of_stage.push_back(&kinds.at(kind)); }
  }
  return step_workload(plan, lanes, steps);
}

Time step_on(const ParallelPlan& plan, const std::vector<std::uint32_t>& kind_of_rank,
             const std::vector<StepPieces>& kinds) {
  return run_with(workload_on(plan, kind_of_rank, kinds), kFree).time;
}

ParallelPlan pipeline_plan(std::uint32_t stages, std::uint32_t copies, std::uint32_t micro_batches) {
  ParallelPlan plan;
  plan.pipeline = stages;
  plan.data = copies;
  plan.global_batch = micro_batches * copies;
  return plan;
}

}  // namespace

TEST_CASE("1F1B whose last stage is the slowest takes the sum of all stages and m - 1 times the slowest") {
  for (const std::uint32_t p : {2U, 3U, 4U, 8U}) {
    for (const std::uint32_t m : {1U, 2U, 7U, 8U, 16U}) {
      CAPTURE(p);
      CAPTURE(m);
      std::vector<PassTimes> places;
      Time sum;
      for (std::uint32_t stage = 0; stage < p; ++stage) {
        places.push_back({1_us * (stage + 1), 2_us * (stage + 1)});
        sum += places.back().both();
      }
      CHECK(step_on(pipeline_plan(p, 1, m), {}, {pieces_of(places)}) == sum + places.back().both() * (m - 1));
    }
  }
}

// Stage 0 is busy all the time but for the wait behind its first two forwards and before its last backward.
TEST_CASE("1F1B of two stages of which the first is slower waits for the second at both ends alone") {
  for (const PassTimes first : {PassTimes{3_us, 6_us}, PassTimes{2_us, 7_us}, PassTimes{5_us, 5_us}}) {
    for (const PassTimes second : {PassTimes{1_us, 2_us}, PassTimes{2_us, 4_us}, PassTimes{3_us, 5_us}}) {
      for (const std::uint32_t m : {2U, 3U, 8U}) {
        const Time wait = std::max(Time::zero(), second.both() - first.forward) +
                          std::max(Time::zero(), second.both() - first.backward);
        CHECK(step_on(pipeline_plan(2, 1, m), {}, {pieces_of({first, second})}) == first.both() * m + wait);
      }
    }
  }
}

TEST_CASE("a slow GPU makes the step as long as it takes, and all others wait for it") {
  for (const std::uint32_t copies : {2U, 5U, 16U}) {
    for (const std::int64_t factor : {1, 2, 10}) {
      const std::vector<StepPieces> kinds{pieces_of({{3_us, 6_us}}, 1000),
                                          pieces_of({{3_us * factor, 6_us * factor}}, 1000)};
      std::vector<std::uint32_t> kind_of_rank(copies);
      kind_of_rank[copies / 2] = 1;
      CHECK(step_on(pipeline_plan(1, copies, 4), kind_of_rank, kinds) == 9_us * 4 * factor);
    }
  }
}

TEST_CASE("copies that are slow at different stages do not add their delays up") {
  const PassTimes fast{2_us, 4_us};
  const PassTimes slow{6_us, 12_us};
  const std::vector<StepPieces> kinds{pieces_of({fast, fast}, 1000), pieces_of({slow, slow}, 1000)};
  ParallelPlan plan = pipeline_plan(2, 2, 8);
  // Ranks: copies of stage 0, then of stage 1.
  const Time late = step_on(plan, {0, 0, 0, 1}, kinds);
  const Time early = step_on(plan, {1, 0, 0, 0}, kinds);
  CHECK(late == fast.both() + slow.both() * 8);
  CHECK(early == slow.both() * 8);  // the second stage is done before the first has need of it
  CHECK(step_on(plan, {1, 0, 0, 1}, kinds) == std::max(late, early));
  CHECK(step_on(plan, {1, 0, 1, 0}, kinds) == slow.both() * 9);
}

TEST_CASE("tensor ranks wait for the slowest of them at each collective, not once") {
  StepPieces one = pieces_of({{0_us, 0_us}});
  StepPieces other = one;
  const auto forward = [](Time first, Time second) { return Pieces{computes(first), all_reduces(), computes(second)}; };
  one.places[0].layers[0].forward = forward(3_us, 1_us);
  other.places[0].layers[0].forward = forward(1_us, 5_us);
  ParallelPlan plan;
  plan.tensor = 2;
  CHECK(step_on(plan, {0, 0}, {one, other}) == 4_us);
  CHECK(step_on(plan, {1, 1}, {one, other}) == 6_us);
  CHECK(step_on(plan, {0, 1}, {one, other}) == 8_us);
  for (StepPieces* pieces : {&one, &other}) {
    std::erase_if(pieces->places[0].layers[0].forward, [](const WorkPiece& piece) { return !piece.computes; });
  }
  CHECK(step_on(plan, {0, 1}, {one, other}) == 6_us);
}

TEST_CASE("a step takes what the copy does that has most to do for its speed") {
  const std::vector<StepPieces> kinds{pieces_of({{1_us, 2_us}}, 1000), pieces_of({{3_us, 6_us}}, 1000)};
  for (const std::uint32_t slow : {1U, 2U, 3U, 4U}) {
    ParallelPlan plan = pipeline_plan(1, 2, 8);
    plan.mixed.micro_batches = {16 - slow, slow};
    CHECK(step_on(plan, {0, 1}, kinds) == std::max(3_us * (16 - slow), 9_us * slow));
  }
}

TEST_CASE("ranks with the same GPUs and batches are one lane, whose number does not grow with copies") {
  for (const std::uint32_t copies : {4U, 64U}) {
    ParallelPlan plan = pipeline_plan(4, copies, 8);
    plan.tensor = 2;
    std::vector<std::uint32_t> kind_of_rank(plan.ranks());
    CHECK(StepLanes(plan, kind_of_rank).all().size() == 1);
    // Half of the copies have other GPUs everywhere: the order is tensor, data, pipeline.
    for (std::uint32_t rank = 0; rank < plan.ranks(); ++rank) {
      kind_of_rank[rank] = rank / plan.tensor % copies < copies / 2 ? 1 : 0;
    }
    const StepLanes lanes(plan, kind_of_rank);
    REQUIRE(lanes.all().size() == 2);
    CHECK(lanes.all()[0].ranks == copies);
    CHECK(lanes.all()[0].ranks + lanes.all()[1].ranks == plan.ranks() / plan.pipeline);
    // Two stages of other GPUs are the same for all copies.
    for (std::uint32_t rank = 0; rank < plan.ranks(); ++rank) { kind_of_rank[rank] = rank < plan.ranks() / 2 ? 1 : 0; }
    REQUIRE(StepLanes(plan, kind_of_rank).all().size() == 1);
    CHECK(StepLanes(plan, kind_of_rank).all()[0].kinds == std::vector<std::uint32_t>{1, 1, 0, 0});
    kind_of_rank[1] = 2;  // one rank of one tensor group: both of its ranks, and all others
    CHECK(StepLanes(plan, kind_of_rank).all().size() == 3);
  }
}

TEST_CASE("every rank is in one worker, and groups of several lanes have all of them as callers") {
  ParallelPlan plan = pipeline_plan(2, 4, 2);
  const std::vector<StepPieces> kinds{pieces_of({{1_us, 2_us}, {1_us, 2_us}}, 1000),
                                      pieces_of({{3_us, 6_us}, {3_us, 6_us}}, 1000)};
  const Workload workload = workload_on(plan, {0, 0, 1, 0, 0, 0, 0, 0}, kinds);
  REQUIRE(workload.workers.size() == 4);
  std::vector<std::uint32_t> all;
  for (const Workload::Worker& worker : workload.workers) {
    CHECK(worker.ranks == worker.endpoints.size());
    all.insert(all.end(), worker.endpoints.begin(), worker.endpoints.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<std::uint32_t> expected(8);
  std::iota(expected.begin(), expected.end(), 0U);
  CHECK(all == expected);
  for (const Workload::Communicator& each : workload.communicators) {
    if (each.use == Parallelism::data) { CHECK(each.workers.size() == 2); }
  }
  for (const Workload::Channel& each : workload.channels) {
    CHECK(each.pairs->size() == workload.workers[each.from].ranks);
  }
}
