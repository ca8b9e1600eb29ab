// Run by mpi_test.py under mpirun: `sweep` carries out the whole catalog, the other words make one process fail.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/element_values.hpp"
#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/mpi/mpi_executor.hpp"
#include "algorithms/execution/mpi/quantized_over_mpi.hpp"
#include "algorithms/execution/mpi/session.hpp"
#include "sim/error.hpp"
#include "tests/algorithms/execution/real_sums.hpp"
#include "tests/algorithms/sample.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;

namespace {

struct Case {
  Collective collective;
  Layout layout;
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::optional<std::uint32_t> slots;
};

/// The same in every process, and another one at each call.
Case vary(Collective collective, std::uint32_t number) {
  const std::vector<Layout> layouts{Layout{}, Layout{.channels = 3}, Layout{.chunk = Elements{50}, .slices = 2},
                                    Layout{.channels = 2, .chunk = Elements{64}, .slices = 3, .rotation = 1},
                                    Layout{.channels = 4,
                                           .chunk = Elements{40},
                                           .orders = sample_orders(collective.ranks),
                                           .shape = PeerRoundShape{.parts = 2, .peers_at_once = 2}}};
  Case c{std::move(collective), layouts[number % layouts.size()], {}, {}, {}};
  c.type = data_types()[number % data_types().size()];
  c.reduction = reductions()[number % reductions().size()];
  if (number % 3 == 0) { c.slots = 8; }
  return c;
}

UserMemory own_memory(const Communicator& world, const Schedule& schedule, DataType type = DataType::float32) {
  return {schedule.memory(AgentId{std::min(world.rank(), schedule.agent_count().ranks - 1)}), type};
}

/// What is wrong in this process's output, in the first iteration or the second, which uses again what was prepared.
std::string wrong_after_run(const Communicator& world, const Schedule& schedule, const Case& c) {
  const UserMemory own = own_memory(world, schedule, c.type);
  const Expectation expectation(c.collective, c.type, c.reduction);
  MpiExecution execution(world, schedule,
                         {.type = c.type, .reduction = c.reduction, .buffers = own.buffers(), .slots = c.slots});
  for (int run = 0; run < 2; ++run) {
    std::fill(own.buffers().output.begin(), own.buffers().output.end(), std::byte{0x5A});
    expectation.fill(world.rank(), own.buffers().input);
    execution.run();
    if (const auto wrong = expectation.wrong(world.rank(), own.buffers().output)) { return *wrong; }
  }
  return "";
}

std::vector<std::int64_t> counts(std::int64_t ranks) { return {0, 1, ranks * 40, 7 * ranks + 3, 20'001}; }

int sweep(const Communicator& world) {
  std::uint32_t runs = 0;
  std::uint32_t failures = 0;
  for (const Algorithm& algorithm : catalog()) {
    const std::uint32_t before = runs;
    for (const std::int64_t count : counts(world.size())) {
      for (const bool in_place : {false, true}) {
        const Case c = vary(sample(algorithm.kind, world.size(), count, (runs * 5) % world.size(), in_place), runs);
        if (algorithm.refuses(c.collective, c.layout)) { continue; }
        const std::string wrong = wrong_after_run(world, *algorithm.make(c.collective, c.layout), c);
        ++runs;
        if (wrong.empty()) { continue; }
        ++failures;
        fmt::print("{} {} of {} elements in place {}: {}\n", name(algorithm.kind), algorithm.name, count, in_place,
                   wrong);
      }
    }
    const bool possible = !algorithm.refuses(sample(algorithm.kind, world.size(), 40 * world.size()), {});
    if (runs == before && possible) { ++failures; }
  }
  fmt::print("process {}: {} runs, {} failures\n", world.rank(), runs, failures);
  return failures == 0 ? 0 : 1;
}

/// One process ends or stops for ever in the midst of a run.
int lose_one(const Communicator& world, int signal) {
  const Collective collective{CollectiveKind::all_reduce, world.size(), Elements{1000}};
  const auto schedule = find(CollectiveKind::all_reduce, "ring").make(collective, {});
  const UserMemory own = own_memory(world, *schedule);
  Expectation(collective, DataType::float32, Reduction::sum).fill(world.rank(), own.buffers().input);
  MpiExecution execution(world, *schedule,
                         {.buffers = own.buffers(), .slots = {}, .time_limit = std::chrono::seconds{2}});
  for (int iteration = 0; iteration < 10; ++iteration) {
    if (iteration == 5 && world.rank() == 1) { std::raise(signal); }
    execution.run();
  }
  return 0;
}

/// The receiver expects more than is sent.
int disagree(const Communicator& world) {
  toys::Chain chain = toys::chain_broadcast();
  chain.table.primitive(2, 0, 0).count = Elements{3};
  const UserMemory own = own_memory(world, chain.table);
  MpiExecution(world, chain.table, {.buffers = own.buffers(), .slots = {}, .time_limit = std::chrono::seconds{5}})
      .run();
  return 0;
}

/// Two ranks exchange a million elements in place: each receives into the cells that it is sending from.
int swap(const Communicator& world) {
  constexpr std::int64_t kCount = 1'000'000;
  toys::Table table = toys::empty(2, Elements::zero(), Elements{kCount}, Elements::zero());
  table.limit = Elements{kCount};
  for (const std::uint32_t rank : {0U, 1U}) {
    table.add(rank, {toys::send(kCount, toys::output(0)), toys::receive(kCount, toys::output(0))});
  }
  table.join(0, 0, 1, 0);
  table.join(1, 0, 0, 0);
  const UserMemory own = own_memory(world, table);
  MpiExecution execution(world, table, {.buffers = own.buffers(), .slots = {}, .time_limit = std::chrono::seconds{5}});
  std::uint32_t failures = 0;
  for (std::uint32_t run = 0; run < 5; ++run) {
    const auto mine = static_cast<std::byte>(2 * run + world.rank());
    const auto others = static_cast<std::byte>(2 * run + 1 - world.rank());
    std::fill(own.buffers().output.begin(), own.buffers().output.end(), mine);
    execution.run();
    for (const std::byte byte : own.buffers().output) { failures += byte == others ? 0 : 1; }
  }
  return failures == 0 ? 0 : 1;
}

/// What cannot be carried out is refused by every process, before anything is sent.
int refuse(const Communicator& world) {
  const auto refused = [&](const Schedule& schedule, std::optional<std::uint32_t> slots) {
    const UserMemory own = own_memory(world, schedule);
    try {
      const MpiExecution execution(world, schedule, {.buffers = own.buffers(), .slots = slots});
    } catch (const UsageError& error) {
      fmt::print("{}\n", error.what());
      return true;
    }
    return false;
  };
  const Collective more{CollectiveKind::all_reduce, world.size() + 1, Elements{8}};
  const bool ranks = refused(*find(CollectiveKind::all_reduce, "ring").make(more, {}), std::nullopt);
  const toys::Ring ring = toys::ring_all_reduce(world.size(), 1);
  return ranks && refused(ring.table, 1) ? 0 : 1;
}

/// Engines come to the same bits here as on threads, in whatever order they take in what they add.
int engines(const Communicator& world) {
  std::uint32_t failures = 0;
  std::uint32_t runs = 0;
  const auto inputs = drawn_numbers(DataType::bfloat16, world.size(), 3000, -5, 5, true, "engines over MPI");
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.kind != CollectiveKind::all_reduce || algorithm.engine == Engine::none) { continue; }
    const auto schedule = all_reduce_by(algorithm.name, world.size(), 3000);
    for (const Accumulator accumulator : accumulators()) {
      const EngineArithmetic arithmetic{.accumulator = accumulator, .order = SummationOrder::arrival, .seed = 3};
      const UserMemory own = own_memory(world, *schedule, DataType::bfloat16);
      for (std::size_t i = 0; i < 3000; ++i) {
        put_element(DataType::bfloat16, &own.buffers().input[2 * i], inputs[world.rank()][i]);
      }
      MpiExecution(world, *schedule,
                   {.type = DataType::bfloat16, .buffers = own.buffers(), .slots = {}, .engines = arithmetic})
          .run();
      const RealSums expected(*schedule, DataType::bfloat16, inputs, arithmetic);
      const auto& bits = expected.bits()[world.rank()];
      const auto& output = own.buffers().output;
      if (!std::equal(bits.begin(), bits.end(), output.begin(), output.end())) {
        ++failures;
        fmt::print("{} accumulated as {} differs\n", algorithm.name, name(accumulator));
      }
      ++runs;
    }
  }
  fmt::print("process {}: {} runs, {} failures\n", world.rank(), runs, failures);
  return failures == 0 && runs >= 9 ? 0 : 1;
}

/// Quantised sums have the same bits here as on threads, also of what is fed back from one to the next.
int quantized(const Communicator& world) {
  constexpr std::size_t kCount = 3001;
  std::uint32_t failures = 0;
  std::vector<std::vector<float>> inputs(world.size(), std::vector<float>(kCount));
  for (std::uint32_t rank = 0; rank < world.size(); ++rank) {
    const auto numbers =
        drawn_numbers(DataType::float32, world.size(), kCount, -5, 5, true, "quantised over MPI")[rank];
    std::transform(numbers.begin(), numbers.end(), inputs[rank].begin(),
                   [](double each) { return static_cast<float>(each); });
  }
  for (const QuantizedNumber number : quantized_numbers()) {
    std::vector<QuantizedRank> ranks;
    for (std::uint32_t rank = 0; rank < world.size(); ++rank) {
      ranks.emplace_back(QuantizedFormat{number, 100}, world.size(), rank, kCount, true);
    }
    QuantizedRank own = ranks[world.rank()];
    std::vector<std::vector<float>> expected(world.size(), std::vector<float>(kCount));
    std::vector<float> output(kCount);
    for (int round = 0; round < 3; ++round) {
      quantized_all_reduce(ranks, inputs, expected);
      quantized_all_reduce(world, own, inputs[world.rank()], output);
      failures += output == expected[world.rank()] ? 0 : 1;
    }
  }
  fmt::print("process {}: {} failures\n", world.rank(), failures);
  return failures == 0 ? 0 : 1;
}

int run(const Communicator& world, const std::string& what) {
  if (what == "sweep") { return sweep(world); }
  if (what == "kill") { return lose_one(world, SIGKILL); }
  if (what == "stop") { return lose_one(world, SIGSTOP); }
  if (what == "disagree") { return disagree(world); }
  if (what == "swap") { return swap(world); }
  if (what == "refuse") { return refuse(world); }
  if (what == "engines") { return engines(world); }
  if (what == "quantized") { return quantized(world); }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession session;
  try {
    return run(Communicator(MPI_COMM_WORLD), argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) { MpiSession::abort(error.what()); }
}
