#include <queue>
#include <random>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "sim/simulator.hpp"

using namespace athanor;
using namespace athanor::literals;

TEST_CASE("events come out in the order of time, then of their sequence, whatever the order in which they went in") {
  std::mt19937_64 random(7);
  EventQueue queue;
  const auto later = [](const Event& a, const Event& b) { return b.before(a); };
  std::priority_queue<Event, std::vector<Event>, decltype(later)> reference(later);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    if (reference.empty() || random() % 3 != 0) {
      const Event event{Time{static_cast<std::int64_t>(random() % 100)}, i, i};
      queue.push(event);
      reference.push(event);
    } else {
      CHECK(queue.top().what == reference.top().what);
      queue.pop();
      reference.pop();
    }
  }
  CHECK(queue.size() == reference.size());
}

namespace {
struct Recorder : Actor {
  Simulator* simulator = nullptr;
  ActorId id;
  std::vector<std::uint64_t> seen;
  int settled = 0;
  void on_event(std::uint64_t what) override {
    seen.push_back(what);
    simulator->at_end_of_instant(id);
  }
  void on_end_of_instant() override {
    ++settled;
    if (settled == 1) { simulator->at(simulator->now(), id, 99); }
  }
};
}  // namespace

TEST_CASE("an instant settles after its last event, and again when settling causes more") {
  Simulator simulator;
  Recorder recorder;
  recorder.simulator = &simulator;
  recorder.id = simulator.add(recorder);
  simulator.at(5_ns, recorder.id, 1);
  simulator.at(5_ns, recorder.id, 2);
  simulator.at(3_ns, recorder.id, 0);
  simulator.run();
  CHECK(recorder.seen == std::vector<std::uint64_t>{0, 99, 1, 2});
  CHECK(recorder.settled == 3);
  CHECK(simulator.now() == 5_ns);
}

namespace {
/// Asks for a stop at the first event.
struct Stopper : Actor {
  std::stop_source source;
  std::vector<std::uint64_t> seen;
  void on_event(std::uint64_t what) override {
    seen.push_back(what);
    source.request_stop();
  }
};
}  // namespace

TEST_CASE("a stop lets the instant end in which it is asked for, and no other begin") {
  Stopper stopper;
  Simulator simulator(stopper.source.get_token());
  const ActorId id = simulator.add(stopper);
  simulator.at(3_ns, id, 0);
  simulator.at(3_ns, id, 1);
  simulator.at(3_ns + Time{1}, id, 2);
  CHECK_THROWS_AS(simulator.run(), Interrupted);
  CHECK(stopper.seen == std::vector<std::uint64_t>{0, 1});
  CHECK(simulator.now() == 3_ns);
}

TEST_CASE("a stop after the last event changes nothing") {
  Stopper stopper;
  Simulator simulator(stopper.source.get_token());
  simulator.at(3_ns, simulator.add(stopper), 0);
  simulator.run();
  CHECK(stopper.seen.size() == 1);
}

TEST_CASE("delaying moves every pending event by the same span and keeps their order") {
  EventQueue queue;
  for (std::uint64_t i = 0; i < 50; ++i) { queue.push({Time{static_cast<std::int64_t>(i * 7 % 10)}, i, i}); }
  queue.delay(1_us);
  std::vector<Event> events;
  for (; !queue.empty(); queue.pop()) { events.push_back(queue.top()); }
  REQUIRE(events.size() == 50);
  for (std::size_t i = 0; i < events.size(); ++i) {
    CHECK(events[i].when == 1_us + Time{static_cast<std::int64_t>(events[i].what * 7 % 10)});
    if (i > 0) { CHECK(events[i - 1].before(events[i])); }
  }
}
