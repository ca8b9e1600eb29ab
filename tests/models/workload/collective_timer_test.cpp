#include "models/workload/collective_timer.hpp"

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/software/profile.hpp"
#include "models/workload/transfers.hpp"
#include "tests/models/small_clusters.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

const Profile& ideal() {
  static const Profile profile;
  return profile;
}

PricingSettings settings(const Cluster& cluster) {
  return {.cluster = cluster, .profile = ideal(), .options = {}, .algorithms = [](CollectiveKind kind) {
            return std::vector<const Algorithm*>{&find(kind, kind == CollectiveKind::send_receive ? "direct" : "ring")};
          }};
}

Workload::Channel pairs(EndpointGroups groups) {
  return {"pairs", Parallelism::pipeline, 0, 1, std::make_shared<const EndpointGroups>(std::move(groups))};
}

Workload one_call(EndpointGroups groups, Bytes size) {
  Workload workload;
  workload.communicators.push_back(
      {"all", Parallelism::data, {0}, std::make_shared<const EndpointGroups>(std::move(groups))});
  workload.calls.push_back({.communicator = 0, .size = size});
  return workload;
}

const CallEstimate& estimate(CollectiveTimer& timer, const EndpointGroups& groups, Bytes size) {
  const Workload workload = one_call(groups, size);
  return timer.estimate(workload, workload.calls[0]);
}

}  // namespace

TEST_CASE("a ring among hosts of a star costs what the ring costs alone, and equal calls are simulated once") {
  const Cluster cluster = star(8, 10_GBps, 1_us);
  CollectiveTimer timer(settings(cluster));
  const CallEstimate& alone = estimate(timer, {{0, 1, 2, 3}}, 4'000'000_B);
  CHECK(alone.time == 612_us);  // 6 steps of 1 MB at 10 GB/s and two hops of 1 us
  CHECK(&estimate(timer, {{0, 1, 2, 3}}, 4'000'000_B) == &alone);
  CHECK(estimate(timer, {{0, 1, 2, 3}, {4, 5, 6, 7}}, 4'000'000_B).time == alone.time);
  CHECK(timer.simulated() == 3);  // with the least message between the ends, whose time is the latency
  CHECK(alone.latency == Time{2'000'400});
  CHECK(alone.shares->size() == 8);  // into and out of four hosts
  for (const LinkShare& part : *alone.shares) { CHECK(part.share == doctest::Approx(600.0 / 612)); }
}

TEST_CASE("a message takes its latency and its transfer, and pairs that do not meet take no longer") {
  const Cluster cluster = star(4, 10_GBps, 1_us);
  CollectiveTimer timer(settings(cluster));
  CHECK(timer.estimate(pairs({{0, 1}}), 1'000'000_B).time == 102_us);
  CHECK(timer.estimate(pairs({{0, 1}, {2, 3}}), 1'000'000_B).time == 102_us);
  CHECK(timer.estimate(pairs({{0, 1}}), 1'000'000_B).latency == 2_us);
}

// Hosts send and receive at the same time; two pairs with the same sender have its link in turn, and then the latency.
TEST_CASE(
    "pairs that pass a message on round a ring take no longer than one, and those of one sender twice its bytes") {
  const Cluster cluster = star(5, 10_GBps, 1_us);
  CollectiveTimer timer(settings(cluster));
  for (const EndpointGroups& ring :
       {EndpointGroups{{0, 1}, {1, 2}, {2, 3}, {3, 0}}, EndpointGroups{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}}) {
    const CallEstimate& estimate = timer.estimate(pairs(ring), 1'000'000_B);
    CHECK(estimate.time == 102_us);
    REQUIRE(estimate.shares->size() == 2 * ring.size());
    for (const LinkShare& part : *estimate.shares) { CHECK(part.share == doctest::Approx(100.0 / 102)); }
  }
  CHECK(timer.estimate(pairs({{0, 1}, {0, 2}}), 1'000'000_B).time == 202_us);
}

TEST_CASE("what a timer has forgotten it simulates again, to the same time") {
  const Cluster cluster = star(4, 10_GBps, 1_us);
  CollectiveTimer timer(settings(cluster));
  const Workload workload = one_call({{0, 1}, {2, 3}}, 1'000'000_B);
  const Time time = timer.estimate(workload, workload.calls[0]).time;
  CHECK(timer.time(workload, workload.calls[0]) == time);
  CHECK(timer.simulated() == 2);  // and the least message
  CHECK(timer.remembered() >= 4);
  timer.forget();
  CHECK(timer.remembered() == 0);
  CHECK(timer.time(workload, workload.calls[0]) == time);
  CHECK(timer.simulated() == 4);
}

TEST_CASE("of one rank alone nothing is moved") {
  const Cluster cluster = star(4, 10_GBps, 1_us);
  CollectiveTimer timer(settings(cluster));
  CHECK(estimate(timer, {{0}, {1}}, 1'000'000_B).time == Time::zero());
  CHECK(timer.simulated() == 0);
}

namespace {

/// Starts calls of some estimates at once, and remembers when each ended.
class Together : public Transfers::Listener {
 public:
  explicit Together(const std::vector<const CallEstimate*>& estimates) : ends_(estimates.size()) {
    std::vector<Transfers::Work> works;
    std::vector<std::vector<LinkShare>> shares;
    for (const CallEstimate* each : estimates) {
      works.push_back({each->transfer(), each->latency});
      shares.push_back(each->transfer_shares());
    }
    const std::vector<std::uint32_t> most(works.size(), 1);
    Transfers transfers(simulator_, works, CallShares(shares, most), *this);
    for (std::uint32_t i = 0; i < estimates.size(); ++i) { transfers.start(i); }
    simulator_.run();
  }
  void transferred(std::uint32_t number) override { ends_[number] = simulator_.now(); }
  const std::vector<Time>& ends() const { return ends_; }

 private:
  Simulator simulator_;
  std::vector<Time> ends_;
};

}  // namespace

// Two rings that both use the links of hosts 0 to 3: flow by flow each gets half of every link, so that both take twice
// as long but for their latencies. Calls lose all but one of these, between whose steps the other may use the links.
TEST_CASE("two rings that share all their links take as long as their schedules side by side do") {
  const Cluster cluster = star(4, 10_GBps, 1_us);
  CollectiveTimer timer(settings(cluster));
  const CallEstimate& one = estimate(timer, {{0, 1, 2, 3}}, 40'000'000_B);
  const Together together({&one, &estimate(timer, {{3, 2, 1, 0}}, 40'000'000_B)});
  const double flows = 2 * 6000.0 + 12;  // microseconds
  for (const Time end : together.ends()) { CHECK(microseconds(end) == doctest::Approx(flows).epsilon(0.002)); }
}

TEST_CASE("two messages from one host take its link in turn, and none ends before their bytes and a latency") {
  const Cluster cluster = star(3, 10_GBps, 1_us);
  CollectiveTimer timer(settings(cluster));
  const CallEstimate& first = timer.estimate(pairs({{0, 1}}), 20'000_B);
  const CallEstimate& second = timer.estimate(pairs({{0, 2}}), 20'000_B);
  CHECK(first.time == 4_us);
  const Together equal({&first, &second});
  CHECK(equal.ends() == std::vector<Time>{6_us, 6_us});
  const Together unequal({&first, &timer.estimate(pairs({{0, 2}}), 60'000_B)});
  CHECK(unequal.ends() == std::vector<Time>{6_us, 10_us});
}
