#include <cstring>

#include <doctest/doctest.h>

#include "algorithms/execution/rank_memory.hpp"
#include "algorithms/execution/threads/threads.hpp"
#include "sim/random.hpp"
#include "tests/algorithms/execution/cuda/emulated_gpus.hpp"
#include "tests/algorithms/execution/cuda/gpu_runs.hpp"
#include "tests/algorithms/sample.hpp"

using namespace athanor;
using namespace athanor::emulation;

namespace {

constexpr int kGpus = 3;

/// On GPUs of its own, which are to be left empty. What is wrong, or "".
std::string wrong_on_emulated_gpus(const Schedule& schedule, const GpuRun& run) {
  EmulatedGpus& gpus = EmulatedGpus::machine();
  gpus.set_up({.devices = kGpus});
  if (std::string wrong = wrong_after_runs(schedule, run); !wrong.empty()) { return wrong; }
  if (gpus.left() > 0) { return "memory, streams or events are left"; }
  return gpus.misuse();
}

/// Runs an algorithm where it fits, and is to be right. The number of runs.
int check_on_gpus(const Algorithm& algorithm, const GpuRun& run) {
  if (algorithm.refuses(run.collective, run.layout)) { return 0; }
  const std::string wrong = wrong_on_emulated_gpus(*algorithm.make(run.collective, run.layout), run);
  if (!wrong.empty()) { FAIL_CHECK(text(algorithm, run), ": ", wrong); }
  return kRunsOfEach;
}

int sweep(std::span<const std::uint32_t> rank_counts, int draws) {
  const std::vector<std::uint32_t> threads{1, 1, 1, 2, 3, 8};
  RandomStream random(4, "emulated GPUs");
  int runs = 0;
  for (const Algorithm& algorithm : catalog()) {
    CAPTURE(algorithm.name);
    int of_algorithm = 0;
    for (const std::uint32_t ranks : rank_counts) {
      for (int i = 0; i < draws; ++i) {
        of_algorithm += check_on_gpus(algorithm, draw_gpu_run(random, algorithm.kind, ranks, kGpus, threads));
      }
    }
    CHECK(of_algorithm > 0);
    runs += of_algorithm;
  }
  return runs;
}

}  // namespace

TEST_CASE("on emulated GPUs every algorithm computes what its collective promises") {
  const std::vector<std::uint32_t> rank_counts{1, 2, 3, 4, 5, 6, 7, 8};
  const int runs = sweep(rank_counts, 5);
  CHECK(runs >= 5000);
}

namespace {

/// Any bits, so that numbers overflow, are infinite, subnormal or none.
void scatter_bits(RandomStream& random, std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) { byte = static_cast<std::byte>(random.below(256)); }
}

bool is_number(DataType type, const std::byte* element) {
  const auto exponent_below_all_ones = [&](auto bits, int exponent_bits, int fraction_bits) {
    std::memcpy(&bits, element, sizeof(bits));
    const auto mask = (1U << exponent_bits) - 1U;
    return (static_cast<std::uint64_t>(bits) >> fraction_bits & mask) != mask;
  };
  switch (type) {
    case DataType::float32: return exponent_below_all_ones(std::uint32_t{}, 8, 23);
    case DataType::float64: return exponent_below_all_ones(std::uint64_t{}, 11, 52);
    case DataType::float16: return exponent_below_all_ones(std::uint16_t{}, 5, 10);
    case DataType::bfloat16: return exponent_below_all_ones(std::uint16_t{}, 8, 7);
    case DataType::int8:
    case DataType::int32:
    case DataType::int64: break;
  }
  return true;
}

/// Elements that differ between two outputs, but where neither is a finite number: bits of NaN are anybody's choice.
std::size_t different(DataType type, std::span<const std::byte> one, std::span<const std::byte> other) {
  const std::size_t size = element_size(type);
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.size(); i += size) {
    const bool number = is_number(type, &one[i]) || is_number(type, &other[i]);
    count += number && std::memcmp(&one[i], &other[i], size) != 0 ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("on any numbers emulated GPUs give what threads give, to the bit, also where whole numbers overflow") {
  RandomStream random(5, "any numbers");
  const Collective collective{CollectiveKind::all_reduce, 3, Elements{501}};
  const auto schedule = find(collective.kind, "ring").make(collective, {});
  for (const DataType type : data_types()) {
    for (const Reduction reduction : reductions()) {
      CAPTURE(name(type));
      CAPTURE(name(reduction));
      EmulatedGpus::machine().set_up({});
      const RankMemory memory(*schedule, type);
      CudaRequest request;
      request.type = type;
      request.reduction = reduction;
      request.threads = 4;
      CudaExecutor on_gpus(*schedule, request);
      for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
        scatter_bits(random, memory.buffers()[rank].input);
        on_gpus.write(AgentId{rank}, Buffer::input, memory.buffers()[rank].input);
      }
      run_on_threads(*schedule,
                     {.type = type, .reduction = reduction, .buffers = memory.buffers(), .workers = 1, .slots = {}});
      on_gpus.run();
      for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
        const std::span<const std::byte> by_threads = memory.buffers()[rank].output;
        std::vector<std::byte> output(by_threads.size());
        on_gpus.read(AgentId{rank}, Buffer::output, output);
        CHECK(different(type, by_threads, output) == 0);
      }
    }
  }
}

TEST_CASE("every type and every reduction, in and out of place, gives the exact result on emulated GPUs") {
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::reduce}) {
    for (const DataType type : data_types()) {
      for (const Reduction reduction : reductions()) {
        for (const bool in_place : {false, true}) {
          GpuRun run{sample(kind, 3, 101, 1, in_place), {}, {}};
          run.request.type = type;
          run.request.reduction = reduction;
          run.request.threads = 3;
          run.request.devices = {0, 1};
          CHECK(check_on_gpus(find(kind, "ring"), run) == 2);
        }
      }
    }
  }
}

TEST_CASE("the time of a run does not hold what passes while other GPUs get theirs launched") {
  EmulatedGpus& gpus = EmulatedGpus::machine();
  gpus.set_up({.devices = 8, .slow_launches = true});
  const Collective collective{CollectiveKind::all_reduce, 8, Elements{8}};
  const auto schedule = find(collective.kind, "ring").make(collective, {});
  {
    CudaExecutor executor(*schedule, {});
    executor.run();
    CHECK(gpus.early_events() == 0);
  }
  CHECK(gpus.misuse() == "");
}
