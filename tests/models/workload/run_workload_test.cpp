#include "models/workload/run_workload.hpp"

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/models/workload/small_workload.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

constexpr auto kData = static_cast<std::size_t>(Parallelism::data);
constexpr auto kPipeline = static_cast<std::size_t>(Parallelism::pipeline);

/// computing + exposed + waiting = the time of all, for every worker.
void check_sums(const WorkloadResult& result) {
  for (const WorkerTime& worker : result.workers) {
    Time sum = worker.computing + worker.waiting;
    for (const Time exposed : worker.exposed) { sum += exposed; }
    CHECK(sum == result.time);
  }
}

std::string error_of(SmallWorkload& small) {
  try {
    small.run();
  } catch (const SimulationError& error) { return error.code() + ": " + error.what(); }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("computations of one stream follow each other") {
  SmallWorkload small;
  const auto worker = small.worker();
  for (const Time time : {1_us, 2_us, 3_us}) { small.compute(worker, time); }
  const WorkloadResult result = small.run();
  CHECK(result.time == 6_us);
  CHECK(result.workers[0].computing == 6_us);
  check_sums(result);
}

TEST_CASE("a call waits for its last worker, and whoever came first is told so") {
  SmallWorkload small;
  const auto first = small.worker();
  const auto second = small.worker();
  const auto both = small.communicator({first, second});
  for (const auto& [worker, time] : {std::pair{first, 1_us}, std::pair{second, 5_us}}) {
    const auto before = small.compute(worker, time);
    const auto call = small.call(worker, both, 3000_B, {before});
    small.compute(worker, 1_us, {call});
  }
  const WorkloadResult result = small.run();
  CHECK(result.time == 9_us);  // 5 + 3 + 1
  CHECK(result.workers[0].waiting == 4_us);
  CHECK(result.workers[0].exposed[kData] == 3_us);
  CHECK(result.workers[1].waiting == 0_us);
  CHECK(result.workers[1].exposed[kData] == 3_us);
  check_sums(result);
  REQUIRE(result.critical.size() == 3);
  CHECK(result.critical[0].worker == second);
  CHECK(result.critical[0].end == 5_us);
  CHECK(result.critical[1].kind == CriticalPart::Kind::transfer);
}

// Two layers, forward 1 and 2 us, backward 2 and 4 us from the last to the first; gradients of 3 and 5 us. The first
// reduction begins when the last layer's backward has ended at 3 + 4, the second at 9 when the first layer's has, and
// waits for the first until 10: it ends at 15, so that 6 us are exposed.
TEST_CASE("exposed reductions of a two-layer model with overlapping buckets are those worked out by hand") {
  SmallWorkload small;
  const auto worker = small.worker();
  const auto group = small.communicator({worker});
  small.compute(worker, 1_us);
  small.compute(worker, 2_us);
  const auto last = small.compute(worker, 4_us);
  const auto reduced = small.call(worker, group, 3000_B, {last});
  const auto first = small.compute(worker, 2_us);
  const auto all = small.call(worker, group, 5000_B, {first});
  small.compute(worker, 1_us, {reduced, all});
  const WorkloadResult result = small.run();
  CHECK(result.time == 16_us);
  CHECK(result.workers[0].exposed[kData] == 6_us);
  CHECK(result.workers[0].communicating[kData] == 8_us);
  CHECK(result.workers[0].waiting == 0_us);
  check_sums(result);
}

TEST_CASE("calls that need the same link go at half the speed while both run") {
  SmallWorkload small;
  for (const Bytes size : {4000_B, 2000_B}) {
    const auto worker = small.worker();
    const auto group = small.communicator({worker});
    small.call(worker, group, size);
  }
  const WorkloadResult shared = small.run(true);
  CHECK(shared.time == 6_us);  // the shorter one ends at 4 us, the other has 2 us left
  CHECK(shared.workers[1].exposed[kData] == 4_us);
  CHECK(shared.workers[1].waiting == 2_us);
  CHECK(small.run(false).time == 4_us);
}

TEST_CASE("a receiver waits for the message, a sender for its receiver unless the message is eager") {
  for (const bool eager : {false, true}) {
    SmallWorkload small;
    const auto from = small.worker();
    const auto to = small.worker();
    const auto channel = small.channel(from, to, eager);
    const auto sent = small.send(from, channel, 2000_B);
    small.compute(from, 1_us, {sent});
    const auto before = small.compute(to, 5_us);
    const auto received = small.receive(to, channel, 2000_B, {before});
    small.compute(to, 1_us, {received});
    const WorkloadResult result = small.run();
    CHECK(result.time == (eager ? 6_us : 8_us));
    CHECK(result.workers[0].exposed[kPipeline] == 2_us);
    CHECK(result.workers[0].waiting == (eager ? 3_us : 5_us));
    check_sums(result);
  }
}

TEST_CASE("eager messages reach their receivers in the order of sending") {
  SmallWorkload small;
  const auto from = small.worker();
  const auto to = small.worker();
  const auto channel = small.channel(from, to, true);
  small.workload().workers[from].streams.push_back({"second"});
  small.send(from, channel, 5000_B);
  const auto second = small.send(from, channel, 1000_B);
  small.workload().workers[from].operations[second].stream = 2;
  const auto first = small.receive(to, channel, 5000_B);
  small.compute(to, 1_us, {first});
  small.receive(to, channel, 1000_B);
  CHECK(small.run().time == 6_us);
}

TEST_CASE("an unordered stream does what is ready, an ordered one what comes next") {
  for (const bool ordered : {false, true}) {
    SmallWorkload small;
    const auto worker = small.worker();
    small.workload().workers[worker].streams[0].ordered = ordered;
    const auto group = small.communicator({worker});
    const auto call = small.call(worker, group, 3000_B);
    small.compute(worker, 1_us, {call});
    small.compute(worker, 2_us);
    CHECK(small.run().time == (ordered ? 6_us : 4_us));
  }
}

TEST_CASE("a workload that is asked to stop has no result") {
  SmallWorkload small;
  small.compute(small.worker(), 1_us);
  std::stop_source source;
  CHECK(small.run({.stop = source.get_token()}).time == 1_us);
  source.request_stop();
  CHECK_THROWS_AS(small.run({.stop = source.get_token()}), Interrupted);
}

TEST_CASE("computing takes longer while the worker communicates") {
  SmallWorkload small;
  const auto worker = small.worker();
  const auto group = small.communicator({worker});
  small.compute(worker, 10_us);
  small.call(worker, group, 4000_B);
  CHECK(small.run(false, 0.25).time == 10'800_ns);  // 4 us at 0.8 of the speed
}

TEST_CASE("workers that wait for each other are named") {
  SmallWorkload small;
  const auto first = small.worker();
  const auto second = small.worker();
  const auto forth = small.channel(first, second);
  const auto back = small.channel(second, first);
  small.receive(first, back, 8_B);
  small.send(first, forth, 8_B);
  small.receive(second, forth, 8_B);
  small.send(second, back, 8_B);
  const std::string text = error_of(small);
  CHECK(has(text, "deadlock: 2 of 2 workers cannot end"));
  CHECK(has(text, "worker 0: operation 0 (work) waits in receive of 8 B for worker 1"));
  CHECK(has(text, "worker 1: operation 0 (work) waits in receive of 8 B for worker 0"));
}

TEST_CASE("who never calls is named by those who wait") {
  SmallWorkload small;
  for (int i = 0; i < 3; ++i) { small.worker(); }
  const auto all = small.communicator({0, 1, 2});
  small.call(0, all, 8_B);
  small.call(2, all, 8_B);
  small.compute(1, 1_us);
  CHECK(has(error_of(small), "worker 0: operation 0 (work) waits in all_reduce over communicator 0 for worker 1"));
}

TEST_CASE("operations that wait for each other are named in their order") {
  SmallWorkload small;
  const auto worker = small.worker();
  small.compute(worker, 1_us);
  small.compute(worker, 1_us, {2});
  const auto call = small.call(worker, small.communicator({worker}), 8_B, {1});
  CHECK(call == 2);
  CHECK(has(error_of(small), "operations wait for each other: operation 1 (work) -> operation 2 (work)"));
}

TEST_CASE("workers that call different things at the same turn are refused") {
  SmallWorkload small;
  small.worker();
  small.worker();
  const auto both = small.communicator({0, 1});
  small.call(0, both, 8_B);
  small.call(1, both, 16_B);
  CHECK(has(error_of(small), "mismatch: communicator 0: worker 0 calls all_reduce of 8 B"));
}

TEST_CASE("the two ends of a message agree on its size") {
  SmallWorkload small;
  small.worker();
  small.worker();
  const auto channel = small.channel(0, 1);
  small.send(0, channel, 8_B);
  small.receive(1, channel, 16_B);
  CHECK(has(error_of(small), "mismatch: channel 0: worker 0 sends 8 B, and worker 1 receives 16 B"));
}
