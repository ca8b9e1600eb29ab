#include "models/embeddings/recommender_step.hpp"

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/software/profile.hpp"
#include "models/workload/collective_timer.hpp"
#include "tests/models/embeddings/small_recommenders.hpp"
#include "tests/models/small_clusters.hpp"
#include "tests/models/training/step/told_times.hpp"

using namespace athanor;
using namespace athanor::literals;
using athanor::testing::small_setup;
using athanor::testing::star;
using athanor::testing::table_of;

namespace {

constexpr EmbeddingGrid kGrid{.ranks = 2, .per_node = 2, .batch = 2000};

/// Two tables on different GPUs, one of which does three times as much as the other.
RecommenderModel model_of_two() {
  RecommenderModel model;
  model.dense_features = 100;
  model.bottom = {64};
  model.top = {32, 2};
  model.tables = {table_of(100'000, 64, 30, TableSharding::table_wise, {0}),
                  table_of(100'000, 64, 90, TableSharding::table_wise, {1})};
  return model;
}

Time time_of_all(const Kernels& kernels, const RecommenderSetup& setup) {
  return time_of(kernels, setup.gpu, setup.compute);
}

/// All calls take as long.
Time step_time(const RecommenderSetup& setup, Time call) {
  return run_with(step_of(setup).workload, [&](const Workload::Call&) { return call; }).time;
}

std::vector<const Algorithm*> usual(CollectiveKind kind) {
  const bool exchanges = kind == CollectiveKind::all_to_all_v || kind == CollectiveKind::all_to_all;
  const bool sends = kind == CollectiveKind::send_receive;
  return {&find(kind, exchanges ? "pairwise" : sends ? "direct" : "ring")};
}

Time network_step(const RecommenderSetup& setup, const Cluster& cluster) {
  static const Profile profile;
  const PricingSettings settings{.cluster = cluster, .profile = profile, .options = {}, .algorithms = usual};
  CollectiveTimer timer(settings);
  const RecommenderStep step = step_of(setup);
  const StepEstimates estimates(step, settings, timer);
  return run_workload(step.workload, estimates.all(), {}).time;
}

}  // namespace

TEST_CASE("a look-up takes its bytes over the memory's bandwidth") {
  RecommenderSetup setup = small_setup(model_of_two(), kGrid);
  const std::vector<EmbeddingTimes> times = embedding_times(setup);
  CHECK(times[0].forward == Time{2000 * 30 * (8 + 64 * 4) + 2000 * 64 * 4});  // a byte at 1 TB/s is a picosecond
  CHECK(times[1].forward == Time{2000 * 90 * (8 + 64 * 4) + 2000 * 64 * 4});
  setup.stream_share = 0.5;
  setup.compute.overhead = 5_us;
  CHECK(embedding_times(setup)[0].forward == times[0].forward * 2 + 5_us);
  CHECK(times[0].fetch == Time::zero());
}

TEST_CASE("one GPU computes one thing after the other") {
  RecommenderModel model = model_of_two();
  model.tables.resize(1);
  const RecommenderSetup setup = small_setup(model, {.ranks = 1, .per_node = 1, .batch = 1000});
  const DenseKernels dense = dense_kernels(model, 1000, Precision::fp32, true);
  const EmbeddingTimes tables = embedding_times(setup)[0];
  const Workload workload = step_of(setup).workload;
  CHECK(workload.calls.empty());
  CHECK(step_time(setup, Time::zero()) ==
        tables.forward + tables.backward + time_of_all(dense.bottom_forward, setup) +
            time_of_all(dense.top_forward, setup) + time_of_all(dense.top_backward, setup) +
            time_of_all(dense.bottom_backward, setup) + time_of_all(dense.update, setup));
}

TEST_CASE("vectors are exchanged beside the bottom MLP, and everybody waits for the slowest look-up") {
  const RecommenderSetup setup = small_setup(model_of_two(), kGrid);
  const DenseKernels dense = dense_kernels(setup.model, 1000, Precision::fp32, true);
  const std::vector<EmbeddingTimes> tables = embedding_times(setup);
  const Time middle = time_of_all(dense.top_forward, setup) + time_of_all(dense.top_backward, setup);
  const Time slowest = tables[1].forward + middle + tables[1].backward;
  const Time call = 1_ms;  // longer than both passes of the bottom MLP together
  // Dense gradients are reduced one after the other, those of the top MLP first, which takes longer here than updates.
  CHECK(tables[1].backward < call);
  CHECK(step_time(setup, call) == call * 4 + tables[1].forward + middle + time_of_all(dense.update, setup));
  // Nothing to wait for but the busier GPU; the gradients of all are there when it has updated its rows.
  CHECK(step_time(setup, Time::zero()) == slowest + time_of_all(dense.bottom_forward, setup) +
                                              time_of_all(dense.bottom_backward, setup) +
                                              time_of_all(dense.update, setup));
}

TEST_CASE("with the next batch's indices exchanged beside it, a step does not wait for them") {
  RecommenderSetup setup = small_setup(model_of_two(), kGrid);
  setup.input_bytes = 100'000;
  const Time call = 1_ms;
  const Time copy = 1_us;  // at 100 GB/s
  const Time all = step_time(setup, call);
  setup.pipeline = BatchPipeline::sparse_dist;
  CHECK(step_time(setup, call) == all - call - copy);
}

TEST_CASE("rows come into caches before a look-up, or beside the batch before") {
  RecommenderModel model = model_of_two();
  for (EmbeddingTable& table : model.tables) { table.kept = 0.5; }
  RecommenderSetup setup = small_setup(model, kGrid);
  const std::vector<EmbeddingTimes> times = embedding_times(setup);
  REQUIRE(times[1].fetch > Time::zero());
  const Time all = step_time(setup, Time::zero());
  setup.pipeline = BatchPipeline::prefetch;
  CHECK(step_time(setup, Time::zero()) == all - times[1].fetch);
}

TEST_CASE("on an ideal network uneven exchanges take what the busiest GPU sends or receives") {
  const Cluster cluster = star(2, 10_GBps, Time::zero());
  const RecommenderSetup setup = small_setup(model_of_two(), kGrid);
  const DenseKernels dense = dense_kernels(setup.model, 1000, Precision::fp32, true);
  const std::vector<EmbeddingTimes> tables = embedding_times(setup);
  const auto at_10 = [](std::int64_t bytes) { return Time{bytes * 100}; };
  const Time indices = at_10(1000 * (90 * 8 + 4));  // GPU 0 sends more than it gets
  const Time vectors = at_10(1000 * 64 * 4);
  const Time computing = tables[1].forward + time_of_all(dense.top_forward, setup) +
                         time_of_all(dense.top_backward, setup) + tables[1].backward + time_of_all(dense.update, setup);
  CHECK(time_of_all(dense.bottom_forward, setup) < vectors);
  // Both reductions of dense gradients share the links with the way back: two ranks send each other all of them.
  const auto dense_bytes = 4 * (bottom_parameters(setup.model) + top_parameters(setup.model));
  const Time expected = indices + vectors * 2 + at_10(static_cast<std::int64_t>(dense_bytes)) + computing;
  CHECK(microseconds(network_step(setup, cluster)) == doctest::Approx(microseconds(expected)).epsilon(1e-7));
}

TEST_CASE("each sharding calls what it needs, and nothing else") {
  const EmbeddingGrid grid{.ranks = 4, .per_node = 2, .batch = 400};
  const auto kinds = [&](EmbeddingTable table) {
    RecommenderModel model;
    model.interaction = FeatureInteraction::concat;
    model.tables = {std::move(table)};
    std::vector<CollectiveKind> called;
    const RecommenderStep step = step_of(small_setup(model, grid));
    for (const Workload::Call& call : step.workload.calls) { called.push_back(call.kind); }
    return called;
  };
  using Kind = CollectiveKind;
  CHECK(kinds(table_of(1000, 16, 2, TableSharding::table_wise, {1})) ==
        std::vector<Kind>{Kind::all_to_all_v, Kind::all_to_all_v, Kind::all_to_all_v});
  CHECK(kinds(table_of(1000, 16, 2, TableSharding::row_wise)) ==
        std::vector<Kind>{Kind::all_to_all, Kind::reduce_scatter, Kind::all_gather});
  CHECK(kinds(table_of(1000, 16, 2, TableSharding::table_row_wise, {2})) ==
        std::vector<Kind>{Kind::all_to_all_v, Kind::all_to_all_v, Kind::all_to_all_v, Kind::reduce_scatter,
                          Kind::all_gather});
  CHECK(kinds(table_of(1000, 16, 2, TableSharding::data_parallel)) == std::vector<Kind>{Kind::all_reduce});
  CHECK(kinds(table_of(1000, 16, 2, TableSharding::column_wise, {0, 1, 2, 3})) ==
        std::vector<Kind>{Kind::all_to_all, Kind::all_to_all});  // what goes back is the same call
}
