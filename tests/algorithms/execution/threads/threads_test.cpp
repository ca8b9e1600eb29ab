#include "algorithms/execution/threads/threads.hpp"

#include <set>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/expectation.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "tests/algorithms/sample.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;

namespace {

struct Case {
  Collective collective;
  Layout layout;
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::uint32_t workers = 2;
  std::optional<std::uint32_t> slots;
  bool may_refer = true;
};

std::string text(const Algorithm& algorithm, const Case& c) {
  return fmt::format(
      "{} {} of {} {} elements by {} over {} ranks, root {}, in place {}; {} channels, chunk {}, {} slices; {} "
      "workers, "
      "{} slots, may refer {}",
      algorithm.name, name(algorithm.kind), c.collective.count.count(), name(c.type), name(c.reduction),
      c.collective.ranks, c.collective.root, c.collective.in_place, c.layout.channels, c.layout.chunk.count(),
      c.layout.slices, c.workers, c.slots.value_or(0), c.may_refer);
}

/// Fills the inputs, runs, and says which output is wrong; twice, since what is prepared is used again.
std::string wrong_after_run(const Schedule& schedule, const Case& c) {
  const RankMemory memory(schedule, c.type);
  const Expectation expectation(c.collective, c.type, c.reduction);
  PreparedExecution execution(schedule, {.type = c.type,
                                         .reduction = c.reduction,
                                         .buffers = memory.buffers(),
                                         .workers = c.workers,
                                         .slots = c.slots,
                                         .messages_may_refer = c.may_refer});
  for (int run = 0; run < 2; ++run) {
    for (std::uint32_t rank = 0; rank < c.collective.ranks; ++rank) {
      const RankBuffers& buffers = memory.buffers()[rank];
      std::fill(buffers.output.begin(), buffers.output.end(), std::byte{0x5A});
      expectation.fill(rank, buffers.input);
    }
    execution.run();
    for (std::uint32_t rank = 0; rank < c.collective.ranks; ++rank) {
      if (const auto wrong = expectation.wrong(rank, memory.buffers()[rank].output)) { return *wrong; }
    }
  }
  return "";
}

/// One run of an algorithm where it fits. The number of runs.
int check_case(const Algorithm& algorithm, const Case& c) {
  if (algorithm.refuses(c.collective, c.layout)) { return 0; }
  const auto schedule = algorithm.make(c.collective, c.layout);
  const std::string wrong = wrong_after_run(*schedule, c);
  if (!wrong.empty()) { FAIL_CHECK(text(algorithm, c), ": ", wrong); }
  return 1;
}

template <class Value>
Value drawn(RandomStream& random, std::span<const Value> values) {
  return values[random.below(values.size())];
}

Case draw(RandomStream& random, CollectiveKind kind, std::uint32_t ranks) {
  const std::vector<std::int64_t> counts{0, 1, ranks - 1, ranks, ranks + 1, 7 * ranks + 3, 1000, 4097};
  const std::vector<Layout> layouts{
      Layout{},
      Layout{.channels = 3},
      Layout{.chunk = Elements{5}, .shape = EngineTreeShape{.outstanding = 2}},
      Layout{.slices = 3},
      Layout{.channels = 2, .chunk = Elements{64}, .slices = 2, .grain = Elements{2}, .rotation = 1},
      Layout{.channels = 4,
             .chunk = Elements{40},
             .orders = sample_orders(ranks),
             .shape = PeerRoundShape{.parts = 2, .peers_at_once = 3}}};
  const std::vector<std::optional<std::uint32_t>> slots{std::nullopt, 8};
  const std::vector<std::uint32_t> workers{1, 2, 4};
  Case c;
  const std::int64_t count = drawn<std::int64_t>(random, counts);
  const auto root = static_cast<std::uint32_t>(random.below(ranks));
  c.collective = sample(kind, ranks, count, root, random.below(2) == 0);
  c.layout = drawn<Layout>(random, layouts);
  c.type = drawn(random, data_types());
  c.reduction = drawn(random, reductions());
  c.workers = drawn<std::uint32_t>(random, workers);
  c.slots = drawn<std::optional<std::uint32_t>>(random, slots);
  c.may_refer = random.below(4) != 0;
  return c;
}

ExecutionRequest request_for(const RankMemory& memory) {
  ExecutionRequest request;
  request.buffers = memory.buffers();
  request.workers = 2;
  return request;
}

template <class Run>
SimulationError error_of(Run run) {
  try {
    run();
  } catch (const SimulationError& error) { return error; }
  return {"none", "nothing was thrown"};
}

}  // namespace

TEST_CASE("every algorithm computes what its collective promises on real memory") {
  RandomStream random(1, "threads");
  for (const Algorithm& algorithm : catalog()) {
    CAPTURE(algorithm.name);
    int runs = 0;
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U, 17U}) {
      for (int i = 0; i < 12; ++i) { runs += check_case(algorithm, draw(random, algorithm.kind, ranks)); }
    }
    CHECK(runs > 0);
  }
}

TEST_CASE("every type and every reduction, in and out of place, gives the exact result") {
  const Algorithm& ring = find(CollectiveKind::all_reduce, "ring");
  for (const DataType type : data_types()) {
    for (const Reduction reduction : reductions()) {
      for (const std::uint32_t ranks : {1U, 2U, 5U}) {
        for (const bool in_place : {false, true}) {
          const Collective collective{CollectiveKind::all_reduce, ranks, Elements{1003}, 0, in_place};
          CHECK(check_case(ring, {collective, {}, type, reduction, 2, {}, true}) == 1);
        }
      }
    }
  }
}

TEST_CASE("an output that is not what is promised is found, at its first element") {
  const Collective collective{CollectiveKind::all_gather, 3, Elements{1000}};
  const Expectation expectation(collective, DataType::int32, Reduction::sum);
  std::vector<std::byte> output(4000);
  const auto part = std::span(output);
  expectation.fill(0, part.subspan(0, 1336));
  expectation.fill(1, part.subspan(1336, 1336));
  expectation.fill(2, part.subspan(2672));
  CHECK_FALSE(expectation.wrong(1, output));
  for (const std::size_t element : {0U, 333U, 334U, 700U, 999U}) {
    output[element * 4] ^= std::byte{1};
    REQUIRE(expectation.wrong(1, output));
    CHECK(expectation.wrong(1, output)->starts_with(fmt::format("element {} of rank 1 is ", element)));
    output[element * 4] ^= std::byte{1};
  }
}

TEST_CASE("iterations are timed one by one") {
  const Collective collective{CollectiveKind::all_reduce, 2, Elements{100'000}};
  const auto schedule = find(collective.kind, "ring").make(collective, {});
  const RankMemory memory(*schedule, DataType::float32);
  PreparedExecution execution(*schedule, request_for(memory));
  const ExecutionResult result = execution.run(5);
  CHECK(result.workers == 2);
  REQUIRE(result.durations.size() == 5);
  for (const auto duration : result.durations) { CHECK(duration.count() > 0); }
  CHECK(execution.run(0).durations.empty());
}

TEST_CASE("a schedule that deadlocks ends with who waits for whom, and can be run again") {
  const toys::Ring ring = toys::ring_all_reduce(3, 2);
  const RankMemory memory(ring.table, DataType::float32);
  for (const std::uint32_t workers : {1U, 2U, 3U}) {
    CAPTURE(workers);
    ExecutionRequest request = request_for(memory);
    request.workers = workers;
    request.slots = 1;
    PreparedExecution execution(ring.table, request);
    for (int run = 0; run < 3; ++run) {
      const SimulationError error = error_of([&] { execution.run(); });
      CHECK(error.code() == "deadlock");
      CHECK(std::string(error.what()).find("waits for a slot to send message 2 to rank") != std::string::npos);
    }
  }
}

TEST_CASE("two ends of a connection that disagree are named") {
  toys::Chain chain = toys::chain_broadcast();
  chain.table.primitive(2, 0, 0).count = Elements{3};
  const RankMemory memory(chain.table, DataType::float32);
  const SimulationError error = error_of([&] { run_on_threads(chain.table, request_for(memory)); });
  CHECK(error.code() == "matching");
  CHECK(std::string(error.what()) ==
        "matching at rank 2, lane 0, loop 0, step 0: receives 3 elements where rank 1 has sent 4");
}

TEST_CASE("a schedule that would touch memory outside its buffers is refused") {
  toys::Chain chain = toys::chain_broadcast();
  chain.table.primitive(2, 0, 0).store = toys::output(1);
  const RankMemory memory(chain.table, DataType::float32);
  CHECK(error_of([&] { run_on_threads(chain.table, request_for(memory)); }).code() == "cells");
}

TEST_CASE("a schedule whose ports do not meet is refused") {
  toys::Chain chain = toys::chain_broadcast();
  chain.table.lane(0, 0).targets[0].port = PortId{7};
  const RankMemory memory(chain.table, DataType::float32);
  CHECK(error_of([&] { run_on_threads(chain.table, request_for(memory)); }).code() == "wiring");
}

namespace {

/// Takes its time, or breaks down, in rank 1, once it is being carried out.
class Troubled final : public toys::Table {
 public:
  explicit Troubled(const toys::Table& table) : toys::Table(table) {}
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    if (agent.value == 1 && pause.count() > 0) { std::this_thread::sleep_for(pause); }
    if (agent.value == 1 && step == 2 && broken) { throw std::runtime_error("rank 1 has broken down"); }
    return toys::Table::at(agent, lane, loop, step);
  }
  std::chrono::milliseconds pause{0};
  bool broken = false;
};

}  // namespace

TEST_CASE("a run that takes longer than its time limit ends with the lanes that have not") {
  Troubled ring(toys::ring_all_reduce(2, 8).table);
  const RankMemory memory(ring, DataType::float32);
  ExecutionRequest request = request_for(memory);
  request.time_limit = std::chrono::milliseconds(40);
  PreparedExecution execution(ring, request);
  ring.pause = std::chrono::milliseconds(25);
  const SimulationError error = error_of([&] { execution.run(); });
  CHECK(error.code() == "time-limit");
  CHECK(std::string(error.what()).starts_with("not ended after 0.04 s: rank 0, lane 0, loop "));
  CHECK(std::string(error.what()).find("waits for message ") != std::string::npos);
  ring.pause = std::chrono::milliseconds(0);
  CHECK(execution.run().durations.size() == 1);
}

TEST_CASE("what a worker throws reaches the caller, and the others end") {
  Troubled ring(toys::ring_all_reduce(3, 2).table);
  const RankMemory memory(ring, DataType::float32);
  for (const std::uint32_t workers : {1U, 2U, 3U}) {
    ExecutionRequest request = request_for(memory);
    request.workers = workers;
    ring.broken = false;
    PreparedExecution execution(ring, request);
    ring.broken = true;
    CHECK_THROWS_WITH_AS(execution.run(), "rank 1 has broken down", std::runtime_error);
  }
}

TEST_CASE("no slots, no workers and buffers that do not fit are refused") {
  const toys::Ring ring = toys::ring_all_reduce(2, 1);
  const RankMemory memory(ring.table, DataType::float32);
  ExecutionRequest request = request_for(memory);
  request.slots = 0;
  CHECK_THROWS_WITH_AS(PreparedExecution(ring.table, request), "an execution on threads needs at least one slot",
                       UsageError);
  request.slots = 2;
  request.workers = 0;
  CHECK_THROWS_WITH_AS(PreparedExecution(ring.table, request), "an execution on threads needs at least one worker",
                       UsageError);
  request.workers = 2;
  request.type = DataType::float64;
  CHECK_THROWS_AS(PreparedExecution(ring.table, request), BrokenInvariant);
  request.type = DataType::float32;
  request.buffers.pop_back();
  CHECK_THROWS_AS(PreparedExecution(ring.table, request), BrokenInvariant);
}
