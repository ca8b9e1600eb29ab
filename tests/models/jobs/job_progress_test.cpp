#include "models/jobs/job_progress.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace athanor;

namespace {

/// The same microsecond by microsecond, at whole multiples of full speed.
struct NaiveProgress {
  std::int64_t interval, write, persist;
  std::int64_t position = 0;
  std::int64_t work = 0;
  std::int64_t time = 0;
  std::int64_t saved = 0;
  std::int64_t saved_before = 0;
  std::int64_t writing = 0;

  void step(std::int64_t speed) {
    if (position < interval) {
      work += speed;
      ++time;
    } else {
      ++writing;
    }
    if (++position < interval + write) { return; }
    saved_before = saved;
    saved = work;
    position = 0;
  }
  std::int64_t kept() const { return position >= persist ? saved : saved_before; }
};

/// The same with checkpoints in memory.
struct NaiveMemory {
  struct Taken {
    std::int64_t work;
    std::int64_t at;
  };
  std::int64_t interval, write, every, stop, arrive;
  std::int64_t position = 0;
  std::int64_t worked = 0;
  std::int64_t stopping = 0;
  std::int64_t work = 0;
  std::int64_t writing = 0;
  std::int64_t kept = 0;
  std::vector<Taken> taken = {{0, 0}};

  void step(std::int64_t speed) {
    if (stopping > 0) {
      --stopping;
      ++writing;
    } else if (worked < interval) {
      work += speed;
      ++worked;
      if (worked % every == 0 && worked < interval) { stopping = stop; }
    } else {
      ++writing;
    }
    ++position;
    if (position % (every + stop) == 0 && worked < interval) { taken.push_back({work, position}); }
    look();
    if (worked < interval || stopping > 0 || position < cycle()) { return; }
    position = worked = 0;
    taken = {{work, 0}};
    look();
  }
  void look() {
    for (const Taken& each : taken) {
      if (position - each.at >= arrive) { kept = each.work; }
    }
  }
  std::int64_t cycle() const { return interval + stop * ((interval - 1) / every) + write; }
};

}  // namespace

TEST_CASE("work, checkpoints and what is kept of it are as if each microsecond were looked at") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::int64_t interval = 1 + static_cast<std::int64_t>(random() % 30);
    const std::int64_t write = static_cast<std::int64_t>(random() % 6);
    const std::int64_t persist = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(interval + 1));
    NaiveProgress naive{interval, write, persist};
    JobProgress progress;
    progress.begin(WallTime{0}, WallTime{0}, WallTime{interval}, WallTime{write}, WallTime{persist});
    std::int64_t now = 0;
    for (int change = 0; change < 6; ++change) {
      const auto speed = static_cast<std::int64_t>(random() % 4);
      progress.set_speed(Speed::of(static_cast<double>(speed)));
      const std::int64_t goal = naive.work + 1 + static_cast<std::int64_t>(random() % 200);
      const WallTime due = progress.when(WallTime{goal});
      const std::int64_t until = now + static_cast<std::int64_t>(random() % 150);
      NaiveProgress ahead = naive;
      for (std::int64_t at = now; at < until; ++at) {
        naive.step(speed);
        ahead.step(speed);
        // Due is the first microsecond at whose end the work is done.
        CHECK((ahead.work >= goal) == (WallTime{at + 1} >= due));
      }
      now = until;
      progress.advance(WallTime{now});
      CHECK(progress.work() == WallTime{naive.work});
      CHECK(progress.done().time == WallTime{naive.time});
      CHECK(progress.kept().work == WallTime{naive.kept()});
      CHECK(progress.writing() == WallTime{naive.writing});
    }
  }
}

TEST_CASE(
    "checkpoints in memory are taken between those that are written, and arrive, as if each microsecond were looked "
    "at") {
  std::mt19937_64 random(2);
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from + 1));
  };
  for (int round = 0; round < 300; ++round) {
    const std::int64_t every = draw(1, 8);
    NaiveMemory naive{draw(every, 40), draw(0, 5), every, draw(0, 2), draw(0, every)};
    JobProgress progress;
    progress.begin(WallTime{0}, WallTime{0}, WallTime{naive.interval}, WallTime{naive.write}, WallTime{0},
                   {WallTime{every}, WallTime{naive.stop}, WallTime{naive.arrive}});
    std::int64_t now = 0;
    for (int change = 0; change < 8; ++change) {
      const std::int64_t speed = draw(0, 3);
      progress.set_speed(Speed::of(static_cast<double>(speed)));
      const std::int64_t goal = naive.work + draw(1, 200);
      const WallTime due = progress.when(WallTime{goal});
      const std::int64_t until = now + draw(0, 150);
      for (; now < until; ++now) {
        naive.step(speed);
        CHECK((naive.work >= goal) == (WallTime{now + 1} >= due));
      }
      progress.advance(WallTime{now});
      CHECK(progress.work() == WallTime{naive.work});
      CHECK(progress.writing() == WallTime{naive.writing});
      JobProgress fallen = progress;
      fallen.fall_back_to_memory();
      const std::int64_t kept = std::max(naive.kept, progress.kept().work.count());
      CHECK(fallen.work() == WallTime{kept});
      // It goes on from there, and has all of that if it falls back at once.
      fallen.resume(WallTime{now}, WallTime{5});
      fallen.fall_back_to_memory();
      CHECK(fallen.work() == WallTime{kept});
      fallen.fall_back();
      CHECK(fallen.work() == progress.kept().work);
    }
  }
}

TEST_CASE("a job that falls back goes on from its last checkpoint, one whose nodes are taken from where it was") {
  JobProgress progress;
  progress.begin(WallTime{0}, WallTime{0}, WallTime{100}, WallTime{10}, WallTime{0});
  progress.advance(WallTime{250});
  CHECK(progress.work() == WallTime{230});
  JobProgress orderly = progress;
  progress.fall_back();
  CHECK(progress.work() == WallTime{200});
  orderly.keep();
  orderly.begin(WallTime{1000}, WallTime{50}, WallTime{100}, WallTime{10}, WallTime{0});
  CHECK(orderly.when(WallTime{231}) == WallTime{1051});
  orderly.advance(WallTime{1040});
  CHECK(orderly.work() == WallTime{230});
  CHECK(orderly.when(WallTime{331}) == WallTime{1050 + 100 + 10 + 1});
}

TEST_CASE("a checkpoint that is written at half the speed takes twice as long, and what was written counts") {
  JobProgress progress;
  progress.begin(WallTime{0}, WallTime{0}, WallTime{100}, WallTime{10}, WallTime{0});
  CHECK(progress.next_phase() == WallTime{100});
  progress.advance(WallTime{104});
  CHECK(progress.is_writing());
  CHECK(progress.next_phase() == WallTime{110});
  progress.set_write_speed(Speed::of(0.5));
  CHECK(progress.next_phase() == WallTime{116});
  CHECK(progress.when(WallTime{150}) == WallTime{166});
  CHECK(progress.when(WallTime{250}) == WallTime{116 + 100 + 20 + 50});
  progress.advance(WallTime{110});
  progress.set_write_speed({});
  CHECK(progress.next_phase() == WallTime{113});
  progress.advance(WallTime{133});
  CHECK(progress.work() == WallTime{120});
  CHECK(progress.writing() == WallTime{13});
  CHECK(progress.kept().work == WallTime{100});
}
