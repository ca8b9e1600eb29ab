#include "models/jobs/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/check.hpp"

namespace athanor {

namespace {

constexpr double kDay = 86'400;  // seconds
constexpr std::uint64_t kParts = std::uint64_t{1} << 53U;

double uniform(RandomStream& stream) { return static_cast<double>(stream.below(kParts)) / static_cast<double>(kParts); }

/// The times of submission, one after the other. A rate that changes with the day is that of its highest hour, of which
/// some are left out (thinning; Lewis and Shedler, Naval Research Logistics 1979).
class Submissions {
 public:
  Submissions(const ArrivalRules& rules, std::uint64_t seed)
      : rules_(rules), between_(seed, "submissions"), kept_(seed, "submissions kept") {
    step_ = rules.between;
    if (rules.daily > 0) {
      step_.mean = WallTime{
          std::max<std::int64_t>(1, std::llround(static_cast<double>(rules.between.mean.count()) / (1 + rules.daily)))};
    }
  }

  WallTime next() {
    do { now_ += step_.draw(between_); } while (rules_.daily > 0 && !is_kept());
    return now_;
  }

 private:
  bool is_kept() {
    const double rate = 1 + rules_.daily * std::sin(2 * std::numbers::pi * seconds(now_) / kDay);
    return uniform(kept_) * (1 + rules_.daily) < rate;
  }

  const ArrivalRules& rules_;
  RandomStream between_;
  RandomStream kept_;
  RandomSpan step_;
  WallTime now_;
};

/// The class at a part of all shares.
const JobClass& class_at(double part, const std::vector<JobClass>& classes) {
  for (const JobClass& each : classes) {
    if (part < each.share) { return each; }
    part -= each.share;
  }
  return classes.back();
}

}  // namespace

void draw_arrivals(const ArrivalRules& rules, std::uint64_t seed, JobList& list) {
  require(!rules.classes.empty() && list.size() == 0, "arrivals are drawn of classes, into a list without jobs");
  double shares = 0;
  for (const JobClass& each : rules.classes) { shares += each.share; }
  Submissions submissions(rules, seed);
  RandomStream which(seed, "classes of jobs");
  RandomStream durations(seed, "durations of jobs");
  for (std::uint64_t i = 0; i < rules.jobs; ++i) {
    const JobClass& of = class_at(uniform(which) * shares, rules.classes);
    Job job = of.like;
    job.submitted = submissions.next();
    job.duration = std::max(WallTime{1}, of.duration.draw(durations));
    const double expected = static_cast<double>(job.duration.count()) * of.estimate;
    job.expected = std::min(job.limit, WallTime{std::max<std::int64_t>(1, std::llround(std::min(expected, 9e18)))});
    list.jobs.push_back(job);
  }
}

}  // namespace athanor
