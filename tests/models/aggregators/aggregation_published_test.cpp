#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/run.hpp"
#include "models/software/profile.hpp"
#include "tests/models/aggregators/aggregation_cases.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

Cluster rack_at(Bandwidth rate, std::uint32_t count) { return star(hosts(count), {rate, rate, 500_ns, Time::zero()}); }

/// Ring all-reduce of the vector, whose packets have no headers and whose hosts cost nothing.
Time ring(const Cluster& cluster, Bytes bytes) {
  const Profile ideal;
  const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
  const Collective collective{CollectiveKind::all_reduce, ranks, Elements{bytes.count() / 4}};
  return run_collective({.cluster = cluster,
                         .profile = ideal,
                         .collective = collective,
                         .algorithms = {&find(CollectiveKind::all_reduce, "ring")},
                         .overrides = {},
                         .options = {}})
      .simulated.time;
}

AggregationJob on_all(const Cluster& cluster, Bytes bytes) {
  AggregationJob job;
  job.workers = cluster.endpoints;
  job.bytes = bytes;
  return job;
}

}  // namespace

TEST_CASE("SwitchML beats the ring by its bytes, 2 (n - 1) / n, times the share of its headers") {
  for (const std::int64_t gigabits : {10, 100}) {
    for (const std::uint32_t workers : {8U, 16U}) {
      for (const std::int64_t payload : {128, 1024}) {
        const Cluster cluster = rack_at(Bandwidth{gigabits * 125'000'000}, workers);
        AggregatorSettings settings;  // 52 bytes of headers
        settings.payload = Bytes{payload};
        const Bytes bytes = 10'000'000_B;
        const double gain =
            seconds(ring(cluster, bytes)) / seconds(run(cluster, {on_all(cluster, bytes)}, settings).time);
        const double n = workers;
        const auto share = static_cast<double>(payload) / static_cast<double>(payload + 52);
        CAPTURE(gigabits);
        CAPTURE(workers);
        CAPTURE(payload);
        CAPTURE(gain);
        CHECK(gain == doctest::Approx(2 * (n - 1) / n * share).epsilon(0.025));  // latencies of 30 steps
        if (payload == 1024) { CHECK((gain > 1.5 && gain < 2)); }
      }
    }
  }
}

TEST_CASE("losses inflate SwitchML's time by its timeouts, and hardly at all at 0.01 %") {
  // 10 MB over 8 workers at 10 Gb/s, packets of 180 bytes, a timeout of 1 ms.
  const Cluster cluster = rack_at(10_Gbps, 8);
  const std::vector<AggregationJob> jobs = {on_all(cluster, 10'000'000_B)};
  for (const std::uint32_t slots : {128U, 512U}) {
    AggregatorSettings settings;
    settings.payload = 128_B;
    settings.slots = slots;
    const Time lossless = run(cluster, jobs, settings).time;
    CHECK(seconds(lossless) == doctest::Approx(10e6 * 180 / 128 / 1.25e9).epsilon(0.001));
    double before = 1;
    for (const std::int64_t per_ten_thousand : {1, 10, 100}) {
      settings.loss = {per_ten_thousand, 10'000};
      const double inflation = seconds(run(cluster, jobs, settings).time) / seconds(lossless);
      // The timeouts of a usual slot alone, as long as no slot does another one's work.
      const double hit = 1 - std::pow(1 - static_cast<double>(per_ten_thousand) * 1e-4, 16);
      const double timeouts = 10e6 / 128 / slots * hit * 1e-3 / seconds(lossless);
      CAPTURE(slots);
      CAPTURE(per_ten_thousand);
      CAPTURE(inflation);
      CAPTURE(timeouts);
      CHECK(inflation > std::max(before, timeouts));
      CHECK(inflation < 1.5 + 1.5 * timeouts);
      if (per_ten_thousand == 1) { CHECK(inflation < 1.25); }
      before = inflation;
    }
  }
}

TEST_CASE("jobs that take turns get from shared slots what a division of the same memory withholds") {
  // Two jobs of four workers, one after the other, on links of 100 Gb/s; a result takes 4.2 us, or 8.4 by the server.
  const Cluster cluster = star(hosts(10), {100_Gbps, 100_Gbps, 1_us, Time::zero()});
  std::vector<AggregationJob> jobs;
  for (const std::uint32_t first : {0U, 5U}) {
    jobs.push_back(job_on(cluster, first, 4, 1));
    jobs.back().bytes = 10'000'000_B;
    jobs.back().start = 5_ms * first;
  }
  for (const std::uint32_t memory : {64U, 72U, 128U, 1'024U}) {
    AggregatorSettings divided;
    divided.slots = memory / 2;  // SwitchML keeps two copies of each
    AggregatorSettings shared;
    shared.policy = AggregatorPolicy::best_effort;
    shared.slots = memory;
    shared.window = 128;
    const AggregationResult with_parts = run(cluster, jobs, divided);
    const AggregationResult with_all = run(cluster, jobs, shared);
    const double gain = seconds(with_parts.jobs[0].time) / seconds(with_all.jobs[0].time);
    CAPTURE(memory);
    CAPTURE(gain);
    CHECK(with_all.jobs[0].collisions + with_all.jobs[1].collisions == 0);
    CHECK(with_all.jobs[1].time == with_all.jobs[0].time);
    AggregatorSettings server = shared;
    server.slots = 0;
    CHECK(seconds(run(cluster, jobs, server).jobs[0].time) / seconds(with_all.jobs[0].time) ==
          doctest::Approx(4).epsilon(0.02));
    const double link = 12.5e9 / 1'076;  // packets a second
    const double part = static_cast<double>(memory / 4) / seconds(with_parts.jobs[0].lossless_round_trip);
    CHECK(gain == doctest::Approx(link / std::min(part, link)).epsilon(0.02));
  }
}
