#include "models/engines/engine.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/run.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

using enum CollectiveKind;

Cluster racks() {
  ClosSpec spec;
  spec.tiers = 2;
  spec.radix = 8;
  spec.host_cable = spec.up_cable = spec.core_cable = {10_GBps, 10_GBps, 1_us, Time::zero()};
  return fat_tree(hosts(32), spec, {.routing = Routing::ecmp});
}

struct Asked {
  std::string engine = "ideal";
  Bytes size{1'000'000};
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  bool falls_back = false;
  std::uint32_t channels = 1;
};

RunResult run(const Cluster& cluster, const Asked& asked) {
  const Profile ideal;
  auto aggregation = std::make_shared<EngineDeployment>(EngineDeployment{find_engine(asked.engine), {}});
  if (asked.falls_back) {
    aggregation->fallback = {&find(all_reduce, "ring"), &find(all_reduce, "double_binary_tree")};
  }
  const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
  const Collective collective{all_reduce, ranks, Elements{asked.size / size_of(asked.type)}};
  Overrides overrides;
  if (asked.channels > 1) { overrides.channels = asked.channels; }
  return run_collective({.cluster = cluster,
                         .profile = ideal,
                         .collective = collective,
                         .element_size = size_of(asked.type),
                         .algorithms = {&find(all_reduce, "aggregation_tree")},
                         .overrides = overrides,
                         .options = {},
                         .aggregation = aggregation,
                         .type = asked.type,
                         .reduction = asked.reduction});
}

std::string refusal(const Asked& asked) {
  try {
    run(racks(), asked);
  } catch (const SimulationError& error) { return error.what(); }
  return "";
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("every engine has a name of its own, a source, and at least one mode where it sits in switches") {
  std::set<std::string> names;
  for (const EngineModel& engine : engine_catalog()) {
    CAPTURE(engine.name);
    CHECK(names.insert(engine.name).second);
    CHECK_FALSE(engine.summary.empty());
    CHECK_FALSE(engine.source.empty());
    CHECK(engine.modes.empty() != is_in_switches(engine));
    CHECK(&find_engine(engine.name) == &engine);
  }
}

TEST_CASE("an unknown engine is answered with the nearest name") {
  try {
    find_engine("sharp_v22");
    FAIL("found");
  } catch (const ScenarioError& error) { CHECK(says(error.problems().front().hint, "did you mean 'sharp_v2'?")); }
}

TEST_CASE("an engine refuses what it cannot add and what is too long, in words, or what is to run instead does") {
  CHECK(says(refusal({.engine = "sharp_v2", .type = DataType::int8}), "sharp_v2 does not add int8"));
  CHECK(says(refusal({.engine = "sharp_v3", .reduction = Reduction::product}), "does not reduce by product"));
  const Bytes gib{1'073'741'824};
  CHECK(refusal({.engine = "sharp_v3", .size = gib}).empty());  // is cut into operations
  CHECK(refusal({.engine = "sharp_v3", .type = DataType::int8}).empty());
  const RunResult result = run(racks(), {.engine = "sharp_v2", .type = DataType::int8, .falls_back = true});
  CHECK((result.algorithm == "ring" || result.algorithm == "double_binary_tree"));
  CHECK(says(result.fell_back, "sharp_v2 does not add int8"));
  CHECK(says(result.notes.front(), "fell back from aggregation_tree"));
  CHECK(run(racks(), {.engine = "sharp_v2", .falls_back = true}).fell_back.empty());
}

// Streaming sends and receives every byte once: 2048 of 2130 bytes of a packet are payload, so at least 95 % of the
// link's rate, and twice the ring's less its (P - 1) / P.
TEST_CASE("streaming aggregation reaches 95 to 96 % of a link, and twice the speed of a ring") {
  const Cluster cluster = racks();
  const Bytes size{512'000'000};
  const RunResult sharp = run(cluster, {.engine = "sharp_v2", .size = size});
  const double share = algorithm_bandwidth(size, sharp.time) / 10;
  CHECK(share > 0.95);
  CHECK(share < 0.96154);
  const Profile ideal;
  const Collective collective{all_reduce, 32, Elements{size / Bytes{4}}};
  const RunResult ring = run_collective({.cluster = cluster,
                                         .profile = ideal,
                                         .collective = collective,
                                         .algorithms = {&find(all_reduce, "ring")},
                                         .overrides = {},
                                         .options = {}});
  const double gain = seconds(ring.time) / seconds(sharp.time);
  CHECK(gain > 1.8);
  CHECK(gain < 2.0 * 31 / 32);
}

TEST_CASE("channels of one tree share its engines, so that more of them are not more hardware") {
  for (const char* engine : {"sharp_v1", "netreduce"}) {
    CAPTURE(engine);
    const Time one = run(racks(), {.engine = engine, .size = Bytes{1'048'576}}).time;
    const Time four = run(racks(), {.engine = engine, .size = Bytes{1'048'576}, .channels = 4}).time;
    CHECK(seconds(four) > 0.9 * seconds(one));
  }
}

TEST_CASE("the bound knows engines only where some candidate may use them") {
  const Cluster cluster = racks();
  auto aggregation = std::make_shared<EngineDeployment>(EngineDeployment{find_engine("sharp_v3"), {}});
  aggregation->engine.limits.trees = 0;  // none of low latency, but streaming ones
  const Profile ideal;
  const Collective collective{all_reduce, 32, Elements{1'000'000}};
  const auto with = [&](DataType type, std::vector<const Algorithm*> algorithms) {
    return run_collective({.cluster = cluster,
                           .profile = ideal,
                           .collective = collective,
                           .algorithms = std::move(algorithms),
                           .overrides = {},
                           .options = {},
                           .aggregation = aggregation,
                           .type = type});
  };
  const RunResult streamed = with(DataType::float32, {&find(all_reduce, "aggregation_tree")});
  CHECK(streamed.bound.time <= streamed.time);
  CHECK_FALSE(streamed.roots.empty());
  aggregation->engine.limits.types = {DataType::int32};
  const RunResult ring = with(DataType::float32, {&find(all_reduce, "aggregation_tree"), &find(all_reduce, "ring")});
  CHECK(ring.algorithm == "ring");
  CHECK(ring.bound.time > streamed.bound.time);
}

// Channels take trees in turn, and trees different tops: each of four spines carries a quarter of what one alone would.
TEST_CASE("PANAMA spreads a payload over several trees, so that no link between switches carries all of it") {
  const Cluster cluster = racks();
  const auto most_up = [&](const std::string& engine) {
    const RunResult result = run(cluster, {.engine = engine, .size = Bytes{16'384'000}});
    double most = 0;
    for (const LinkLoad& load : result.simulated.network.loads) {
      const VertexKind to = cluster.fabric->vertex(cluster.fabric->target(load.link)).kind;
      if (to == VertexKind::spine) { most = std::max(most, static_cast<double>(load.carried.count())); }
    }
    return most / 16'384'000;
  };
  CHECK(most_up("ideal") == doctest::Approx(1));
  CHECK(most_up("panama") == doctest::Approx(0.25 * (1024 + 66) / 1024).epsilon(0.01));
}

// Waves: W chunks of the low-latency path go out, and one more with each sum that comes back.
TEST_CASE("payloads beyond one transaction take longer on the low-latency path, by waves") {
  const Cluster cluster = racks();
  const Time one = run(cluster, {.engine = "sharp_v1", .size = 256_B}).time;
  const Time many = run(cluster, {.engine = "sharp_v1", .size = 256_B * 64}).time;
  CHECK(many > one * 4);
  CHECK(many < one * 64);
}

TEST_CASE("a profile that prices one of the algorithms is taken at its word") {
  Profile profile;
  profile.protocols.front().algorithms = {"ring"};
  Protocol& known = profile.protocols.emplace_back();
  known.name = "SHARP";
  known.algorithms = {"aggregation_tree"};
  const auto protocols = engine_protocols(find_engine("sharp_v2"), profile);
  REQUIRE(protocols.size() == 1);
  CHECK(protocols.front().name == "SHARP");
  profile.protocols.pop_back();
  profile.protocols.front().network.latency = 2_us;
  const auto modes = engine_protocols(find_engine("sharp_v2"), profile);
  REQUIRE(modes.size() == 2);
  CHECK(modes.front().aggregation.host_latency == 1_us);
}

TEST_CASE("a library that drives engines keeps its own costs and cuts, and takes the modes' costs in the network") {
  Protocol library;
  library.name = "Simple";
  library.start = 3_us;
  library.library = {{.chunk = Elements{131'072}}};
  library.network.latency = 20_us;
  library.network.rate = 12_GBps;
  const auto modes = engine_protocols(find_engine("sharp_v3"), {library}, 4);
  REQUIRE(modes.size() == 2);
  const Protocol& low_latency = modes.front();
  CHECK(low_latency.to == 16_KiB * 4);  // four heads send an operation each
  CHECK(low_latency.library->of_bytes.chunk == Elements{2048});
  CHECK(low_latency.aggregation.host_latency == 10_us);
  CHECK(low_latency.start == 3_us);
  const Protocol& streaming = modes.back();
  CHECK(streaming.to == Bytes::max());
  CHECK(streaming.library->of_bytes.chunk == Elements{131'072});
  CHECK(streaming.start == 3_us + 5_us);
  CHECK(streaming.name == "Simple");
  CHECK(streaming.aggregation.streaming);
  CHECK(streaming.aggregation.rate == 12_GBps);
}

// A host that moves every message itself hides nothing; one whose NIC does hides all but posting it.
TEST_CASE("what NICs carry out is hidden behind what hosts compute") {
  const NicOffload offload{.post = 1_us, .overhead = 300_ns, .reduce_rate = 5_GBps};
  CHECK(overlap(50_us, 100_us, std::nullopt).total == 150_us);
  CHECK(overlap(50_us, 100_us, std::nullopt).share == 0);
  CHECK(overlap(50_us, 100_us, std::nullopt).communicating == 50_us);
  CHECK(overlap(50_us, 100_us, offload).total == 101_us);
  CHECK(overlap(50_us, 100_us, offload).share == doctest::Approx(0.98));
  CHECK(overlap(50_us, 10_us, offload).total == 50_us);
  CHECK(overlap(50_us, 10_us, offload).share == doctest::Approx(0.2));
  CHECK(overlap(50_us, 10_us, offload).communicating == 1_us);
  Profile profile;
  profile.launch = 5_us;
  profile.protocols.front().overhead = 1_us;
  const Profile by_nic = offloaded(profile, offload);
  CHECK(by_nic.launch == 1_us);
  CHECK(by_nic.protocols.front().overhead == 300_ns);
  CHECK(by_nic.reduce_rate == 5_GBps);
  CHECK(offloaded(profile, {.post = 1_us, .overhead = {}, .reduce_rate = {}}).protocols.front().overhead == 1_us);
}
