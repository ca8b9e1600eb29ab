#include "tools/measure/run.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "algorithms/schedule/contract.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/measure/machine.hpp"

namespace athanor {

namespace {

/// Turns of each subject where there are several.
constexpr std::uint32_t kTurns = 4;

/// A subject with what its turns have given so far.
class Series {
 public:
  Series(const MeasureRequest& request, const MeasuredPoint& point, const Subject& subject,
         const std::function<bool()>& interrupted)
      : subject_(subject),
        trial_{.collective = collective_of(request, point, subject.in_place),
               .schedule = nullptr,
               .library = subject.algorithm == nullptr ? subject.name : "",
               .type = point.type,
               .reduction = point.reduction,
               .slots = request.slots,
               .warm_up = request.warm_up,
               .iterations = 0,
               .time_limit = request.time_limit,
               .interrupted = interrupted} {
    if (subject.algorithm == nullptr) { return; }
    schedule_ = subject.algorithm->make(trial_.collective, layout_of(request, point.type));
    trial_.schedule = schedule_.get();
    if (trial_.slots) { trial_.slots = std::max(*trial_.slots, schedule_->least_slots()); }
  }

  /// False where somebody has interrupted.
  bool take_turn(std::uint32_t iterations) {
    trial_.iterations = iterations;
    const TrialOutcome outcome = subject_.backend->run(trial_);
    require(outcome.interrupted || outcome.durations.size() == iterations, "{} iterations were asked for and {} timed",
            iterations, outcome.durations.size());
    for (const std::chrono::nanoseconds duration : outcome.durations) {
      times_us_.push_back(std::chrono::duration<double, std::micro>(duration).count());
    }
    wrong_ += outcome.wrong;
    if (!first_wrong_) { first_wrong_ = outcome.first_wrong; }
    return !outcome.interrupted;
  }

  bool measured() const { return !times_us_.empty(); }

  MeasuredRow row(const MeasuredPoint& point) const {
    return {.collective = trial_.collective,
            .algorithm = subject_.name,
            .backend = std::string(subject_.backend->name()),
            .type = point.type,
            .reduction = point.reduction,
            .size = point.size,
            .median_us = median(times_us_),
            .least_us = *std::min_element(times_us_.begin(), times_us_.end()),
            .iterations = static_cast<std::uint32_t>(times_us_.size()),
            .wrong = wrong_,
            .first_wrong = first_wrong_,
            .times_us = times_us_};
  }

 private:
  const Subject& subject_;
  std::unique_ptr<const Schedule> schedule_;
  Trial trial_;
  std::vector<double> times_us_;
  std::uint64_t wrong_ = 0;
  std::optional<std::string> first_wrong_;
};

/// What inputs and outputs take where a library needs no schedule.
Bytes payload_of(const Collective& collective, DataType type) {
  Elements total;
  const Contract contract(collective);
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    total += contract.input(rank) + (collective.in_place ? Elements::zero() : contract.output(rank));
  }
  return size_of(type) * total.count();
}

}  // namespace

double median(std::vector<double> values) {
  require(!values.empty(), "the median of nothing");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<MeasuredRow> measure(const MeasureRequest& request, const MeasuredPoint& point,
                                 const std::function<bool(const Subject&)>& going_on,
                                 const std::function<bool()>& interrupted) {
  std::vector<Series> all;
  all.reserve(point.subjects.size());
  for (const Subject& subject : point.subjects) { all.emplace_back(request, point, subject, interrupted); }
  const std::uint32_t turns = all.size() == 1 ? 1 : std::min(kTurns, request.iterations);
  bool on = true;
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    const std::uint32_t iterations = request.iterations * (turn + 1) / turns - request.iterations * turn / turns;
    for (std::size_t i = 0; i < all.size() && on; ++i) {
      on = going_on(point.subjects[i]);
      on = on && all[i].take_turn(iterations);
    }
  }
  std::vector<MeasuredRow> rows;
  for (const Series& series : all) {
    if (series.measured()) { rows.push_back(series.row(point)); }
  }
  return rows;
}

void check_memory(const MeasureRequest& request, const std::vector<MeasuredPoint>& points, Bytes available) {
  for (const MeasuredPoint& point : points) {
    for (const Subject& subject : point.subjects) {
      const Collective collective = collective_of(request, point, subject.in_place);
      const Bytes least =
          subject.algorithm == nullptr
              ? payload_of(collective, point.type)
              : memory_of(*subject.algorithm->make(collective, layout_of(request, point.type)), point.type);
      if (least <= available) { continue; }
      throw UsageError(fmt::format(
          "measure: {} of {} over {} ranks by {} takes at least {} of memory, and {} are available; choose smaller "
          "--sizes or fewer --ranks",
          name(request.kind), to_string(point.size), point.ranks, subject.name, rounded_text(least),
          rounded_text(available)));
    }
  }
}

}  // namespace athanor
