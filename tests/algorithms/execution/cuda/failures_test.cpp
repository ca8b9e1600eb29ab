#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/cuda/cuda_executor.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "tests/algorithms/execution/cuda/emulated_gpus.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;
using namespace athanor::emulation;

namespace {

const Collective kCollective{CollectiveKind::all_reduce, 4, Elements{100}};

CudaRequest on(std::vector<int> devices) {
  CudaRequest request;
  request.threads = 2;
  request.devices = std::move(devices);
  return request;
}

/// Prepares a ring on two GPUs and runs it, while something goes wrong. "" or what it ended with, as "code: words".
std::string end_of_run(const GpuFault& fault, double time_limit_seconds = 10) {
  EmulatedGpus& gpus = EmulatedGpus::machine();
  gpus.set_up({.devices = 2});
  gpus.fail(fault);
  const auto schedule = find(CollectiveKind::all_reduce, "ring").make(kCollective, {});
  CudaRequest request = on({0, 1});
  request.time_limit_seconds = time_limit_seconds;
  try {
    CudaExecutor(*schedule, request).run();
  } catch (const SimulationError& error) { return error.code() + ": " + error.what(); }
  return "";
}

/// Whether nothing is left behind, and nothing waited for ever.
void check_clean() {
  CHECK(EmulatedGpus::machine().left() == 0);
  CHECK(EmulatedGpus::machine().misuse() == "");
}

}  // namespace

TEST_CASE("whichever call of CUDA fails, a run ends with its words, and leaves nothing behind") {
  const std::string without = end_of_run({.kind = GpuFault::Kind::launch, .after = 1000});
  REQUIRE(without == "");
  std::uint64_t failed = 0;
  for (std::uint64_t call = 0;; ++call) {
    CAPTURE(call);
    const std::string words = end_of_run({.kind = GpuFault::Kind::call, .after = call});
    if (!EmulatedGpus::machine().failed()) { break; }
    ++failed;
    // What is called while another error is passed on has nobody to tell.
    if (!words.empty()) { CHECK(words.starts_with("cuda: ")); }
    check_clean();
  }
  CHECK(failed > 100);
}

TEST_CASE("a launch that fails on one GPU stops the others, which wait for it") {
  for (const int device : {0, 1}) {
    for (const std::uint64_t launch : {0U, 1U}) {
      CAPTURE(device);
      const std::string words = end_of_run({.kind = GpuFault::Kind::launch, .after = launch, .device = device});
      CHECK(words == "cuda: cudaLaunchCooperativeKernel: too many resources requested for launch");
      check_clean();
    }
  }
}

TEST_CASE("a kernel that breaks down on one GPU stops the others at once, not at the time limit") {
  for (const int device : {0, 1}) {
    for (const std::uint64_t barriers : {0U, 1U, 7U}) {
      CAPTURE(device);
      CAPTURE(barriers);
      const std::string words = end_of_run({.kind = GpuFault::Kind::trap, .after = barriers, .device = device}, 1e6);
      CHECK(EmulatedGpus::machine().failed());
      CHECK(words.find("an illegal memory access was encountered") != std::string::npos);
      check_clean();
    }
  }
}

TEST_CASE("a block that goes no further is stopped with all others at the time limit") {
  for (const int device : {0, 1}) {
    const std::string words = end_of_run({.kind = GpuFault::Kind::deaf, .after = 5, .device = device}, 0.1);
    CHECK(EmulatedGpus::machine().failed());
    CHECK(words == "cuda-time-limit: the schedule had not ended after 0.1 s on the GPU");
    check_clean();
  }
}

TEST_CASE("after a run that was stopped the next one is right") {
  EmulatedGpus& gpus = EmulatedGpus::machine();
  gpus.set_up({.devices = 2});
  toys::Ring ring = toys::ring_all_reduce(3, 2);
  CudaRequest request = on({0, 1});
  request.slots = 2;
  request.time_limit_seconds = 0.05;
  {
    CudaExecutor executor(ring.table, request);
    gpus.fail({.kind = GpuFault::Kind::deaf, .after = 3});
    CHECK_THROWS_WITH_AS(executor.run(), doctest::Contains("had not ended after"), SimulationError);
    gpus.fail({.kind = GpuFault::Kind::launch, .after = 1000});
    CHECK(executor.run() > 0);
  }
  check_clean();
}

TEST_CASE("lanes that are not resident together are refused, however the GPU is named") {
  EmulatedGpus& gpus = EmulatedGpus::machine();
  gpus.set_up({.devices = 1, .processors = 2, .blocks_each = 2});
  const auto schedule =
      find(CollectiveKind::all_reduce, "ring").make({CollectiveKind::all_reduce, 5, Elements{100}}, {});
  for (const std::vector<int>& devices : {std::vector<int>{0}, {0, 0}, {0, 0, 0, 0, 0}}) {
    CHECK_THROWS_WITH_AS(CudaExecutor(*schedule, on(devices)),
                         doctest::Contains("GPU 0 holds 4 blocks of 2 threads at once, and the schedule has 5 lanes"),
                         SimulationError);
    check_clean();
  }
}

TEST_CASE("GPUs that do not reach each other are refused, and one without others is not") {
  EmulatedGpus& gpus = EmulatedGpus::machine();
  gpus.set_up({.devices = 2, .peers = false});
  const auto schedule = find(CollectiveKind::all_reduce, "ring").make(kCollective, {});
  CHECK_THROWS_WITH_AS(CudaExecutor(*schedule, on({0, 1})), "GPU 0 has no peer access to GPU 1", SimulationError);
  CHECK(CudaExecutor(*schedule, on({1})).run() > 0);
  check_clean();
}

TEST_CASE("without a GPU there are none, and nothing runs") {
  EmulatedGpus::machine().set_up({.devices = 0});
  CHECK(cuda_devices().empty());
  const auto schedule = find(CollectiveKind::all_reduce, "ring").make(kCollective, {});
  CHECK_THROWS_WITH_AS(CudaExecutor(*schedule, {}), "no CUDA device is found on this machine", SimulationError);
  EmulatedGpus::machine().set_up({});
}

TEST_CASE("a schedule that would reach outside its buffers, or whose ends disagree, never gets to a GPU") {
  EmulatedGpus::machine().set_up({});
  toys::Chain outside = toys::chain_broadcast();
  outside.table.primitive(2, 0, 0).store = toys::output(1);
  CHECK_THROWS_WITH_AS(CudaExecutor(outside.table, on({0})), doctest::Contains("outside the output"), SimulationError);
  toys::Chain shorter = toys::chain_broadcast();
  shorter.table.primitive(2, 0, 0).count = Elements{3};
  CHECK_THROWS_WITH_AS(CudaExecutor(shorter.table, on({0})), "rank 2 receives other messages than rank 1 sends to it",
                       SimulationError);
  CHECK_THROWS_AS(CudaExecutor(toys::ring_all_reduce(3, 2).table,
                               [] {
                                 CudaRequest request = on({0});
                                 request.slots = 1;
                                 return request;
                               }()),
                  BrokenInvariant);
  check_clean();
}
