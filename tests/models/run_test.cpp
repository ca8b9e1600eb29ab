#include "models/execution/run.hpp"

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"
#include "topologies/generators/overrides.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

Profile read_profile(const std::string& text) {
  Profile profile;
  Problems problems;
  read_document(Document::parse(text, "profile.json"), problems, [&](Fields& root) { visit(root, profile); });
  problems.throw_if_any();
  return profile;
}

Cluster ten_hosts() { return star(hosts(10), {10_GBps, 10_GBps, 500_ns, Time::zero()}); }

RunResult run(const Cluster& cluster, const Profile& profile, const std::vector<const Algorithm*>& algorithms,
              Elements count, const Overrides& overrides = {}) {
  const Collective collective{CollectiveKind::all_reduce, 10, count};
  return run_collective({cluster, profile, collective, Bytes{4}, algorithms, overrides, {}, 1});
}

const Algorithm* all_reduce(std::string_view name) { return &find(CollectiveKind::all_reduce, name); }

}  // namespace

TEST_CASE("an engine in the NVSwitch needs an NVLink of every rank, up both ways") {
  for (const std::string end : {"", "node0/gpu4", "node0/nvswitch0"}) {
    NodeSpec spec;
    spec.name = "ten GPUs";
    spec.gpus = 10;
    spec.scale_up = NvSwitchSpec{{100_GBps, 100_GBps, 100_ns}};
    spec.pcie_link = {10_GBps, 10_GBps, 100_ns};
    spec.pcie = {{0, false, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {}}};
    Cluster cluster = single_node(spec);
    const bool from_gpu = end == "node0/gpu4";
    const LinkOverride down{
        .from = end, .to = from_gpu ? "node0/nvswitch0" : "node0/gpu4", .both_ways = false, .down = true};
    Problems problems;
    if (!end.empty()) { apply_overrides(cluster, {down}, problems); }
    REQUIRE(problems.empty());
    CAPTURE(end);
    const RunResult result = run(cluster, {}, {all_reduce("nvls"), all_reduce("ring")}, Elements{10'000'000});
    CHECK(result.algorithm == (end.empty() ? "nvls" : "ring"));
    const bool refused =
        result.notes == std::vector<std::string>{"does not fit: nvls: it needs all ranks on one NVSwitch"};
    CHECK(refused == !end.empty());
  }
}

TEST_CASE("the fastest algorithm is reported: few steps for small payloads, few bytes for large ones") {
  const Cluster cluster = ten_hosts();
  const std::vector<const Algorithm*> both{all_reduce("ring"), all_reduce("recursive_doubling")};
  CHECK(run(cluster, {}, both, Elements{10}).algorithm == "recursive_doubling");
  CHECK(run(cluster, {}, both, Elements{10'000'000}).algorithm == "ring");
}

TEST_CASE("an algorithm that pipelines gets chunks where nobody says how large they are, and no others do") {
  const Cluster cluster = star(hosts(16), {10_GBps, 10_GBps, 500_ns, Time::zero()});
  const Algorithm& ring = find(CollectiveKind::broadcast, "ring");
  const auto broadcast = [&](Bytes size, const Profile& profile, const Overrides& overrides) {
    const Collective collective{CollectiveKind::broadcast, 16, Elements{size.count() / 4}};
    return run_collective({cluster, profile, collective, Bytes{4}, {&ring}, overrides, {}, 1}).time;
  };
  // The best k of (14 + k)(1 us + least / k) comes within 2.3 % of the least.
  const Time least = transfer_time(1_GiB, 10_GBps);
  CHECK(broadcast(1_GiB, {}, {}) > least);
  CHECK(broadcast(1_GiB, {}, {}) < least + least * 3 / 100);
  Overrides whole;
  whole.chunk = 1_GiB;
  CHECK(broadcast(1_GiB, {}, whole) > least * 15);
  const Profile chunked = read_profile(R"({"protocols": [{"name": "p", "chunk": "256MiB"}]})");
  CHECK(broadcast(1_GiB, chunked, {}) > least * 4);
  // One chunk is best where latency decides.
  CHECK(broadcast(64_B, {}, {}) == (1_us + transfer_time(64_B, 10_GBps)) * 15);
}

TEST_CASE("the launch and the start of a protocol are part of every time") {
  const Cluster cluster = ten_hosts();
  const Profile bare = read_profile(R"({"protocols": [{"name": "p"}]})");
  const Profile costly = read_profile(R"({"launch": "10us", "protocols": [{"name": "p", "start": "5us"}]})");
  const auto ring = {all_reduce("ring")};
  CHECK(run(cluster, costly, ring, Elements{1000}).time == run(cluster, bare, ring, Elements{1000}).time + 15_us);
}

TEST_CASE("a ring with latency, rate and payload share per hop takes the sum of its steps") {
  const Cluster cluster = ten_hosts();
  const Profile profile = read_profile(R"({"protocols": [{"name": "p", "send_end": "delivered", "payload": 0.5,
      "network": {"latency": "3us", "rate": "2GB/s"}, "overhead": "250ns"}]})");
  // 4000 bytes a step are 8000 on the wire, at 2 GB/s of payload or 4 GB/s of wire. The last step sends nothing.
  const Time step = 250_ns + 3_us + 1_us + transfer_time(8000_B, 4_GBps);
  CHECK(run(cluster, profile, {all_reduce("ring")}, Elements{10'000}).time == step * 18 + 250_ns);
}

TEST_CASE("a payload that does not divide is priced at the next size that does, and says so") {
  const Cluster cluster = ten_hosts();
  const auto ring = {all_reduce("ring")};
  CHECK(run(cluster, {}, ring, Elements{11}).time == run(cluster, {}, ring, Elements{20}).time);
  CHECK(run(cluster, {}, ring, Elements{11}).padded);
  CHECK_FALSE(run(cluster, {}, ring, Elements{20}).padded);
}

TEST_CASE("a result outside of what the profile was fitted on is extrapolated") {
  const Cluster cluster = ten_hosts();
  const Profile profile = read_profile(
      R"({"fitted": {"collectives": ["all_reduce"], "ranks": [10], "from": "1KiB", "to": "1MiB"},
          "protocols": [{"name": "p"}]})");
  const auto ring = {all_reduce("ring")};
  CHECK(run(cluster, profile, ring, Elements{10}).extrapolated);
  CHECK_FALSE(run(cluster, profile, ring, Elements{10'000}).extrapolated);
  CHECK(run(cluster, profile, ring, Elements{1'000'000}).extrapolated);
}

TEST_CASE("where nothing fits, the reasons are given") {
  const Cluster cluster = ten_hosts();
  CHECK_THROWS_WITH_AS(run(cluster, {}, {all_reduce("nvls")}, Elements{10}),
                       doctest::Contains("nvls: it needs all ranks on one NVSwitch"), SimulationError);
  const Profile small = read_profile(R"({"protocols": [{"name": "p", "to": "1KiB"}]})");
  CHECK_THROWS_WITH_AS(run(cluster, small, {all_reduce("ring")}, Elements{10'000}),
                       doctest::Contains("no protocol of the profile is meant for this size"), SimulationError);
  const RunResult result = run(cluster, {}, {all_reduce("ring"), all_reduce("nvls")}, Elements{10});
  CHECK(result.algorithm == "ring");
  CHECK(result.notes == std::vector<std::string>{"does not fit: nvls: it needs all ranks on one NVSwitch"});
}

TEST_CASE("a profile with mistakes is refused with all of them") {
  const auto problems = [](const std::string& text) {
    try {
      read_profile(text);
    } catch (const ScenarioError& error) { return error.problems().size(); }
    return std::size_t{0};
  };
  CHECK(problems(R"({"lunch": "5us"})") == 1);
  CHECK(problems(R"({"launch": "5", "protocols": [{"name": "p", "payload": 1.5, "slots": 0}]})") == 3);
  CHECK(problems(R"({"protocols": [{"send_end": "never"}]})") == 2);
}

TEST_CASE("bus bandwidth is algorithm bandwidth times the factor of the collective") {
  const Time time = 1_ms;
  CHECK(algorithm_bandwidth(Bytes{1'000'000}, time) == doctest::Approx(1.0));
  CHECK(bus_bandwidth({CollectiveKind::all_reduce, 8, Elements{}}, Bytes{1'000'000}, time) == doctest::Approx(1.75));
  CHECK(bus_bandwidth({CollectiveKind::all_gather, 8, Elements{}}, Bytes{1'000'000}, time) == doctest::Approx(0.875));
  CHECK(bus_bandwidth({CollectiveKind::broadcast, 8, Elements{}}, Bytes{1'000'000}, time) == doctest::Approx(1.0));
}

TEST_CASE("a time below the bound, which only the ideal network gives, is said to be one") {
  const Cluster cluster = ten_hosts();
  Overrides four_channels;
  four_channels.channels = 4;  // of one link, each at its full rate
  const Profile profile;
  const Collective collective{CollectiveKind::all_reduce, 10, Elements{4'000'000}};
  const auto notes = [&](NetworkLevel level) {
    SimulationOptions options;
    options.level = level;
    return run_collective({cluster, profile, collective, Bytes{4}, {all_reduce("ring")}, four_channels, options, 1})
        .notes.size();
  };
  CHECK(notes(NetworkLevel::ideal) == 1);
  CHECK(notes(NetworkLevel::flow) == 0);
}

TEST_CASE("what limits is the launch, the latency of the steps, a link, or transfers that no one link fills") {
  const Cluster cluster = ten_hosts();
  const auto limit = [&](const std::string& profile, std::string_view algorithm, std::int64_t count) {
    return run(cluster, read_profile(profile), {all_reduce(algorithm)}, Elements{count}).limited_by;
  };
  CHECK(limit(R"({"launch": "1ms", "protocols": [{"name": "p"}]})", "ring", 10) == "launch");
  CHECK(limit("{}", "ring", 10) == "latency");
  CHECK(limit("{}", "ring", 10'000'000) == "network host->leaf");
  // The root's link carries more than others, but less than half of the time: up the tree, down again, and in between.
  CHECK(limit(R"({"protocols": [{"name": "p", "chunk": "1GB"}]})", "binomial_tree", 10'000'000) ==
        "transfers, most on network host0->leaf0, leaf0->host0");
}

TEST_CASE("a link that is busier than all others is named by its devices, with and without classes") {
  const Cluster cluster = ten_hosts();
  const Profile profile;
  const Collective collective{CollectiveKind::all_reduce, 10, Elements{10'000'000}};
  for (const bool classes : {true, false}) {
    SimulationOptions options;
    options.classes = classes;
    const auto limit = [&](std::string_view algorithm) {
      return run_collective({cluster, profile, collective, Bytes{4}, {all_reduce(algorithm)}, {}, options, 1})
          .limited_by;
    };
    CHECK(limit("parameter_server") == "network host0->leaf0, leaf0->host0");
    CHECK(limit("ring") == "network host->leaf");
  }
}
