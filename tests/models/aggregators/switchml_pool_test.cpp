#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tests/models/aggregators/aggregation_cases.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

AggregatorSettings pool(std::uint32_t slots) { return slots_of(AggregatorPolicy::static_pool, slots); }

/// Through one switch: two cables, each after a whole packet.
constexpr Time kRoundTrip = (kCable + kPacketTime) * 2;

/// Of what arrives at hosts and leaves them.
Bytes most_carried(const AggregationResult& result) {
  Bytes most;
  for (const LinkLoad& load : result.network.loads) { most = std::max(most, load.carried); }
  return most;
}

}  // namespace

TEST_CASE("slots that cover the round trip keep the link busy, whatever the number of workers") {
  for (const std::uint32_t workers : {1U, 2U, 3U, 8U, 65U, 130U}) {
    const Cluster cluster = one_rack(workers);
    for (const NetworkLevel level : {NetworkLevel::ideal, NetworkLevel::flow}) {
      for (const std::int64_t packets : {1, 2, 22, 23, 500}) {
        CAPTURE(workers);
        CAPTURE(packets);
        const AggregationResult result = run(cluster, {job_on(cluster, 0, workers, packets)}, pool(22), level);
        CHECK(result.jobs[0].time == kRoundTrip + kPacketTime * (packets - 1));
        CHECK(result.jobs[0].lossless_round_trip == kRoundTrip);
        CHECK(result.jobs[0].results == static_cast<std::uint64_t>(packets) * workers);
        CHECK(result.jobs[0].retransmissions + result.jobs[0].repeated_results + result.jobs[0].lost == 0);
      }
    }
  }
}

TEST_CASE("fewer slots give one of each a round trip") {
  const Cluster cluster = one_rack(3);
  for (const std::uint32_t slots : {1U, 2U, 7U, 21U}) {
    for (const std::int64_t rounds : {1, 2, 10}) {
      const AggregationResult result = run(cluster, {job_on(cluster, 0, 3, slots * rounds)}, pool(slots));
      CHECK(result.jobs[0].time == kRoundTrip * rounds + kPacketTime * (slots - 1));
      AggregatorSettings windowed = pool(512);
      windowed.window = slots;
      CHECK(run(cluster, {job_on(cluster, 0, 3, slots * rounds)}, windowed).jobs[0].time == result.jobs[0].time);
    }
  }
}

TEST_CASE("every worker's link carries the vector once up and once down, with the headers") {
  const Cluster cluster = one_rack(5);
  AggregationJob job = job_on(cluster, 0, 5, 100);
  job.bytes += 1_B;  // one more packet, of one byte
  const AggregationResult result = run(cluster, {job}, pool(512));
  CHECK(result.jobs[0].packets == 101);
  CHECK(result.network.loads.size() == 10);
  for (const LinkLoad& load : result.network.loads) { CHECK(load.carried == job.bytes + 100_B * 101); }
  // The last result is short and waits for the one before it, which is still on its way down.
  CHECK(result.jobs[0].time == kCable * 2 + kPacketTime * 101 + 10'100_ps);
}

TEST_CASE("of SwitchML's packets of 180 bytes 71 % are vector, of those of 256 elements 95 %") {
  const Cluster cluster = one_rack(8);
  for (const std::int64_t payload : {128, 1024}) {
    AggregatorSettings settings = pool(512);
    settings.payload = Bytes{payload};
    settings.header = AggregatorSettings{}.header;
    AggregationJob job = job_on(cluster, 0, 8, 1);
    job.bytes = Bytes{payload * 100'000};
    const double goodput = static_cast<double>(job.bytes.count()) / seconds(run(cluster, {job}, settings).time);
    const double share = static_cast<double>(payload) / static_cast<double>(payload + 52);
    CHECK(share == doctest::Approx(payload == 128 ? 0.711 : 0.952).epsilon(0.001));
    CHECK(goodput == doctest::Approx(1e10 * share).epsilon(0.002));
    CHECK(goodput < 1e10 * share);
  }
}

TEST_CASE("each level of switches adds a packet's way up and one down") {
  for (const std::uint32_t racks : {2U, 8U, 16U}) {
    const Cluster cluster = racks_of_four(racks);
    const std::int64_t levels = racks > 8 ? 3 : 2;
    AggregatorSettings settings = pool(512);
    settings.pipeline_latency = 400_ns;
    settings.host_latency = 700_ns;
    const AggregationResult result = run(cluster, {job_on(cluster, 0, 4 * racks, 300)}, settings);
    const Time round_trip = (kCable + kPacketTime) * (2 * levels) + 400_ns * (2 * levels - 1) + 700_ns;
    CHECK(result.jobs[0].lossless_round_trip == round_trip);
    CHECK(result.jobs[0].time == round_trip + kPacketTime * 299);
    CHECK(most_carried(result) == 1000_B * 300);
  }
}

TEST_CASE("only switches that have an engine add up") {
  const Cluster cluster = racks_of_four(2);
  AggregatorSettings settings = pool(512);
  settings.engines.switches = {"spine0"};
  const AggregationResult result = run(cluster, {job_on(cluster, 0, 1, 5)}, settings);
  CHECK(result.jobs[0].lossless_round_trip == (kCable * 2 + kPacketTime) * 2);
  settings.engines.switches = {"leaf*"};  // one of which is the top, above four hosts and the other
  settings.engines.children = 4;
  CHECK(refusal_of(cluster, {job_on(cluster, 0, 8, 5)}, settings) == "aggregation-radix");
}

TEST_CASE("a host that is busy for longer than a packet takes sends at its own rate, and a slow port likewise") {
  const Cluster cluster = one_rack(4);
  AggregatorSettings settings = pool(512);
  settings.host_packet_time = 250_ns;
  CHECK(run(cluster, {job_on(cluster, 0, 4, 100)}, settings).jobs[0].time == kRoundTrip + 150_ns + 250_ns * 99);
  settings.host_packet_time = Time::zero();
  settings.port_rate = 5_GBps;
  CHECK(run(cluster, {job_on(cluster, 0, 4, 100)}, settings).jobs[0].time == kRoundTrip + 100_ns + 200_ns * 99);
}

TEST_CASE("jobs with slots of their own do not disturb each other on links of their own") {
  const Cluster cluster = one_rack(8);
  AggregationJob later = job_on(cluster, 4, 4, 60);
  later.start = 5_us;
  const AggregationResult both = run(cluster, {job_on(cluster, 0, 4, 40), later}, pool(8));
  CHECK(both.jobs[0].time == run(cluster, {job_on(cluster, 0, 4, 40)}, pool(4)).jobs[0].time);
  CHECK(both.jobs[1].time == run(cluster, {job_on(cluster, 4, 4, 60)}, pool(4)).jobs[0].time);
  CHECK(both.time == later.start + both.jobs[1].time);
}

TEST_CASE("whatever is lost, every worker uses every result once") {
  for (const std::uint32_t racks : {1U, 2U, 12U}) {
    const Cluster cluster = racks == 1 ? one_rack(6) : racks_of_four(racks);
    const auto workers = static_cast<std::uint32_t>(cluster.endpoints.size());
    for (const std::int64_t percent : {1, 10, 30}) {
      for (const std::uint64_t seed : {1U, 2U}) {
        CAPTURE(racks);
        CAPTURE(percent);
        AggregatorSettings settings = pool(16);
        settings.loss = {percent, 100};
        settings.timeout = 100_us;
        const AggregationJobResult job =
            run(cluster, {job_on(cluster, 0, workers, 200)}, settings, NetworkLevel::flow, seed).jobs[0];
        CHECK(job.results == std::uint64_t{200} * workers);
        CHECK(job.lost > 0);
        CHECK(job.retransmissions > 0);
        CHECK(job.time > 100_us);
      }
    }
  }
}

TEST_CASE("a lost packet costs its slot one timeout") {
  const std::uint32_t workers = 4;
  const std::int64_t packets = 20'000;
  const Cluster cluster = one_rack(workers);
  AggregatorSettings settings = pool(1);
  settings.loss = {1, 2'000};
  const AggregationJobResult job = run(cluster, {job_on(cluster, 0, workers, packets)}, settings).jobs[0];
  // A packet needs all of 2 n ways; what is lost again after a timeout is a twentieth of a percent of it.
  const double hit = 1 - std::pow(1 - 1.0 / 2'000, 2.0 * workers);
  const double expected = static_cast<double>(packets) * hit;
  const double timeouts = seconds(job.time - kRoundTrip * packets) / seconds(settings.timeout);
  CHECK(std::abs(timeouts - expected) < 4 * std::sqrt(expected));
  CHECK(timeouts <= static_cast<double>(job.lost));
}

TEST_CASE("what is lost depends on the seed and on the packet's ways, not on times") {
  const Cluster cluster = one_rack(1);
  AggregatorSettings settings = pool(4);
  settings.loss = {1, 20};
  const std::vector<AggregationJob> jobs = {job_on(cluster, 0, 1, 3'000)};
  const AggregationResult first = run(cluster, jobs, settings);
  const AggregationResult again = run(cluster, jobs, settings);
  CHECK(first.time == again.time);
  CHECK(first.events == again.events);
  settings.host_latency = 3_us;
  settings.timeout = 77_us;
  const AggregationResult slower = run(cluster, jobs, settings);
  CHECK(slower.jobs[0].lost == first.jobs[0].lost);
  CHECK(slower.jobs[0].retransmissions == first.jobs[0].retransmissions);
  CHECK(run(cluster, jobs, settings, NetworkLevel::flow, 2).jobs[0].lost != first.jobs[0].lost);
}

TEST_CASE("at packet level a vector takes as long as at flow level, with or without loss") {
  const Cluster cluster = racks_of_four(2);
  for (const std::int64_t percent : {0, 2}) {
    AggregatorSettings settings = pool(64);
    settings.loss = {percent, 100};
    settings.timeout = 200_us;
    const std::vector<AggregationJob> jobs = {job_on(cluster, 0, 8, 1'000)};
    const AggregationResult flow = run(cluster, jobs, settings);
    const AggregationResult packet = run(cluster, jobs, settings, NetworkLevel::packet);
    CHECK(packet.jobs[0].results == flow.jobs[0].results);
    // Acknowledgements of the transport take 64 bytes a packet on the way back.
    CHECK(seconds(packet.time) == doctest::Approx(seconds(flow.time)).epsilon(0.08));
  }
}

TEST_CASE("what cannot end is refused, or given up with a reason") {
  const Cluster cluster = one_rack(6);
  const std::vector<AggregationJob> jobs = {job_on(cluster, 0, 6, 2'000)};
  AggregatorSettings settings = pool(512);
  settings.loss = {1, 1};
  CHECK(refusal_of(cluster, jobs, settings) == "slots");
  settings.loss = {9, 10};
  CHECK(refusal_of(cluster, jobs, settings) == "given-up");
  settings.loss = {0, 1};
  settings.timeout = kRoundTrip;
  CHECK(refusal_of(cluster, jobs, settings) == "timeout-too-short");
  settings.timeout = kRoundTrip + 1_ps;  // below what 512 packets wait for each other
  CHECK(refusal_of(cluster, jobs, settings) == "given-up");
  settings.slots = 16;  // which do not wait
  CHECK(refusal_of(cluster, jobs, settings).empty());
}

TEST_CASE("settings and jobs that cannot be are refused by name") {
  const Cluster cluster = one_rack(6);
  const AggregationJob good = job_on(cluster, 0, 3, 10);
  CHECK(refusal_of(cluster, {}, pool(4)) == "slots");
  CHECK(refusal_of(cluster, {good}, pool(0)) == "slots");
  CHECK(refusal_of(cluster, {good, job_on(cluster, 3, 3, 1)}, pool(1)) == "slots");
  AggregationJob job = good;
  job.workers.clear();
  CHECK(refusal_of(cluster, {job}, pool(4)) == "slots");
  job = good;
  job.workers[1] = job.workers[0];
  CHECK(refusal_of(cluster, {job}, pool(4)) == "slots");
  job = good;
  job.bytes = 0_B;
  CHECK(refusal_of(cluster, {job}, pool(4)) == "slots");
  AggregatorSettings settings = pool(4);
  settings.payload = 0_B;
  CHECK(refusal_of(cluster, {good}, settings) == "slots");
  settings = pool(4);
  settings.most_tries = 0;
  CHECK(refusal_of(cluster, {good}, settings) == "slots");
  settings = pool(4);
  settings.port_rate = Bandwidth{0};
  CHECK(refusal_of(cluster, {good}, settings) == "slots");
}
