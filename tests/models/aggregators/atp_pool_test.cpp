#include "models/aggregators/atp_pool.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "models/aggregators/aggregation_transport.hpp"
#include "tests/models/aggregators/aggregation_cases.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

AggregatorSettings shared(std::uint32_t slots, std::uint32_t window) {
  AggregatorSettings settings = slots_of(AggregatorPolicy::best_effort, slots);
  settings.window = window;
  return settings;
}

/// To the switch, to the server, and back: four cables, each after a whole packet.
constexpr Time kServed = (kCable + kPacketTime) * 4;

/// `count` jobs of four workers and a server, each starting a bit after the one before.
std::vector<AggregationJob> jobs_of_four(const Cluster& cluster, std::uint32_t count, std::int64_t packets,
                                         Time apart) {
  std::vector<AggregationJob> jobs;
  for (std::uint32_t job = 0; job < count; ++job) {
    jobs.push_back(job_on(cluster, 5 * job, 4, packets));
    jobs.back().start = apart * job;
  }
  return jobs;
}

}  // namespace

TEST_CASE("a job alone goes at the rate of its links, by way of its server") {
  for (const std::uint32_t workers : {1U, 2U, 7U, 64U}) {
    const Cluster cluster = one_rack(workers + 1);
    for (const std::int64_t packets : {1, 44, 500}) {
      for (const NetworkLevel level : {NetworkLevel::ideal, NetworkLevel::flow}) {
        const AggregationResult result = run(cluster, {job_on(cluster, 0, workers, packets)}, shared(256, 64), level);
        CHECK(result.jobs[0].time == kServed + kPacketTime * (packets - 1));
        CHECK(result.jobs[0].server_packets == static_cast<std::uint64_t>(packets));
        CHECK(result.jobs[0].collisions == 0);
      }
    }
  }
}

TEST_CASE("several racks add up on their own before the server's rack does") {
  const Time round_trip = (kCable + kPacketTime) * 6 + kCable * 2;  // between leaves a packet crosses two cables
  const Cluster two = racks_of_four(2);
  const AggregationResult of_two = run(two, {job_on(two, 0, 7, 400)}, shared(512, 128));
  CHECK(of_two.jobs[0].lossless_round_trip == round_trip);
  CHECK(of_two.jobs[0].time == round_trip + kPacketTime * 399);
  const Cluster cluster = racks_of_four(4);  // whose ways between leaves may share links
  const AggregationResult result = run(cluster, {job_on(cluster, 0, 15, 400)}, shared(512, 128));
  CHECK(result.jobs[0].lossless_round_trip == round_trip);
  CHECK(result.jobs[0].server_packets == 400);
  const Fabric& fabric = *cluster.fabric;
  for (const LinkLoad& load : result.network.loads) {
    const bool at_host = fabric.vertex(fabric.source(load.link)).kind == VertexKind::host ||
                         fabric.vertex(fabric.target(load.link)).kind == VertexKind::host;
    if (at_host) { CHECK(load.carried == 1000_B * 400); }
  }
}

TEST_CASE("without slots everything goes to the server, whose link takes it one after the other") {
  for (const std::uint32_t workers : {2U, 5U}) {
    const Cluster cluster = one_rack(workers + 1);
    const AggregationResult result = run(cluster, {job_on(cluster, 0, workers, 300)}, shared(0, 64));
    CHECK(result.jobs[0].time == kServed + kPacketTime * (300 * workers - 1));
    CHECK(result.jobs[0].server_packets == 300 * workers);
  }
}

TEST_CASE("a second job finds as many of its slots taken as chance says") {
  const Cluster cluster = one_rack(10);
  const std::uint32_t slots = 1'024;
  const std::uint32_t window = 64;
  AggregatorSettings settings = shared(slots, window);
  settings.host_latency = 100_us;  // the first job's packets are still at its server
  std::vector<AggregationJob> jobs = jobs_of_four(cluster, 2, window, 50_us);
  std::uint64_t found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const AggregationResult result = run(cluster, jobs, settings, NetworkLevel::flow, seed);
    const std::uint64_t taken = result.jobs[1].collisions / 4;  // all four workers' packets meet the same
    CHECK(result.jobs[1].collisions == 4 * taken);
    CHECK(result.jobs[0].collisions == 0);
    CHECK(result.jobs[1].server_packets == (window - taken) + 4 * taken);
    found += taken;
  }
  // Two sets of 64 of 1,024 slots have 64 * 64 / 1,024 = 4 in common, with a variance of 3.5.
  CHECK(std::abs(static_cast<double>(found) / 100 - 4) < 4 * std::sqrt(3.5 / 100));
}

/// Where a slot comes free between the packets of two workers it waits for the first of them in vain, until one is sent
/// again: after three later results, or, of the last packets, after a timeout.
TEST_CASE("however few the slots, jobs are hardly slower than with their servers alone, and never faster than alone") {
  const Cluster cluster = one_rack(15);
  const std::vector<AggregationJob> jobs = jobs_of_four(cluster, 3, 2'000, 7_us);
  const Time alone = kServed + kPacketTime * 1'999;
  const Time served = kServed + kPacketTime * (4 * 2'000 - 1);
  Time longest;
  for (const std::uint32_t slots : {1U, 2U, 4U, 8U, 64U, 128U, 256U, 1'024U, 8'192U}) {
    CAPTURE(slots);
    AggregatorSettings settings = shared(slots, 64);
    settings.timeout = 60_us;
    const AggregationResult result = run(cluster, jobs, settings);
    longest = Time::zero();
    for (const AggregationJobResult& job : result.jobs) {
      CHECK(job.results == 2'000 * 4);
      CHECK(job.time >= alone);
      CHECK(job.time <= served + served / 50 + settings.timeout);
      longest = std::max(longest, job.time);
    }
  }
  CHECK(seconds(longest) == doctest::Approx(seconds(alone)).epsilon(0.02));
}

TEST_CASE("after a collision the packets behind it use another slot, as long as there is one") {
  const Cluster cluster = one_rack(10);
  const AggregationResult result = run(cluster, jobs_of_four(cluster, 2, 20'000, 3_us), shared(512, 64));
  std::uint64_t collisions = 0;
  for (const AggregationJobResult& job : result.jobs) {
    collisions += job.collisions;
    CHECK(job.collisions < 4 * 64);  // each place of the window moves once at most, with few exceptions
    CHECK(seconds(job.time) == doctest::Approx(seconds(kServed + kPacketTime * 19'999)).epsilon(0.01));
  }
  CHECK(collisions > 0);
}

TEST_CASE("places in a window have slots of their own, and a change holds from the next round on") {
  AggregatorPlaces places(100, 60, 5);
  std::set<std::uint32_t> used;
  for (std::uint32_t k = 0; k < 60; ++k) { used.insert(places.slot(k)); }
  CHECK(used.size() == 60);
  const std::uint32_t old = places.slot(7);
  places.change(7);
  CHECK(places.slot(7) == old);
  CHECK(places.slot(67) != old);
  CHECK(used.count(places.slot(67)) == 0);
  CHECK(places.slot(127) == places.slot(67));
  AggregatorPlaces full(10, 20, 5);  // no other slot is left
  full.change(3);
  CHECK(full.slot(23) == full.slot(3));
  CHECK(full.slot(13) == full.slot(3));
}

TEST_CASE("whatever is lost and whatever collides, every worker uses every result once") {
  for (const std::uint32_t racks : {1U, 4U}) {
    const Cluster cluster = racks == 1 ? one_rack(15) : racks_of_four(racks);
    for (const std::int64_t percent : {1, 10, 25}) {
      for (const std::uint32_t slots : {0U, 4U, 100U, 1'000U}) {
        CAPTURE(racks);
        CAPTURE(percent);
        CAPTURE(slots);
        AggregatorSettings settings = shared(slots, 32);
        settings.loss = {percent, 100};
        settings.timeout = 200_us;
        const AggregationResult result = run(cluster, jobs_of_four(cluster, 3, 500, 5_us), settings);
        for (const AggregationJobResult& job : result.jobs) {
          CHECK(job.results == 500 * 4);
          CHECK(job.lost > 0);
          CHECK(job.retransmissions > 0);
        }
      }
    }
  }
}

TEST_CASE("one loss costs one timeout, wherever it falls") {
  for (const AggregatorPolicy policy : {AggregatorPolicy::static_pool, AggregatorPolicy::best_effort}) {
    for (const std::uint32_t racks : {1U, 2U}) {
      const Cluster cluster = racks == 1 ? one_rack(8) : racks_of_four(2);
      AggregatorSettings settings = slots_of(policy, 64);
      settings.loss = {1, 20};
      const std::vector<AggregationJob> jobs = {job_on(cluster, 0, 7, 1)};
      std::uint32_t cases = 0;
      for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const AggregationJobResult job = run(cluster, jobs, settings, NetworkLevel::flow, seed).jobs[0];
        if (job.lost != 1) { continue; }
        ++cases;
        CAPTURE(seed);
        CHECK(job.time > settings.timeout);
        CHECK(job.time <= settings.timeout + job.lossless_round_trip + kPacketTime * 14);
      }
      CHECK(cases > 20);
    }
  }
}

TEST_CASE("at packet level shared slots work as at flow level, with or without loss") {
  const Cluster cluster = racks_of_four(4);
  for (const std::int64_t percent : {0, 2}) {
    AggregatorSettings settings = shared(200, 32);
    settings.loss = {percent, 100};
    settings.timeout = 300_us;
    const std::vector<AggregationJob> jobs = jobs_of_four(cluster, 3, 1'000, 5_us);
    const AggregationResult flow = run(cluster, jobs, settings);
    const AggregationResult packet = run(cluster, jobs, settings, NetworkLevel::packet);
    for (std::uint32_t job = 0; job < 3; ++job) {
      CHECK(packet.jobs[job].results == 1'000 * 4);
      CHECK((packet.jobs[job].lost > 0) == (percent > 0));
    }
    // Losses fall on other packets' tails, and acknowledgements of the transport take 64 bytes a packet.
    CHECK(seconds(packet.time) == doctest::Approx(seconds(flow.time)).epsilon(0.2));
  }
}

TEST_CASE("results of later packets tell of a loss sooner than the timeout") {
  const Cluster cluster = one_rack(5);
  AggregatorSettings settings = shared(256, 64);
  settings.loss = {1, 1'000};
  const std::vector<AggregationJob> jobs = {job_on(cluster, 0, 4, 5'000)};
  const AggregationJobResult sooner = run(cluster, jobs, settings).jobs[0];
  settings.later_results = 0;
  const AggregationJobResult later = run(cluster, jobs, settings).jobs[0];
  CHECK(sooner.lost > 20);
  CHECK(sooner.time < later.time);
  CHECK(later.time > settings.timeout * 10);
}

TEST_CASE("a window halves once for all that was under way and grows by one packet a window") {
  SendWindow window(1'000, 16);
  const auto fill = [&] {
    while (window.has_next()) { window.tries(window.take_next()) = 1; }
  };
  const auto answer = [&](std::uint32_t from, std::uint32_t count, bool marked) {
    for (std::uint32_t s = from; s < from + count; ++s) {
      window.adapt(s, marked);
      CHECK_FALSE(window.take(s, 3));
    }
  };
  fill();
  CHECK(window.waits_for(15));
  CHECK_FALSE(window.waits_for(16));
  answer(0, 16, true);
  fill();
  CHECK(window.waits_for(16 + 7));
  CHECK_FALSE(window.waits_for(16 + 8));
  answer(16, 8, false);
  fill();
  CHECK(window.waits_for(24 + 7));
  answer(24, 8, false);
  fill();
  answer(32, 1, false);
  fill();
  CHECK(window.waits_for(33 + 8));
  CHECK_FALSE(window.waits_for(33 + 9));
}

TEST_CASE("three later results make the oldest packet count as lost, once") {
  SendWindow window(100, 16);
  while (window.has_next()) { window.take_next(); }
  CHECK_FALSE(window.take(1, 3));
  CHECK_FALSE(window.take(2, 3));
  CHECK(window.take(3, 3));
  CHECK_FALSE(window.take(4, 3));
  CHECK(window.first() == 0);
  CHECK_FALSE(window.take(0, 3));
  CHECK(window.first() == 5);
  CHECK_FALSE(window.waits_for(3));
}

TEST_CASE("marks keep queues short where the server is the bottleneck") {
  const Cluster cluster = one_rack(9);
  AggregatorSettings settings = shared(0, 256);
  settings.timeout = 100_us;  // less than eight windows take on the server's link
  const std::vector<AggregationJob> jobs = {job_on(cluster, 0, 8, 4'000)};
  CHECK(refusal_of(cluster, jobs, settings) == "given-up");
  settings.mark_above = 100'000_B;
  const AggregationJobResult marked = run(cluster, jobs, settings).jobs[0];
  CHECK(marked.marked_results > 0);
  CHECK(seconds(marked.time) == doctest::Approx(seconds(kServed + kPacketTime * (8 * 4'000 - 1))).epsilon(0.25));
}

TEST_CASE("a mark of one rack's packet reaches all workers, and without queues there is none") {
  AggregatorSettings settings = shared(512, 128);
  settings.mark_above = 20'000_B;
  const Cluster even = racks_of_four(2);
  CHECK(run(even, {job_on(even, 0, 7, 2'000)}, settings).jobs[0].marked_results == 0);
  const Cluster slow = racks_of_four(2);
  Fabric& fabric = *slow.fabric;
  for (LinkId link{0}; link.value < fabric.links(); ++link.value) {
    if (fabric.name(fabric.source(link)) != "leaf0" || fabric.vertex(fabric.target(link)).kind != VertexKind::spine) {
      continue;
    }
    Link half = fabric.link(link);
    half.usable = 5_GBps;
    fabric.change(link, half);
  }
  const AggregationJobResult job = run(slow, {job_on(slow, 0, 7, 2'000)}, settings).jobs[0];
  CHECK(job.marked_results > 0);
  CHECK(job.marked_results % 7 == 0);
}

TEST_CASE("what found no slot in its own rack goes to the server alone") {
  const Cluster cluster = racks_of_four(3);
  AggregatorSettings settings = shared(256, 64);
  settings.host_latency = 100_us;  // the first job's packets are still at its server
  std::vector<AggregationJob> jobs = {job_on(cluster, 0, 2, 64), job_on(cluster, 2, 2, 64)};
  jobs[0].server = cluster.endpoints[4];
  jobs[1].server = cluster.endpoints[8];
  jobs[1].start = 50_us;
  const AggregationJobResult second = run(cluster, jobs, settings).jobs[1];
  CHECK(second.collisions > 0);
  CHECK(second.server_packets == 64 + second.collisions / 2);
}

TEST_CASE("what a server or its packets cannot do is refused") {
  const Cluster cluster = one_rack(70);
  AggregationJob job = job_on(cluster, 0, 4, 10);
  job.server.reset();
  CHECK(refusal_of(cluster, {job}, shared(4, 4)) == "no-server");
  CHECK(refusal_of(cluster, {job_on(cluster, 0, 65, 10)}, shared(4, 4)) == "too-many-workers");
  CHECK(refusal_of(cluster, {job_on(cluster, 0, 64, 10)}, shared(4, 4)).empty());
  job.server = job.workers[2];
  CHECK(refusal_of(cluster, {job}, shared(4, 4)) == "slots");
  CHECK(refusal_of(cluster, {job_on(cluster, 0, 4, 10)}, shared(0, 0)) == "slots");
}
