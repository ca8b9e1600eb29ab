#include "models/workload/side_by_side.hpp"

#include <doctest/doctest.h>

#include "models/workload/link_order.hpp"
#include "models/workload/workload_runner.hpp"
#include "sim/random.hpp"
#include "tests/models/workload/small_workload.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

/// Steps of small workloads whose calls meet on one link.
class Trainings {
 public:
  /// Computes, and then calls for as long as so many bytes take.
  void add(Time compute, Bytes size, Time begins, std::uint32_t priority = 0) {
    SmallWorkload& small = *all_.emplace_back(std::make_unique<SmallWorkload>());
    const auto worker = small.worker();
    const auto alone = small.communicator({worker});
    small.call(worker, alone, size, {small.compute(worker, compute)});
    const WorkloadEstimates& estimates = small.estimates(true);
    const WorkloadOptions options;
    WorkloadRunner runner(small.workload(), estimates, options);
    runner.run();
    contracted_.push_back(std::make_unique<ContestedStep>(
        contested_step(small.workload(), estimates, runner.records(), std::vector<bool>(1, true))));
    most_.push_back(std::make_unique<std::vector<std::uint32_t>>(most_at_once(small.workload(), estimates)));
    steps_.push_back({contracted_.back().get(), &estimates, most_.back().get(), priority});
    begins_.push_back(begins);
  }

  std::vector<Time> periods(std::uint32_t repetitions = 5) {
    return StepsSideBySide(steps_).periods(begins_, repetitions, {});
  }

  StepsSideBySide::Story story(std::uint32_t repetitions) {
    return StepsSideBySide(steps_).story(begins_, repetitions, {});
  }
  RepeatedStep& step(std::size_t number) { return steps_[number]; }

  /// Beside streams that take these shares of the link.
  StepsSideBySide::Outcome beside(const std::vector<double>& streams) {
    std::vector<std::vector<LinkShare>> shares;
    for (const double share : streams) { shares.push_back({{0, share}}); }
    return StepsSideBySide(steps_, shares).run(begins_, 5, {});
  }

 private:
  std::vector<std::unique_ptr<SmallWorkload>> all_;
  std::vector<std::unique_ptr<ContestedStep>> contracted_;
  std::vector<std::unique_ptr<std::vector<std::uint32_t>>> most_;
  std::vector<RepeatedStep> steps_;
  std::vector<Time> begins_;
};

/// Several workers that compute, call each other and pass messages on, at random.
SmallWorkload random_workload(RandomStream& random) {
  SmallWorkload small;
  const std::uint32_t workers = 2 + static_cast<std::uint32_t>(random.below(3));
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < workers; ++i) { all.push_back(small.worker()); }
  const auto everybody = small.communicator(all);
  const auto forward = small.channel(0, 1, random.below(2) == 0);
  std::vector<std::vector<std::uint32_t>> done(workers);
  const auto after = [&](std::uint32_t worker) {
    std::vector<std::uint32_t> some;
    for (const std::uint32_t each : done[worker]) {
      if (random.below(4) == 0) { some.push_back(each); }
    }
    return some;
  };
  for (int round = 0; round < 12; ++round) {
    const Bytes size{static_cast<std::int64_t>(100 + random.below(3000))};
    switch (random.below(3)) {
      case 0:
        for (const std::uint32_t worker : all) {
          done[worker].push_back(small.call(worker, everybody, size, after(worker)));
        }
        break;
      case 1:
        done[0].push_back(small.send(0, forward, size, after(0)));
        done[1].push_back(small.receive(1, forward, size, after(1)));
        break;
      default: break;
    }
    for (const std::uint32_t worker : all) {
      done[worker].push_back(
          small.compute(worker, Time{static_cast<std::int64_t>(random.below(4'000'000))}, after(worker)));
    }
  }
  return small;
}

}  // namespace

TEST_CASE("steps alone take what they take alone, again and again") {
  Trainings trainings;
  trainings.add(5_us, 3000_B, Time::zero());
  CHECK(trainings.periods() == std::vector<Time>{8_us});
}

TEST_CASE("two equal trainings that begin apart keep their distance, and meet for what is left of their calls") {
  // Each computes c and calls for m, the second begins d later: for d < m the first call has the link alone for d, then
  // both have halves of it, and the second what is left: c + 2 m - d.
  for (const std::int64_t microseconds : {0, 1, 2, 3, 4}) {
    Trainings trainings;
    trainings.add(10_us, 4000_B, Time::zero());
    trainings.add(10_us, 4000_B, 1_us * microseconds);
    const Time expected = 18_us - 1_us * microseconds;
    CHECK(trainings.periods() == std::vector<Time>{expected, expected});
  }
}

TEST_CASE("who has priority does not notice others, and these find the time in between") {
  Trainings trainings;
  trainings.add(10_us, 4000_B, Time::zero(), 1);
  trainings.add(10_us, 4000_B, 1_us);
  CHECK(trainings.periods() == std::vector<Time>{14_us, 14_us});
}

TEST_CASE("a step and a stream on one link have halves of it while it calls, and what the other one leaves") {
  // It computes c and calls for m, the stream takes u of the link: the call goes at v = max(1 - u, 1 / 2), so that a
  // step takes c + m / v, in which the stream has u for c and min(u, 1 / 2) for m / v.
  const double c = 10e-6;
  const double m = 4e-6;
  for (const double u : {0.1, 0.25, 0.5, 0.8, 1.0}) {
    CAPTURE(u);
    Trainings trainings;
    trainings.add(10_us, 4000_B, Time::zero());
    const StepsSideBySide::Outcome outcome = trainings.beside({u});
    const double calls = m / std::max(1 - u, 0.5);
    CHECK(seconds(outcome.periods[0]) == doctest::Approx(c + calls));
    CHECK(outcome.streams[0] == doctest::Approx((c + std::min(1.0, 0.5 / u) * calls) / (c + calls)));
  }
}

TEST_CASE("of several streams each is a flow as a call is, and what the link carries is what was sent") {
  Trainings trainings;
  trainings.add(10_us, 4000_B, Time::zero());
  const StepsSideBySide::Outcome outcome = trainings.beside({0.75, 0.25});
  // The narrow one has all it wants, the call and the other one halves of the rest: 3 / 8 each.
  const double calls = 4e-6 / 0.375;
  CHECK(seconds(outcome.periods[0]) == doctest::Approx(10e-6 + calls));
  CHECK(outcome.streams[0] == doctest::Approx((10e-6 + 0.5 * calls) / (10e-6 + calls)));
  CHECK(outcome.streams[1] == doctest::Approx(1));
}

TEST_CASE("streams have what steps with a priority leave") {
  Trainings trainings;
  trainings.add(10_us, 4000_B, Time::zero(), 1);
  const StepsSideBySide::Outcome outcome = trainings.beside({1});
  CHECK(outcome.periods[0] == 14_us);
  CHECK(outcome.streams[0] == doctest::Approx(10.0 / 14));
}

TEST_CASE("a stream beside two trainings has what is left of a link of which both want more than there is") {
  Trainings trainings;
  for (int i = 0; i < 2; ++i) { trainings.add(1_us, 4000_B, Time{i * 700'000}); }
  const StepsSideBySide::Outcome outcome = trainings.beside({1});
  // Each step sends 4 us of the link, the stream the rest of a link that is never idle.
  const double sent = 4e-6 / seconds(outcome.periods[0]) + 4e-6 / seconds(outcome.periods[1]);
  CHECK(outcome.streams[0] == doctest::Approx(1 - sent).epsilon(0.02));
}

TEST_CASE("a link that trainings want more of than there is is shared out in full") {
  Trainings trainings;
  for (int i = 0; i < 3; ++i) { trainings.add(1_us, 4000_B, Time{i * 700'000}); }
  for (const Time period : trainings.periods(20)) { CHECK(seconds(period) == doctest::Approx(12e-6).epsilon(0.02)); }
}

TEST_CASE("what is left of a workload takes as long as all of it, whichever transfers others may meet") {
  RandomStream random(1, "contested steps");
  for (int trial = 0; trial < 100; ++trial) {
    SmallWorkload small = random_workload(random);
    const WorkloadEstimates& estimates = small.estimates(false);
    const WorkloadOptions options;
    WorkloadRunner runner(small.workload(), estimates, options);
    runner.run();
    std::vector<bool> contested;
    for (std::size_t i = 0; i < estimates.estimates.size(); ++i) { contested.push_back(random.below(2) == 0); }
    const ContestedStep step = contested_step(small.workload(), estimates, runner.records(), contested);
    const std::vector<std::uint32_t> most = most_at_once(small.workload(), estimates);
    const RepeatedStep repeated{&step, &estimates, &most, 0};
    const Time begins;
    CHECK(StepsSideBySide({&repeated, 1}).periods({&begins, 1}, 2, {}).front() ==
          run_workload(small.workload(), estimates, options).time);
  }
}

TEST_CASE("workloads belong together where links may be short for them, also by way of others") {
  const std::vector<LinkDemand> a{{1, 0.6}, {2, 0.4}};
  const std::vector<LinkDemand> b{{2, 0.7}, {3, 0.6}};
  const std::vector<LinkDemand> c{{3, 0.6}};
  const std::vector<LinkDemand> d{{1, 0.3}, {4, 1.0}};
  const std::vector<const std::vector<LinkDemand>*> all{&a, &d, &b, &c};
  const LinkGroups groups = groups_by_links(all);
  CHECK(groups.of == std::vector<std::uint32_t>{0, 1, 0, 0});
  CHECK(groups.links == std::vector<std::uint32_t>{2, 3});
}

namespace {

/// What each repetition took.
std::vector<Time> times_of(const StepStory& story, Time begin = {}) {
  std::vector<Time> times;
  for (const Time end : story.ends) {
    times.push_back(end - begin);
    begin = end;
  }
  return times;
}

}  // namespace

TEST_CASE("equal steps in phase share the link for ever, and those that begin a call later never meet") {
  // c + 2 m in phase; c + m shifted by m, as long as c >= m.
  Trainings together;
  together.add(10_us, 4000_B, Time::zero());
  together.add(10_us, 4000_B, Time::zero());
  for (const StepStory& each : together.story(6).steps) {
    CHECK(times_of(each) == std::vector<Time>(6, 18_us));
    REQUIRE(each.sending.size() >= 6);
    CHECK(each.sending[0].begin == 10_us);
    CHECK(each.sending[0].end == 18_us);
  }
  Trainings apart;
  apart.add(10_us, 4000_B, Time::zero());
  apart.add(10_us, 4000_B, 4_us);
  const StepsSideBySide::Story story = apart.story(6);
  CHECK(times_of(story.steps[0]) == std::vector<Time>(6, 14_us));
  CHECK(times_of(story.steps[1], 4_us) == std::vector<Time>(6, 14_us));
}

TEST_CASE("steps of unequal length drift until they meet again in the phase in which they began") {
  // A computes 2 and sends 2, B computes 4 and sends 2. A sends in 2..4 and 6..8, B in 4..6; both are ready at 10, have
  // halves until 14, and begin together as they did at 0: A takes 4, 4, 6 and B 6, 8, again and again.
  Trainings trainings;
  trainings.add(2_us, 2000_B, Time::zero());
  trainings.add(4_us, 2000_B, Time::zero());
  const StepsSideBySide::Story story = trainings.story(6);
  std::vector<Time> of_a = times_of(story.steps[0]);
  of_a.resize(6);
  CHECK(of_a == std::vector<Time>{4_us, 4_us, 6_us, 4_us, 4_us, 6_us});
  CHECK(times_of(story.steps[1]) == std::vector<Time>{6_us, 8_us, 6_us, 8_us, 6_us, 8_us});
}

TEST_CASE("with priorities two equal jobs lock after one step, and the lower one waits no more") {
  // The lower one's first call waits for the higher one's: c + 2 m. From then on it is ready when the other has ended.
  Trainings trainings;
  trainings.add(10_us, 4000_B, Time::zero(), 1);
  trainings.add(10_us, 4000_B, Time::zero());
  const StepsSideBySide::Story story = trainings.story(5);
  CHECK(times_of(story.steps[0]) == std::vector<Time>(5, 14_us));
  CHECK(times_of(story.steps[1]) == std::vector<Time>{18_us, 14_us, 14_us, 14_us, 14_us});
}

TEST_CASE("a lower job that sends for longer than the higher one computes takes that many of its steps") {
  // In each step of c + m the higher one leaves the link for c: a call of m needs ceil(m / c) of these.
  for (const std::int64_t parts : {1, 2, 3, 5}) {
    Trainings trainings;
    trainings.add(2_us, Bytes{2000 * parts}, Time::zero(), 1);
    trainings.add(2_us, Bytes{2000 * parts}, Time::zero());
    const StepsSideBySide::Story story = trainings.story(4);
    const std::vector<Time> lower = times_of(story.steps[1]);
    const Time step = 2_us * (1 + parts);
    for (std::size_t i = 1; i < lower.size(); ++i) { CHECK(lower[i] == step * parts); }
  }
}

TEST_CASE("a step that ends leaves the links to others, and what waits behind each repetition is part of it") {
  Trainings trainings;
  trainings.add(10_us, 4000_B, Time::zero());
  trainings.add(10_us, 4000_B, Time::zero());
  trainings.step(0).repetitions = 2;
  const StepsSideBySide::Story story = trainings.story(4);
  CHECK(times_of(story.steps[0]) == std::vector<Time>{18_us, 18_us});
  CHECK(times_of(story.steps[1]) == std::vector<Time>{18_us, 18_us, 14_us, 14_us});
  Trainings waits;
  waits.add(10_us, 4000_B, Time::zero());
  waits.step(0).behind = 3_us;
  CHECK(times_of(waits.story(3).steps[0]) == std::vector<Time>(3, 17_us));
}

TEST_CASE("Crux's correction of the shorter of two jobs of one intensity is 1.5, as published") {
  // SIGCOMM 2024, section 4.2, example 1: both compute as long as they send, 2 s and 1 s. In 12 s the longer one sends
  // 6 or 4 s, the shorter one 3 or 6: it gains 3 where the other one gains 2.
  Trainings trainings;
  trainings.add(2_us, 2000_B, Time::zero());
  trainings.add(1_us, 1000_B, Time::zero());
  const std::vector<OrderedJob> jobs{{trainings.step(0), 1, 2, {0}, 2e-6}, {trainings.step(1), 1, 1, {0}, 1e-6}};
  const std::vector<double> corrections = crux_corrections(jobs, {});
  CHECK(corrections[0] == 1);
  CHECK(corrections[1] == doctest::Approx(1.5).epsilon(0.03));
  CHECK(crux_classes(jobs, 8, {}) == std::vector<std::uint32_t>{6, 7});
}
