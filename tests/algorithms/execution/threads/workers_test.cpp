#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/threads/threads.hpp"
#include "tests/algorithms/sample.hpp"

using namespace athanor;

namespace {

struct Run {
  Collective collective;
  Layout layout;
  std::uint32_t workers = 2;
  bool may_refer = true;
};

/// Which output is wrong after two runs of what was prepared once, or "".
std::string wrong_after(const Schedule& schedule, const Run& run) {
  const RankMemory memory(schedule, DataType::int32);
  const Expectation expectation(run.collective, DataType::int32, Reduction::sum);
  PreparedExecution execution(schedule, {.type = DataType::int32,
                                         .reduction = Reduction::sum,
                                         .buffers = memory.buffers(),
                                         .workers = run.workers,
                                         .slots = {},
                                         .messages_may_refer = run.may_refer});
  for (int time = 0; time < 2; ++time) {
    for (std::uint32_t rank = 0; rank < run.collective.ranks; ++rank) {
      expectation.fill(rank, memory.buffers()[rank].input);
    }
    execution.run();
    for (std::uint32_t rank = 0; rank < run.collective.ranks; ++rank) {
      if (const auto wrong = expectation.wrong(rank, memory.buffers()[rank].output)) { return *wrong; }
    }
  }
  return "";
}

/// The number of runs: one where the algorithm fits.
int check(const Algorithm& algorithm, const Run& run) {
  if (algorithm.refuses(run.collective, run.layout)) { return 0; }
  const std::string wrong = wrong_after(*algorithm.make(run.collective, run.layout), run);
  if (!wrong.empty()) {
    FAIL_CHECK(algorithm.name, " of ", name(algorithm.kind), " over ", run.collective.ranks, " ranks, ", run.workers,
               " workers, root ", run.collective.root, ": ", wrong);
  }
  return 1;
}

}  // namespace

// What a schedule's waits and messages order must be ordered in memory.
TEST_CASE("every algorithm of the catalog runs on several workers, in loops, in and out of place") {
  const std::vector<Layout> layouts{Layout{.chunk = Elements{4}, .slices = 2},
                                    Layout{.channels = 2, .chunk = Elements{3}}};
  for (const Algorithm& algorithm : catalog()) {
    CAPTURE(algorithm.name);
    int runs = 0;
    for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
      for (const Layout& layout : layouts) {
        for (const bool in_place : {false, true}) {
          const std::uint32_t root = (ranks + layout.channels) % ranks;
          Run run{sample(algorithm.kind, ranks, 11 * ranks + 5, root, in_place), layout, 2 + ranks % 3, in_place};
          runs += check(algorithm, run);
        }
      }
    }
    CHECK(runs >= 9);
  }
}
