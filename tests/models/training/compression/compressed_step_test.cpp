// Steps whose copies send less, on a network of alpha and beta, by hand.
#include <cmath>
#include <map>

#include <doctest/doctest.h>

#include "models/training/memory.hpp"
#include "models/training/parameter_share.hpp"
#include "models/training/step/step_pieces.hpp"
#include "models/training/step/step_workload.hpp"
#include "tests/models/training/step/told_times.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

constexpr double kNumbers = 80'000;  // of each of two layers, as a matrix of 200 x 400

/// Copies of two layers that do not overlap anything. A kernel moves a byte in 1 ps.
class Copies {
 public:
  Copies(std::uint32_t data, Sharding sharding) {
    model_.layers.assign(2,
                         {.name = "layer", .parameters = kNumbers, .forward_flops = 1e8, .output = 100, .rows = 200});
    plan.data = plan.global_batch = data;
    plan.sharding = sharding;
    plan.prefetch = 0;
  }

  ParallelPlan plan;

  Workload workload() const {
    GpuRates gpu;
    gpu.flops = {{Precision::bf16, 1e12}};
    gpu.memory_bandwidth = 1e12;
    ComputeProfile profile;
    profile.gemm = {.share = 1, .depth = 0};
    profile.memory = 1;
    profile.overhead = overhead;
    const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, plan.micro_batches());
    StepPieces pieces = step_pieces(model_, plan, {2}, schedule, gpu, profile);
    if (free) { pieces.coding = {}; }
    return step_workload(plan, schedule, pieces);
  }

  /// Each round of an exchange takes 1 us, each byte that a rank sends 1 ns.
  Time step() const {
    const Workload own = workload();
    return run_with(own,
                    [&](const Workload::Call& call) {
                      const auto ranks =
                          static_cast<double>(own.communicators[call.communicator].groups->front().size());
                      const double times = call.kind == CollectiveKind::all_reduce ? 2 : 1;
                      const double sent = times * static_cast<double>(call.size.count()) * (ranks - 1) / ranks;
                      return Time{std::llround(times * (ranks - 1) * 1e6 + sent * 1000)};
                    })
        .time;
  }

  Time overhead = {};
  bool free = true;  ///< coding takes no time

 private:
  TrainedModel model_;
};

Time compressed(Copies copies, const Compression& compression) {
  copies.plan.compression = compression;
  return copies.step();
}

Compression of_kind(CompressionKind kind) {
  Compression compression;
  compression.kind = kind;
  return compression;
}

bool within(Time a, Time b, std::int64_t picoseconds) { return std::abs(a.count() - b.count()) <= picoseconds; }

}  // namespace

TEST_CASE("a cast to what gradients are already, and PowerSGD without a matrix that shrinks, change nothing") {
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
    Copies copies(4, sharding);
    copies.plan.gradient_bytes = 2;
    CHECK(compressed(copies, of_kind(CompressionKind::bf16)) == copies.step());
  }
  Compression wide = of_kind(CompressionKind::power_sgd);
  wide.rank = 200;
  CHECK(compressed(Copies(4, Sharding::none), wide) == Copies(4, Sharding::none).step());
}

TEST_CASE("one copy compresses nothing") {
  for (const CompressionKind kind : {CompressionKind::fp8, CompressionKind::top_k, CompressionKind::one_bit_adam}) {
    CHECK(compressed(Copies(1, Sharding::none), of_kind(kind)) == Copies(1, Sharding::none).step());
  }
}

TEST_CASE("of P copies eight bits save 6 (P - 1) / P bytes a number less the scales, and not one round") {
  for (const std::uint32_t data : {2U, 3U, 5U}) {
    CAPTURE(data);
    Compression compression = of_kind(CompressionKind::int8);
    compression.block = 32;  // 1.125 bytes a number
    const double share = (data - 1.0) / data;
    const Copies copies(data, Sharding::none);
    const double saved = 2 * share * 2 * kNumbers * (4 - 1.125);  // bytes, a ns each
    CHECK(within(compressed(copies, compression) + Time{std::llround(saved * 1000)}, copies.step(), 2000));
  }
}

TEST_CASE("what coding takes is added: bytes that kernels move, and the overhead of each") {
  Copies copies(4, Sharding::none);
  const Compression compression = of_kind(CompressionKind::bf16);
  const Time sent = compressed(copies, compression);
  copies.free = false;
  // Two kernels over all 160,000 numbers, 6 bytes each.
  CHECK(compressed(copies, compression) == sent + Time{2 * 6 * 160'000});
  copies.overhead = 5_us;
  Copies slow = copies;
  slow.free = true;
  CHECK(compressed(copies, compression) == compressed(slow, compression) + Time{2 * 6 * 160'000} + 10_us);
}

TEST_CASE("PowerSGD makes three sums of one, and its factors are r (n + m) numbers") {
  Compression compression = of_kind(CompressionKind::power_sgd);
  compression.rank = 4;
  const Copies copies(4, Sharding::none);
  // Of two matrices no vectors; 12 rounds in place of 6, and 4 x 600 numbers in place of 80,000.
  const double saved = 1.5 * 4 * 2 * (kNumbers - 4 * 600);
  CHECK(compressed(copies, compression) + Time{std::llround(saved * 1000)} == copies.step() + 6_us);
}

TEST_CASE("sparse gradients take as many rounds as an all-gather, and P - 1 ranks' values with their places") {
  for (const std::uint32_t data : {2U, 8U}) {
    Compression compression = of_kind(CompressionKind::top_k);
    compression.density = {1, 100};
    const Copies copies(data, Sharding::none);
    const double dense = 2 * (data - 1.0) / data * 4 * 2 * kNumbers * 1000 + 2 * (data - 1.0) * 1e6;
    const double sparse = (data - 1.0) * 8 * 1600 * 1000 + (data - 1.0) * 1e6;
    const auto change = Time{std::llround(sparse - dense)};
    CHECK(within(compressed(copies, compression), copies.step() + change, 2));
  }
}

TEST_CASE("one-bit Adam sends the whole moment behind backward, in a bit of each number") {
  const Copies copies(4, Sharding::none);
  const double coded = 2 * 0.75 * (2 * kNumbers / 8 + 16);
  const double saved = 2 * 0.75 * 4 * 2 * kNumbers - coded;
  CHECK(compressed(copies, of_kind(CompressionKind::one_bit_adam)) + Time{std::llround(saved * 1000)} == copies.step());
}

namespace {

Compression zero_plus_plus(bool weights, bool secondary, bool gradients, std::uint32_t node_ranks) {
  Compression compression = of_kind(CompressionKind::zero_plus_plus);
  compression.block = 32;  // int8: 1.125 bytes a number, int4: 0.625
  compression.quantized_weights = weights;
  compression.secondary_weights = secondary;
  compression.quantized_gradients = gradients;
  compression.node_ranks = node_ranks;
  return compression;
}

/// Of calls of one kind over groups of so many ranks.
std::map<std::pair<CollectiveKind, std::size_t>, std::int64_t> bytes_of(const Workload& workload) {
  std::map<std::pair<CollectiveKind, std::size_t>, std::int64_t> sums;
  for (const Workload::Operation& each : workload.workers[0].operations) {
    if (each.kind != Workload::Kind::call) { continue; }
    const Workload::Call& call = workload.calls[each.subject];
    sums[{call.kind, workload.communicators[call.communicator].groups->front().size()}] += call.size.count();
  }
  return sums;
}

}  // namespace

TEST_CASE("qwZ gathers both times in int8, hpZ backward's parameters within nodes, qgZ scatters int4 in two hops") {
  using Kind = CollectiveKind;
  Copies copies(8, Sharding::parameters);
  copies.plan.gradient_bytes = 2;
  const auto sums = [&](const Compression& compression) {
    copies.plan.compression = compression;
    return bytes_of(copies.workload());
  };
  auto none = sums({});
  CHECK(none[{Kind::all_gather, 8}] == 2 * 320'000);
  CHECK(none[{Kind::reduce_scatter, 8}] == 320'000);
  auto quantized = sums(zero_plus_plus(true, false, false, 0));
  CHECK(quantized[{Kind::all_gather, 8}] == 2 * 180'000);
  CHECK(quantized[{Kind::reduce_scatter, 8}] == 320'000);
  auto secondary = sums(zero_plus_plus(false, true, false, 4));
  CHECK(secondary[{Kind::all_gather, 8}] == 320'000);
  CHECK(secondary[{Kind::all_gather, 4}] == 320'000);
  auto all = sums(zero_plus_plus(true, true, true, 4));
  CHECK(all[{Kind::all_gather, 8}] == 180'000);
  CHECK(all[{Kind::all_gather, 4}] == 320'000);
  CHECK(all[{Kind::all_to_all, 4}] == 100'000);
  CHECK(all[{Kind::all_to_all, 2}] == 25'000);
  CHECK(all[{Kind::reduce_scatter, 8}] == 0);
}

TEST_CASE("nodes are of ranks beside each other, and the second hop is of those at one place in theirs") {
  Copies copies(4, Sharding::parameters);
  copies.plan.compression = zero_plus_plus(false, false, true, 2);
  const Workload workload = copies.workload();
  const auto groups = [&](const std::string& name) {
    for (const Workload::Communicator& each : workload.communicators) {
      if (each.name == name) { return *each.groups; }
    }
    return EndpointGroups{};
  };
  CHECK(groups("DP in nodes of place 0") == EndpointGroups{{0, 1}, {2, 3}});
  CHECK(groups("DP between nodes of place 0") == EndpointGroups{{0, 2}, {1, 3}});
}

TEST_CASE("gradients that are compressed in buckets are together those that are compressed at once") {
  Copies copies(4, Sharding::none);
  copies.plan.compression = of_kind(CompressionKind::power_sgd);
  const auto at_once = bytes_of(copies.workload());
  copies.plan.overlap_gradients = true;
  copies.plan.bucket = Bytes{4 * 80'000};
  CHECK(bytes_of(copies.workload()) == at_once);
}
