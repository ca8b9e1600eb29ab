#include "tools/cli/expected_end.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "models/experiments/effort.hpp"

namespace athanor {

namespace {

double between(ExpectedEnd::Clock::time_point begin, ExpectedEnd::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

void ExpectedEnd::begins(Clock::time_point now) {
  if (begun_ == 0) {
    first_ = now;
  } else if (begun_ <= seconds_.size()) {
    expected_ += seconds_[begun_ - 1];
  }
  last_ = now;
  ++begun_;
}

/// What they take of what is expected. Those of less than a moment say nothing.
double ExpectedEnd::ratio() const {
  constexpr double kMoment = 1;
  const double took = between(first_, last_);
  return took < kMoment || expected_ <= 0 ? 1 : took / expected_;
}

double ExpectedEnd::seconds_left(Clock::time_point now) const {
  if (begun_ == 0 || begun_ > seconds_.size()) { return 0; }
  const double ratio = this->ratio();
  const double took = between(last_, now);
  double left = std::max(seconds_[begun_ - 1] * ratio - took, took / 2);
  for (std::size_t i = begun_; i < seconds_.size(); ++i) { left += seconds_[i] * ratio; }
  return left;
}

std::string ExpectedEnd::text(Clock::time_point now) const {
  constexpr double kWorthSaying = 5;
  const double left = seconds_left(now);
  if (left < kWorthSaying) { return ""; }
  const double took = between(first_, now);
  const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(left);
  return fmt::format(", {:.0f} %, done in about {} ({:%H:%M})", 100 * took / (took + left), duration_text(left),
                     fmt::localtime(end));
}

}  // namespace athanor
