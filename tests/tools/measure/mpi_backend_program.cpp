// Run by mpi_backend_test.py under mpirun: `sweep` has the backend carry out every collective, the other words make
// something fail.

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/core.h>
#include <unistd.h>

#include "algorithms/catalog.hpp"
#include "sim/error.hpp"
#include "tests/algorithms/sample.hpp"
#include "tools/measure/mpi_backend.hpp"

using namespace athanor;

namespace {

Trial trial_of(const Collective& collective, DataType type, Reduction reduction) {
  return {.collective = collective,
          .schedule = nullptr,
          .library = "mpi_library",
          .type = type,
          .reduction = reduction,
          .slots = {},
          .warm_up = 1,
          .iterations = 3,
          .time_limit = std::chrono::seconds{20}};
}

/// One process's count of what came out and what did not.
struct Tally {
  std::uint32_t runs = 0;
  std::uint32_t refused = 0;
  std::uint32_t failures = 0;

  void add(const Trial& trial, const TrialOutcome& outcome) {
    ++runs;
    bool timed = outcome.durations.size() == trial.iterations;
    for (const auto duration : outcome.durations) { timed = timed && duration.count() > 0; }
    if (timed && outcome.wrong == 0) { return; }
    ++failures;
    fmt::print("{} of {} {} elements, {}, in place {}: timed {}, {} wrong: {}\n", name(trial.collective.kind),
               trial.collective.count.count(), name(trial.type), name(trial.reduction), trial.collective.in_place,
               timed, outcome.wrong, outcome.first_wrong.value_or(""));
  }
};

void sweep_library(Backend& backend, Tally& tally) {
  const std::uint32_t ranks = *backend.ranks();
  std::uint32_t number = 0;
  for (const CollectiveKind kind : collective_kinds()) {
    for (const DataType type : data_types()) {
      for (const Reduction reduction : reductions()) {
        const std::int64_t count = ++number % 2 == 0 ? ranks * 100 : 101;
        for (const bool in_place : {false, true}) {
          const Trial trial = trial_of(sample(kind, ranks, count, number % ranks, in_place), type, reduction);
          if (backend.refuses(trial)) {
            ++tally.refused;
          } else {
            tally.add(trial, backend.run(trial));
          }
        }
      }
    }
  }
}

void sweep_schedules(Backend& backend, Tally& tally) {
  const std::uint32_t ranks = *backend.ranks();
  for (const Algorithm& algorithm : catalog()) {
    Trial trial = trial_of(sample(algorithm.kind, ranks, 64 * ranks), DataType::float32, Reduction::sum);
    if (algorithm.refuses(trial.collective, {})) { continue; }
    const auto schedule = algorithm.make(trial.collective, {});
    trial.schedule = schedule.get();
    tally.add(trial, backend.run(trial));
  }
}

int sweep(Backend& backend) {
  Tally tally;
  sweep_library(backend, tally);
  sweep_schedules(backend, tally);
  fmt::print("{} runs, {} refused, {} failures\n", tally.runs, tally.refused, tally.failures);
  return tally.failures == 0 ? 0 : 1;
}

/// Runs elsewhere than MPI, in process 0 only.
class Local final : public Backend {
 public:
  std::string_view name() const override { return "local"; }
  std::optional<std::uint32_t> ranks() const override { return std::nullopt; }
  TrialOutcome run(const Trial& trial) override {
    if (trial.library == "broken") { throw SimulationError("broken", "the local backend has broken down"); }
    using std::chrono::nanoseconds;
    return {.durations = {nanoseconds{17}, nanoseconds{18}, nanoseconds{19}}, .wrong = 2, .first_wrong = "element 5"};
  }
  std::vector<std::pair<std::string, std::string>> facts() const override { return {}; }
};

/// Every process learns what came of a backend that only process 0 runs.
int beside(MpiBackend& mpi, const char* library) {
  const auto local = mpi.beside(std::make_unique<Local>());
  Trial trial = trial_of({CollectiveKind::all_reduce, 2, Elements{100}}, DataType::float32, Reduction::sum);
  trial.library = library;
  const TrialOutcome outcome = local->run(trial);
  const bool told = outcome.durations.size() == 3 && outcome.durations[2].count() == 19 && outcome.wrong == 2 &&
                    outcome.first_wrong == "element 5";
  fmt::print("told: {}\n", told);
  return told ? 0 : 1;
}

/// A process stops for ever between two iterations of the library's collective.
int stop(Backend& backend) {
  Trial trial =
      trial_of({CollectiveKind::all_reduce, *backend.ranks(), Elements{100}}, DataType::float32, Reduction::sum);
  trial.time_limit = std::chrono::seconds{1};
  trial.iterations = 1'000'000;
  if (!backend.speaks()) {
    std::signal(SIGALRM, [](int) { std::raise(SIGSTOP); });
    alarm(1);
  }
  backend.run(trial);
  return 0;
}

int run(MpiBackend& backend, const std::string& what) {
  if (what == "sweep") { return sweep(backend); }
  if (what == "beside") { return beside(backend, ""); }
  if (what == "broken") { return beside(backend, "broken"); }
  if (what == "stop") { return stop(backend); }
  if (what == "facts" && backend.speaks()) {
    for (const auto& [name, value] : backend.facts()) { fmt::print("{}: {}\n", name, value); }
  }
  // What one process only stumbles over, after MPI was initialised: nobody may hang.
  if (what == "alone" && backend.speaks()) { throw FileError("a file that one process cannot write"); }
  if (what == "alone") { return stop(backend); }
  if (what == "alike") { throw UsageError("what all processes refuse"); }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto backend = make_mpi_backend();
    return run(*backend, argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 3;
  }
}
