#include "models/jobs/job_progress.hpp"

#include <algorithm>

#include "models/jobs/later.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

JobProgress::Amount plus_times(const JobProgress::Amount& before, const JobProgress::Amount& each, std::int64_t times) {
  return {before.work + each.work * times, before.time + each.time * times, before.slowed + each.slowed * times};
}

}  // namespace

void JobProgress::begin(WallTime now, WallTime overhead, WallTime interval, WallTime write, WallTime persist) {
  require(persist <= interval, "a checkpoint takes longer than the next one");
  anchor_ = saved_ = saved_before_ = kept();
  anchored_at_ = {};
  position_ = {};
  interval_ = interval;
  write_ = write;
  persist_ = interval == WallTime::max() ? WallTime{} : persist;
  updated_ = now + overhead;
  writing_ = {};
}

JobProgress::Amount JobProgress::at_position() const { return plus(anchor_, worked(position_) - worked(anchored_at_)); }

void JobProgress::set_speed(Speed speed, Speed share) {
  if (speed == speed_ && share == share_) { return; }
  anchor_ = at_position();
  anchored_at_ = position_;
  speed_ = speed;
  share_ = share;
}

void JobProgress::advance(WallTime now) {
  if (now <= updated_) { return; }
  WallTime left = now - updated_;
  updated_ = now;
  if (!saves()) {
    position_ += left;
    return;
  }
  while (left > WallTime::zero()) {
    const bool alone = write_speed_ == Speed{};
    if (alone && position_ == WallTime::zero() && anchored_at_ == WallTime::zero() && left >= cycle()) {
      const std::int64_t cycles = left / cycle();
      const Amount each = plus({}, interval_);
      saved_before_ = plus_times(anchor_, each, cycles - 1);
      anchor_ = saved_ = plus_times(anchor_, each, cycles);
      writing_ += write_ * cycles;
      left = left % cycle();
      continue;
    }
    if (position_ < interval_) {
      const WallTime step = std::min(left, interval_ - position_);
      position_ += step;
      left -= step;
    }
    if (position_ >= interval_) {
      const WallTime step = std::min(left, write_speed_.time_for(cycle() - position_));
      position_ = std::min(cycle(), position_ + write_speed_.work_in(step));
      left -= step;
      writing_ += step;
    }
    if (position_ < cycle()) { continue; }
    anchor_ = at_position();
    saved_before_ = std::exchange(saved_, anchor_);
    anchored_at_ = position_ = {};
  }
}

WallTime JobProgress::to_end_of_cycle() const {
  const WallTime write = write_speed_.time_for(cycle() - std::max(position_, interval_));
  return later(interval_ - worked(position_), write);
}

WallTime JobProgress::next_phase() const {
  if (!saves()) { return WallTime::max(); }
  return later(updated_, is_writing() ? to_end_of_cycle() : interval_ - position_);
}

WallTime JobProgress::when(WallTime work) const {
  WallTime left = work - anchor_.work;
  const auto from = [&](WallTime span) { return later(updated_, span); };
  if (!saves()) {
    const WallTime span = speed_.time_for(left);
    return span == WallTime::max() ? span : from(std::max(WallTime{}, anchored_at_ + span - position_));
  }
  const WallTime in_this_cycle = speed_.work_in(interval_ - worked(anchored_at_));
  if (left <= in_this_cycle) {
    const WallTime span = speed_.time_for(left);
    if (span == WallTime::max()) { return span; }
    return from(std::max(WallTime{}, worked(anchored_at_) + span - position_));
  }
  left -= in_this_cycle;
  const WallTime in_a_cycle = speed_.work_in(interval_);
  if (in_a_cycle == WallTime::zero()) { return WallTime::max(); }
  const std::int64_t cycles = (left - WallTime{1}) / in_a_cycle;
  const WallTime to_end = to_end_of_cycle();
  const WallTime write = write_speed_.time_for(write_);
  if (to_end == WallTime::max() || write == WallTime::max()) { return WallTime::max(); }
  return from(to_end + (interval_ + write) * cycles + speed_.time_for(left - in_a_cycle * cycles));
}

void JobProgress::fall_back() {
  anchor_ = saved_ = saved_before_ = kept();
  anchored_at_ = position_ = {};
}

void JobProgress::keep() {
  anchor_ = saved_ = saved_before_ = at_position();
  anchored_at_ = position_ = {};
}

}  // namespace athanor
