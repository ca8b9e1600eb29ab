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

void JobProgress::begin(WallTime now, WallTime overhead, WallTime interval, WallTime write, WallTime persist,
                        const InMemory& memory) {
  require(persist <= interval, "a checkpoint takes longer than the next one");
  require(memory.persist <= memory.interval, "copies take longer than the next ones");
  anchor_ = saved_ = saved_before_ = kept();
  anchored_at_ = {};
  position_ = {};
  interval_ = interval;
  write_ = write;
  persist_ = interval == WallTime::max() ? WallTime{} : persist;
  memory_.reset();
  if (memory.interval != WallTime::max()) { memory_.emplace({memory, {}, {}, 0, -1}); }
  span_ = interval == WallTime::max() ? interval : position_of(interval);
  forget_memory();
  resume(now, overhead);
}

void JobProgress::resume(WallTime now, WallTime overhead) {
  updated_ = now + overhead;
  writing_ = {};
}

void JobProgress::forget_memory() {
  if (!memory_) { return; }
  memory_->usable = memory_->newest = anchor_;
  memory_->newest_number = 0;
  memory_->least_number = -1;
}

WallTime JobProgress::worked(WallTime position) const {
  if (!memory_) { return std::min(position, interval_); }
  const std::int64_t before = position / memory_->cycle();
  return std::min(memory_->rules.interval * before + std::min(position % memory_->cycle(), memory_->rules.interval),
                  interval_);
}

WallTime JobProgress::position_of(WallTime worked) const {
  if (!memory_ || worked <= WallTime::zero()) { return worked; }
  return later(worked, memory_->rules.write * ((worked - WallTime{1}) / memory_->rules.interval));
}

void JobProgress::work_to(WallTime position) {
  writing_ += (position - worked(position)) - (position_ - worked(position_));
  position_ = position;
}

std::int64_t JobProgress::last_in_memory(WallTime persist) const {
  if (position_ < persist) { return memory_->least_number; }
  const std::int64_t last = (position_ - persist) / memory_->cycle();
  return std::max(memory_->least_number,
                  saves() ? std::min(last, (interval_ - WallTime{1}) / memory_->rules.interval) : last);
}

JobProgress::Amount JobProgress::kept_in_memory() const {
  const std::int64_t number = last_in_memory(memory_->rules.persist);
  const WallTime at = memory_->rules.interval * std::max<std::int64_t>(0, number);
  if (number >= 0 && at >= worked(anchored_at_)) { return plus(anchor_, at - worked(anchored_at_)); }
  return number == memory_->newest_number ? memory_->newest : memory_->usable;
}

JobProgress::Amount JobProgress::at_position() const { return plus(anchor_, worked(position_) - worked(anchored_at_)); }

void JobProgress::set_speed(Speed speed, Speed share) {
  if (speed == speed_ && share == share_) { return; }
  if (memory_) { note_memory(); }
  anchor_ = at_position();
  anchored_at_ = position_;
  speed_ = speed;
  share_ = share;
}

void JobProgress::note_memory() {
  const Amount usable = kept_in_memory();
  const std::int64_t newest = last_in_memory({});
  const WallTime at = memory_->rules.interval * newest;
  if (at >= worked(anchored_at_)) {
    memory_->newest = plus(anchor_, at - worked(anchored_at_));
    memory_->newest_number = newest;
  }
  memory_->usable = usable;
}

void JobProgress::advance(WallTime now) {
  if (now <= updated_) { return; }
  WallTime left = now - updated_;
  updated_ = now;
  if (!saves()) {
    work_to(position_ + left);
    return;
  }
  const std::int64_t alike = memory_ ? 2 : 1;  // the last one says what is in memory when it ends
  while (left > WallTime::zero()) {
    const bool alone = write_speed_ == Speed{};
    if (alone && position_ == WallTime::zero() && anchored_at_ == WallTime::zero() && left >= cycle() * alike) {
      const std::int64_t cycles = left / cycle() - (alike - 1);
      const Amount each = plus({}, interval_);
      saved_before_ = plus_times(anchor_, each, cycles - 1);
      anchor_ = saved_ = plus_times(anchor_, each, cycles);
      writing_ += (cycle() - interval_) * cycles;
      forget_memory();
      left -= cycle() * cycles;
      continue;
    }
    if (position_ < span_) {
      const WallTime step = std::min(left, span_ - position_);
      work_to(position_ + step);
      left -= step;
    }
    if (position_ >= span_) {
      const WallTime step = std::min(left, write_speed_.time_for(cycle() - position_));
      position_ = std::min(cycle(), position_ + write_speed_.work_in(step));
      left -= step;
      writing_ += step;
    }
    if (position_ < cycle()) { continue; }
    end_cycle();
  }
}

void JobProgress::end_cycle() {
  const Amount usable = memory_ ? kept_in_memory() : Amount{};
  anchor_ = at_position();
  saved_before_ = std::exchange(saved_, anchor_);
  forget_memory();
  if (memory_) { memory_->usable = usable; }
  anchored_at_ = position_ = {};
}

WallTime JobProgress::to_end_of_cycle() const {
  const WallTime write = write_speed_.time_for(cycle() - std::max(position_, span_));
  return later(std::max(WallTime{}, span_ - position_), write);
}

WallTime JobProgress::next_phase() const {
  if (!saves()) { return WallTime::max(); }
  return later(updated_, is_writing() ? to_end_of_cycle() : span_ - position_);
}

WallTime JobProgress::when(WallTime work) const {
  WallTime left = work - anchor_.work;
  const auto from = [&](WallTime span) { return later(updated_, span); };
  const auto to = [&](WallTime worked) { return std::max(WallTime{}, position_of(worked) - position_); };
  if (!saves()) {
    const WallTime span = speed_.time_for(left);
    return span == WallTime::max() ? span : from(to(later(worked(anchored_at_), span)));
  }
  const WallTime in_this_cycle = speed_.work_in(interval_ - worked(anchored_at_));
  if (left <= in_this_cycle) {
    const WallTime span = speed_.time_for(left);
    if (span == WallTime::max()) { return span; }
    return from(to(worked(anchored_at_) + span));
  }
  left -= in_this_cycle;
  const WallTime in_a_cycle = speed_.work_in(interval_);
  if (in_a_cycle == WallTime::zero()) { return WallTime::max(); }
  const std::int64_t cycles = (left - WallTime{1}) / in_a_cycle;
  const WallTime to_end = to_end_of_cycle();
  const WallTime write = write_speed_.time_for(write_);
  if (to_end == WallTime::max() || write == WallTime::max()) { return WallTime::max(); }
  return from(to_end + (span_ + write) * cycles + position_of(speed_.time_for(left - in_a_cycle * cycles)));
}

void JobProgress::fall_back() {
  anchor_ = saved_ = saved_before_ = kept();
  anchored_at_ = position_ = {};
  forget_memory();
}

void JobProgress::fall_back_to_memory() {
  const std::int64_t number = last_in_memory(memory_->rules.persist);
  const Amount left = kept_in_memory();
  const bool is_written = position_ >= persist_;
  (is_written ? saved_before_ : saved_) = is_written ? saved_ : saved_before_;
  anchor_ = left.work < saved_.work ? saved_ : left;
  anchored_at_ = position_ = number > 0 ? memory_->cycle() * number : WallTime{};
  memory_->usable = memory_->newest = anchor_;
  memory_->newest_number = memory_->least_number = std::max<std::int64_t>(0, number);
}

void JobProgress::keep() {
  anchor_ = saved_ = saved_before_ = at_position();
  anchored_at_ = position_ = {};
  forget_memory();
}

}  // namespace athanor
