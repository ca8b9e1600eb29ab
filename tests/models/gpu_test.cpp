#include <algorithm>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "models/software/gpu_costs.hpp"
#include "sim/error.hpp"
#include "topologies/generators.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

constexpr Bandwidth operator""_MBps(unsigned long long n) {
  return Bandwidth{static_cast<std::int64_t>(n) * 1'000'000};
}

std::unique_ptr<const Schedule> schedule_of(CollectiveKind kind, std::string_view algorithm, std::uint32_t ranks,
                                            Elements count, const Layout& layout = {}) {
  return find(kind, algorithm).make({.kind = kind, .ranks = ranks, .count = count}, layout);
}

Time time_of(const Schedule& schedule, const GpuCosts& costs, std::uint32_t gpus = 1) {
  return simulate_on_gpus(schedule, gpus, costs, 4_B, schedule.least_slots(), {}).time;
}

/// Times and a rate of a block that divide what the tests move.
GpuCosts plain_costs() {
  GpuCosts costs;
  costs.launch = 5_us;
  costs.primitive = 300_ns;
  costs.flag = 700_ns;
  costs.peer_flag = 1500_ns;
  costs.block_read_rate = 1_GBps;
  costs.block_write_rate = 1_GBps;
  costs.cache_size = Bytes::zero();
  return costs;
}

/// All that a lane reads and writes, and all lanes together, on one GPU.
struct Traffic {
  Bytes all;
  Bytes busiest;
  std::uint64_t primitives = 0;
};

Traffic traffic_of(const Schedule& schedule) {
  Traffic traffic;
  for (AgentId agent{0}; agent.value < schedule.agent_count().agents; ++agent.value) {
    for (LaneId lane{0}; lane.value < schedule.lanes(agent); ++lane.value) {
      const Lane shape = schedule.lane(agent, lane);
      Bytes own;
      for (std::uint64_t loop = 0; loop < shape.loops; ++loop) {
        for (std::uint32_t step = 0; step < shape.steps; ++step) {
          const Primitive primitive = schedule.at(agent, lane, loop, step);
          const std::uint32_t places = primitive.inputs() + (primitive.store ? 1 : 0) + primitive.sends.count;
          own += 4_B * primitive.count.count() * places;
          ++traffic.primitives;
        }
      }
      traffic.all += own;
      traffic.busiest = std::max(traffic.busiest, own);
    }
  }
  return traffic;
}

}  // namespace

TEST_CASE("one block alone moves at its own rate, or at that of the memory where that is less") {
  // One rank copies its input: read once and written once.
  const auto copy = schedule_of(CollectiveKind::all_reduce, "ring", 1, Elements{4096});
  GpuCosts costs = plain_costs();
  const Time before = costs.launch + costs.primitive;
  CHECK(time_of(*copy, costs) == before + transfer_time(32_KiB, 1_GBps));
  costs.memory_rate = 4_GBps;
  CHECK(time_of(*copy, costs) == before + transfer_time(32_KiB, 1_GBps));
  costs.memory_rate = 500_MBps;
  CHECK(time_of(*copy, costs) == before + transfer_time(32_KiB, 500_MBps));
}

TEST_CASE("a ring on one GPU takes (2P-1) primitives, 2(P-1) flags and 6P-4 pieces at min(block, memory / P)") {
  // A piece is n / P. Of its 2P-1 primitives the first sends (2 places), P-2 add and send (3), one adds, stores and
  // sends (4), P-2 store and pass on (3), and the last stores (2). All ranks go in step.
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U, 16U}) {
    const Bytes piece = 4_KiB;
    const auto ring = schedule_of(CollectiveKind::all_reduce, "ring", ranks, Elements{piece.count() / 4} * ranks);
    for (const auto& [memory_rate, each] : {std::pair{1_GBps * (2 * ranks), 1_GBps},
                                            {1_GBps * ranks, 1_GBps},
                                            {500_MBps * ranks, 500_MBps},
                                            {125_MBps * ranks, 125_MBps}}) {
      CAPTURE(ranks);
      CAPTURE(memory_rate.count());
      GpuCosts costs = plain_costs();
      costs.memory_rate = memory_rate;
      CHECK(time_of(*ring, costs) == costs.launch + costs.primitive * (2 * ranks - 1) + costs.flag * (2 * (ranks - 1)) +
                                         transfer_time(piece * (6 * ranks - 4), each));
    }
  }
}

TEST_CASE("no run beats the memory, nor its busiest block, and none is slower than one block after the other") {
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
        CollectiveKind::all_to_all, CollectiveKind::broadcast, CollectiveKind::reduce}) {
    for (const Algorithm& algorithm : catalog()) {
      const Collective collective{.kind = kind, .ranks = 6, .count = Elements{6 * 1000}};
      if (algorithm.kind != kind || algorithm.engine != Engine::none || algorithm.refuses(collective, {})) { continue; }
      const auto schedule = algorithm.make(collective, {});
      const Traffic traffic = traffic_of(*schedule);
      for (const Bandwidth memory : {800_MBps, 3_GBps, 50_GBps}) {
        CAPTURE(algorithm.name);
        CAPTURE(memory.count());
        GpuCosts costs = plain_costs();
        costs.memory_rate = memory;
        const Time time = time_of(*schedule, costs);
        CHECK(time >= costs.launch + transfer_time(traffic.all, memory));
        CHECK(time >= costs.launch + transfer_time(traffic.busiest, costs.block_read_rate));
        const auto primitives = static_cast<std::int64_t>(traffic.primitives);
        CHECK(time <= costs.launch + (costs.primitive + costs.flag) * primitives +
                          transfer_time(traffic.all, std::min(memory, costs.block_read_rate)) + 1_ns * primitives);
      }
    }
  }
}

TEST_CASE("a block reads at one rate and then writes at another, and messages cost what looking them up takes") {
  // One rank copies; of two, rank 0 reads and writes a slot, and rank 1 reads it and writes.
  const auto copy = schedule_of(CollectiveKind::all_reduce, "ring", 1, Elements{4096});
  const auto send = schedule_of(CollectiveKind::send_receive, "direct", 2, Elements{4096});
  GpuCosts costs = plain_costs();
  costs.block_read_rate = 2_GBps;
  costs.block_write_rate = 500_MBps;
  costs.message = 200_ns;
  const Time moved = transfer_time(16_KiB, 2_GBps) + transfer_time(16_KiB, 500_MBps);
  CHECK(time_of(*copy, costs) == costs.launch + costs.primitive + moved);
  CHECK(time_of(*send, costs) == costs.launch + (costs.primitive + costs.message + moved) * 2 + costs.flag);
}

TEST_CASE("what fits into the cache does not touch the memory, and of what is larger a cache holds e^(-m (1 - h))") {
  const std::uint32_t ranks = 4;
  const auto ring = schedule_of(CollectiveKind::all_reduce, "ring", ranks, Elements{4096});
  GpuCosts costs = plain_costs();
  costs.memory_rate = 100_MBps;
  costs.slots = 2;
  // Input and output of four ranks, and two slots of a quarter for each of four connections.
  const Bytes kept = 16_KiB * (2 * ranks) + 4_KiB * (2 * ranks);
  costs.cache_size = kept;
  GpuCosts unlimited = costs;
  unlimited.memory_rate = Bandwidth::max();
  CHECK(time_of(*ring, costs) == time_of(*ring, unlimited));
  costs.cache_rate = 100_MBps;
  CHECK(time_of(*ring, costs) > time_of(*ring, unlimited) * 5);
  // One rank that copies touches 32 KiB, twice the cache: h = e^(-2 (1 - h)) has the solution 0.20319.
  const auto copy = schedule_of(CollectiveKind::all_reduce, "ring", 1, Elements{4096});
  costs = plain_costs();
  costs.memory_rate = 100_MBps;
  costs.cache_size = 16_KiB;
  const double cached = 0.2031878700;
  const double seconds = 32'768 * (cached / 1e9 + (1 - cached) / 1e8);
  const Time moved = time_of(*copy, costs) - costs.launch - costs.primitive;
  CHECK(static_cast<double>(moved.count()) * 1e-12 == doctest::Approx(seconds).epsilon(1e-4));
}

TEST_CASE("slots that no message ever fills are not touched") {
  // One message of 16 KiB from one rank to the other, through the first of eight slots.
  const auto send = schedule_of(CollectiveKind::send_receive, "direct", 2, Elements{4096});
  GpuCosts costs = plain_costs();
  costs.memory_rate = 100_MBps;
  costs.cache_size = 16_KiB * 4;
  CHECK(simulate_on_gpus(*send, 1, costs, 4_B, 8, {}).time == simulate_on_gpus(*send, 1, costs, 4_B, 1, {}).time);
}

TEST_CASE("between two GPUs reading and writing across go side by side, and the flag takes longer") {
  const auto send = schedule_of(CollectiveKind::send_receive, "direct", 2, Elements{4096});
  GpuCosts costs = plain_costs();
  costs.memory_rate = 100_GBps;
  const Time ends = costs.launch + costs.primitive * 2;
  const Bytes size = 16_KiB;
  CHECK(time_of(*send, costs, 1) == ends + costs.flag + transfer_time(size * 2, 1_GBps) * 2);
  costs.peer_block_rate = 4_GBps;
  CHECK(time_of(*send, costs, 2) ==
        ends + costs.peer_flag + transfer_time(size, 1_GBps) + transfer_time(size * 2, 1_GBps));
  costs.peer_block_rate = 250_MBps;
  const Time slow = ends + costs.peer_flag + transfer_time(size, 250_MBps) + transfer_time(size * 2, 1_GBps);
  CHECK(time_of(*send, costs, 2) == slow);
  costs.peer_block_rate = Bandwidth::max();
  costs.peer_rate = 250_MBps;
  CHECK(time_of(*send, costs, 2) == slow);
}

TEST_CASE("the link between two GPUs is shared by all blocks that write over it, and each direction is its own") {
  // Four ranks on two GPUs: direct all-to-all has two ranks write to two each, in both directions.
  const auto exchange = schedule_of(CollectiveKind::all_to_all, "direct", 4, Elements{4 * 4096});
  GpuCosts costs;
  costs.peer_rate = 1_GBps;
  CHECK(time_of(*exchange, costs, 2) == transfer_time(16_KiB * 4, 1_GBps));
}

TEST_CASE("more lanes than resident blocks are refused by number") {
  const auto ring = schedule_of(CollectiveKind::all_reduce, "ring", 8, Elements{4096});
  GpuCosts costs = plain_costs();
  costs.blocks = 8;
  CHECK(time_of(*ring, costs) > Time::zero());
  costs.blocks = 7;
  CHECK_THROWS_WITH_AS(time_of(*ring, costs), doctest::Contains("8 lanes on one GPU, where 7"), SimulationError);
  CHECK(time_of(*ring, costs, 2) > Time::zero());
}
