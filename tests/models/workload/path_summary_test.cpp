#include <numeric>

#include <doctest/doctest.h>

#include "models/workload/workload_result.hpp"
#include "tests/models/workload/small_workload.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

constexpr auto kPipelineUse = static_cast<std::size_t>(Parallelism::pipeline);
constexpr auto kDataUse = static_cast<std::size_t>(Parallelism::data);

/// Every part of the path belongs to something, and none is missing between two.
void check_adds_up(const WorkloadResult& result, const PathSummary& path) {
  Time end;
  for (const CriticalPart& part : result.critical) {
    CHECK(part.begin == end);
    end = part.end;
  }
  CHECK(end == result.time);
  Time all = std::accumulate(path.computing.begin(), path.computing.end(), path.slowed) + path.idle;
  for (const TransferTime& each : path.transfers) { all += each.total(); }
  CHECK(all == result.time);
  CHECK(std::accumulate(path.workers.begin(), path.workers.end(), Time::zero()) == result.time);
}

/// Two stages and two micro-batches, forward only: 3 us on the first stage, 4 us on the second, 1 us between.
void two_stages(SmallWorkload& small) {
  const auto first = small.worker();
  const auto second = small.worker();
  const auto between = small.channel(first, second);
  for (int batch = 0; batch < 2; ++batch) {
    const auto made = small.compute(first, 3_us);
    small.send(first, between, 1000_B, {made});
    const auto came = small.receive(second, between, 1000_B);
    small.compute(second, 4_us, {came});
  }
}

}  // namespace

// 3 on the first stage, 1 between, 4 + 4 on the second: the second micro-batch came at 7 and waited until 8.
TEST_CASE("the critical path of two stages is what was worked out by hand") {
  SmallWorkload small;
  two_stages(small);
  const WorkloadResult result = small.run();
  CHECK(result.time == 12_us);
  const PathSummary path = summary_of_path(result);
  check_adds_up(result, path);
  CHECK(path.workers == std::vector<Time>{3_us, 9_us});
  CHECK(path.computing[0] == 11_us);
  CHECK(path.transfers[kPipelineUse].total() == 1_us);
  CHECK(path.transfers[kPipelineUse].latency == 1_us);  // it uses no link
  CHECK(path.idle == 0_us);
  REQUIRE(path.stretches.size() == 2);
  CHECK(path.stretches[0].end == 3_us);
  CHECK(path.stretches[1].computing == 8_us);
  CHECK(path.stretches[1].communicating == 1_us);
}

TEST_CASE("half of what is computed saves half of what the path computes") {
  SmallWorkload small;
  two_stages(small);
  CHECK(small.run(WorkloadOptions{.computing = 0.5}).time == 12_us - 11_us / 2);
  CHECK(small.run(WorkloadOptions{.free_communication = true}).time == 11_us);
}

// Alone 4 and 2 us; on one link the longer one ends at 6 us.
TEST_CASE("what transfers take more than alone is told as sharing, the rest as bandwidth of a link that is full") {
  SmallWorkload small;
  for (const Bytes size : {4000_B, 2000_B}) {
    const auto worker = small.worker();
    small.call(worker, small.communicator({worker}), size);
  }
  const WorkloadResult result = small.run(WorkloadOptions{}, true);
  const PathSummary path = summary_of_path(result);
  check_adds_up(result, path);
  CHECK(path.transfers[kDataUse].transfer == 4_us);
  CHECK(path.transfers[kDataUse].sharing == 2_us);
  CHECK(path.transfers[kDataUse].latency == 0_us);
  REQUIRE(path.calls.size() == 1);
  CHECK(path.calls[0].time.transfers == 1);
}

TEST_CASE("computing that communication slows down is told apart") {
  SmallWorkload small;
  const auto worker = small.worker();
  small.call(worker, small.communicator({worker}), 100'000_B);
  small.compute(worker, 110_us);
  const WorkloadResult result = small.run(WorkloadOptions{.interference = 0.1});  // the call ends at 100 us
  const PathSummary path = summary_of_path(result);
  check_adds_up(result, path);
  CHECK(path.computing[0] == 110_us);
  CHECK(microseconds(path.slowed) == doctest::Approx(100.0 - 100.0 / 1.1));
}
