#include "tools/calibrate/gpu_calibration.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/experiments/scenario/profile_section.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

GpuMachine machine_of(std::uint32_t gpus) { return {.gpus = gpus, .blocks = 128, .cache_size = 32_MiB}; }

GpuCosts known_costs(std::uint32_t gpus) {
  GpuCosts costs;
  costs.launch = 6_us;
  costs.primitive = 1300_ns;
  costs.flag = 800_ns;
  costs.message = 900_ns;
  costs.block_read_rate = 90_GBps;
  costs.block_write_rate = 50_GBps;
  costs.cache_size = 32_MiB;
  costs.cache_rate = 3500_GBps;
  costs.memory_rate = 2500_GBps;
  costs.blocks = 128;
  if (gpus == 1) { return costs; }
  costs.peer_flag = 2100_ns;
  costs.peer_block_rate = 25_GBps;
  costs.peer_rate = 180_GBps;
  return costs;
}

std::vector<TimedProbe> timed_by_the_model(std::uint32_t gpus) {
  std::vector<TimedProbe> timed;
  for (Probe& probe : gpu_probes(machine_of(gpus))) {
    const Time time = time_on_gpus(probe, known_costs(gpus));
    timed.push_back({std::move(probe), time, {}});
  }
  return timed;
}

double off(auto found, auto known) {
  return std::abs(static_cast<double>(found.count()) / static_cast<double>(known.count()) - 1);
}

}  // namespace

TEST_CASE("the costs of GPUs with which the model itself was timed are found again, on one GPU and on two") {
// With a sanitizer the search takes minutes, and it looks for something else: one GPU does.
#if defined(__SANITIZE_ADDRESS__)
  const std::vector<std::uint32_t> counts{1};
#else
  const std::vector<std::uint32_t> counts{1, 2};
#endif
  for (const std::uint32_t gpus : counts) {
    CAPTURE(gpus);
    std::vector<TimedProbe> timed = timed_by_the_model(gpus);
    const GpuCosts known = known_costs(gpus);
    const GpuCosts found = fit_gpu_costs(timed, {.machine = machine_of(gpus)});
    CHECK(off(found.launch, known.launch) < 0.1);
    CHECK(off(found.primitive, known.primitive) < 0.1);
    CHECK(off(found.flag, known.flag) < 0.15);
    CHECK(off(found.message, known.message) < 0.15);
    CHECK(off(found.block_read_rate, known.block_read_rate) < 0.05);
    CHECK(off(found.block_write_rate, known.block_write_rate) < 0.05);
    CHECK(off(found.cache_rate, known.cache_rate) < 0.05);
    CHECK(off(found.memory_rate, known.memory_rate) < 0.05);
    if (gpus == 2) {
      CHECK(off(found.peer_flag, known.peer_flag) < 0.15);
      CHECK(off(found.peer_block_rate, known.peer_block_rate) < 0.05);
      CHECK(off(found.peer_rate, known.peer_rate) < 0.05);
    }
    CHECK(error_of(timed, Probe::Purpose::hold_out).median < 0.01);
    CHECK(error_of(timed, Probe::Purpose::hold_out).points > 50);
  }
}

TEST_CASE("probes fit on the GPUs that they are for") {
  for (const std::uint32_t gpus : {1U, 2U, 8U}) {
    for (const Probe& probe : gpu_probes({.gpus = gpus, .blocks = 16, .cache_size = 4_MiB})) {
      CAPTURE(probe.name);
      const std::uint32_t ranks = probe.schedule->agent_count().ranks;
      CHECK(probe.workers <= std::max(1U, gpus));
      CHECK(probe.workers <= ranks);
      std::vector<std::uint32_t> lanes(probe.workers);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        lanes[std::uint64_t{rank} * probe.workers / ranks] += probe.schedule->lanes(AgentId{rank});
      }
      for (const std::uint32_t count : lanes) { CHECK(count <= 16); }
    }
  }
}

TEST_CASE("the profile of GPUs that is written can be simulated with, and fitted again") {
  std::vector<TimedProbe> timed = timed_by_the_model(2);
  for (TimedProbe& each : timed) { each.simulated = each.measured; }
  const GpuNote note{"mine", "2 x some GPU", "2026-01-01", "1", machine_of(2)};
  const Folder folder;
  const std::string path = folder.write("mine.json", text_of(gpu_profile(known_costs(2), note, timed), 2));
  Problems problems;
  const Profile read = read_profile_file(FileReader(), path, problems);
  CHECK(problems.empty());
  REQUIRE(read.gpus);
  for (const TimedProbe& each : timed) { CHECK(time_on_gpus(each.probe, *read.gpus) == each.measured); }
  GpuNote again;
  CHECK(gpu_probes_of(path, again).size() == timed.size());
  CHECK(again.gpus.blocks == 128);
  CHECK(again.gpus.cache_size == 32_MiB);
}

TEST_CASE("ranks that share GPUs are simulated from a scenario, with a profile of GPUs and with no other") {
  const Folder folder;
  const auto scenario = [&](const std::string& cluster, const std::string& profile) {
    return folder.write("gpus.json", R"({"cluster": )" + cluster +
                                         R"(, "collective": {"kind": "all_reduce", "algorithm": "ring",
                                          "sizes": ["64KiB", "16MiB"]}, "profile": )" +
                                         profile + "}");
  };
  const std::string gpus = R"({"shared_gpus": {"ranks": 4}})";
  const std::string costs =
      R"({"gpus": {"launch": "5us", "block_read_rate": "60GB/s", "block_write_rate": "60GB/s", "memory_rate": "100GB/s"}})";
  const Ran ran = athanor_run({"run", scenario(gpus, costs), "--json"});
  REQUIRE(ran.code == 0);
  // A quarter of the payload at 100 / 4 GB/s, 6 x 4 - 4 times.
  CHECK(ran.json()["results"][0]["time_us"].get<double>() == doctest::Approx(5 + 20 * 16.384e3 / 25e3));
  CHECK(ran.json()["results"][1]["limited_by"] == "memory");
  const auto refused = [&](const std::string& path, const char* says) {
    const Ran refusal = athanor_run({"run", path});
    CAPTURE(refusal.err);
    CHECK(refusal.code == 3);
    CHECK(refusal.says(says));
  };
  refused(scenario(gpus, R"("ideal")"), "has no \"gpus\"");
  refused(scenario(R"({"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "1GB/s", "latency": "1us"}}})", costs),
          "is of ranks that share GPUs");
  refused(scenario(R"({"shared_gpus": {"ranks": 4}, "nodes": 4})", costs), "stands alone");
  const Ran full = athanor_run({"run", scenario(gpus, R"({"gpus": {"memory_rate": "1GB/s", "blocks": 3}})")});
  CHECK(full.code == 1);
  CHECK(full.says("4 lanes on one GPU, where 3 thread blocks are resident at once"));
}
