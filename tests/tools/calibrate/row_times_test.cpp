#include <doctest/doctest.h>

#include "models/execution/choice.hpp"
#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "models/library/library.hpp"
#include "models/software/profile.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/calibrate/tables/table_rows.hpp"

using namespace athanor;
using namespace athanor::literals;

TEST_CASE("remembered times are those of runs, whatever figure has changed in between") {
  const Folder folder;
  const std::string path = folder.write("s.json", R"({"cluster": {"node": "DGX-H100", "nodes": 2, "fabric": {"kind":
    "star", "switch": "QM9700"}}, "profile": "nccl-generic-hopper", "collective": {"kind": "all_reduce", "sizes": "64KiB,8MiB"}})");
  Problems problems;
  Scenario scenario = read_scenario(path, Library(ATHANOR_TEST_SCENARIOS), {}, problems);
  problems.throw_if_any();
  Case& only = scenario.cases.front();
  Profile start = *only.platform.profile;
  start.nccl->choosing = NcclChoosing::fastest;
  const CollectiveSetup& setup = only.as<CollectiveExperiment>()->setup();
  for (const Bytes size : setup.sizes) {
    RowTimes times;
    const auto check = [&](const auto& change) {
      Profile used = start;
      change(used);
      only.platform.profile = std::make_shared<const Profile>(used);
      const RunRequest request = setup.request(only.platform, size, {});
      CHECK(times.fastest(request) == choose_fastest(request).result.time);
    };
    for (int again = 0; again < 2; ++again) {
      check([](Profile&) {});
      check([](Profile& profile) { profile.launch += 3_us; });
      check([](Profile& profile) { profile.nccl->host_launch_per_gpu = 25_us; });
      check([](Profile& profile) { profile.nccl->network_jitter = 4_us; });
      check([](Profile& profile) { profile.nccl->nvls_start = 40_us; });
      check([](Profile& profile) { profile.nccl->nvls_loop = 12_us; });
      check([](Profile& profile) { profile.nccl->of(NcclProtocol::ll).step = 2_us; });
      check([](Profile& profile) { profile.nccl->of(NcclProtocol::ll128).rate = 2_GBps; });
      check([](Profile& profile) { profile.nccl->of(NcclProtocol::simple).network_latency = 90_us; });
      check([](Profile& profile) { profile.nccl->of(NcclProtocol::ll).network_rate = 0.5_GBps; });
      check([](Profile& profile) { profile.nccl->network_efficiency = {1, 3}; });
    }
  }
}
