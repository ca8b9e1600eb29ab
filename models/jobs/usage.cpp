#include "models/jobs/usage.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

void add(Usage::Level& sum, const Usage::Level& level, double weight) {
  sum.gpus += level.gpus * weight;
  sum.running += level.running * weight;
  sum.waiting += level.waiting * weight;
}

}  // namespace

void Usage::set(WallTime now, const Level& level) {
  advance(now);
  level_ = level;
  peak_ = {std::max(peak_.gpus, level.gpus), std::max(peak_.running, level.running),
           std::max(peak_.waiting, level.waiting)};
}

void Usage::advance(WallTime now) {
  require(now >= now_, "usage of a time that has passed");
  while (now > width_ * static_cast<std::int64_t>(kMost)) { widen(); }
  while (now_ < now) {
    const auto span = static_cast<std::size_t>(now_ / width_);
    const WallTime end = std::min(now, width_ * static_cast<std::int64_t>(span + 1));
    if (spans_.size() <= span) { spans_.resize(span + 1); }
    const double weight = seconds(end - now_);
    add(spans_[span], level_, weight);
    add(sums_, level_, weight);
    now_ = end;
  }
}

void Usage::widen() {
  width_ = width_ * 2;
  for (std::size_t span = 0; span < spans_.size(); ++span) {
    const Level sum = spans_[span];
    if (span % 2 == 0) {
      spans_[span / 2] = sum;
    } else {
      add(spans_[span / 2], sum, 1);
    }
  }
  spans_.resize((spans_.size() + 1) / 2);
}

std::vector<Usage::Level> Usage::averages() const {
  std::vector<Level> averages;
  for (std::size_t span = 0; span < spans_.size(); ++span) {
    const WallTime begin = width_ * static_cast<std::int64_t>(span);
    const double length = seconds(std::min(width_, now_ - begin));
    Level& average = averages.emplace_back();
    add(average, spans_[span], 1 / length);
  }
  return averages;
}

}  // namespace athanor
