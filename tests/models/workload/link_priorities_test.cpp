#include "models/workload/link_priorities.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "sim/random.hpp"

using namespace athanor;

namespace {

LinkContention jobs_of(const std::vector<double>& intensities,
                       const std::vector<std::pair<std::uint32_t, std::uint32_t>>& meetings) {
  const std::size_t count = intensities.size();
  LinkContention jobs{intensities, intensities, std::vector<std::vector<bool>>(count, std::vector<bool>(count))};
  for (const auto& [a, b] : meetings) { jobs.meets[a][b] = jobs.meets[b][a] = true; }
  return jobs;
}

double loss(const LinkContention& jobs, const std::vector<std::uint32_t>& classes) {
  double sum = 0;
  for (std::size_t a = 0; a < classes.size(); ++a) {
    for (std::size_t b = 0; b < classes.size(); ++b) {
      if (jobs.priority[a] > jobs.priority[b] && jobs.meets[a][b] && classes[a] == classes[b]) {
        sum += jobs.intensity[a];
      }
    }
  }
  return sum;
}

/// Of all ways to give classes that keep the order of those that meet.
double least_loss(const LinkContention& jobs, std::uint32_t classes) {
  const std::size_t count = jobs.intensity.size();
  std::vector<std::uint32_t> own(count);
  double least = 1e300;
  for (;;) {
    bool valid = true;
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        valid = valid && !(jobs.meets[a][b] && jobs.priority[a] > jobs.priority[b] && own[a] < own[b]);
      }
    }
    if (valid) { least = std::min(least, loss(jobs, own)); }
    std::size_t digit = 0;
    while (digit < count && ++own[digit] == classes) { own[digit++] = 0; }
    if (digit == count) { return least; }
  }
}

}  // namespace

TEST_CASE("of four jobs that meet in pairs the first of each pair goes first, with two classes") {
  // Crux (SIGCOMM 2024), figure 13: jobs 1 and 2 share a link, and 3 and 4; the best is 1, 0, 1, 0.
  const LinkContention jobs = jobs_of({4, 3, 2, 1}, {{0, 1}, {2, 3}});
  CHECK(priority_classes(jobs, 2) == std::vector<std::uint32_t>{1, 0, 1, 0});
}

TEST_CASE("jobs that all meet have classes of their own where there are enough, in the order of their priorities") {
  const LinkContention jobs = jobs_of({1, 5, 3}, {{0, 1}, {0, 2}, {1, 2}});
  const std::vector<std::uint32_t> classes = priority_classes(jobs, 8);
  CHECK(classes[1] > classes[2]);
  CHECK(classes[2] > classes[0]);
  // With two, who computes most is cut off: 5 + 5 of 5 + 5 + 3 are not lost.
  CHECK(priority_classes(jobs, 2) == std::vector<std::uint32_t>{0, 1, 0});
  CHECK(priority_classes(jobs, 1) == std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("classes lose as little as any of all ways to give them, and keep the order of jobs that meet") {
  RandomStream random(3, "contention");
  for (int round = 0; round < 40; ++round) {
    std::vector<double> intensities;
    for (int job = 0; job < 6; ++job) { intensities.push_back(1 + job + 10 * static_cast<double>(random.below(9))); }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> meetings;
    for (std::uint32_t a = 0; a < 6; ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        if (random.below(3) > 0) { meetings.emplace_back(a, b); }
      }
    }
    const LinkContention jobs = jobs_of(intensities, meetings);
    for (const std::uint32_t classes : {2U, 3U}) {
      const std::vector<std::uint32_t> found = priority_classes(jobs, classes);
      for (const auto& [a, b] : meetings) {
        const bool first = jobs.priority[a] > jobs.priority[b];
        CHECK((first ? found[a] >= found[b] : found[b] >= found[a]));
      }
      CHECK(loss(jobs, found) == least_loss(jobs, classes));
    }
  }
}
