#include "tools/sweep/conduct.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/core.h>

#include "tools/cli/read_results.hpp"
#include "tools/cli/streams.hpp"
#include "tools/sweep/points.hpp"

namespace athanor {

namespace {

using Clock = std::chrono::steady_clock;
using State = SweepDatabase::State;

/// Points that are still to be simulated, in order.
class Missing {
 public:
  explicit Missing(std::vector<State> states) : states_(std::move(states)) {}

  bool next(std::uint64_t& point) {
    while (next_ < states_.size() && states_[next_] != State::missing) { ++next_; }
    if (next_ == states_.size()) { return false; }
    point = next_++;
    return true;
  }
  std::uint64_t known() const {
    return static_cast<std::uint64_t>(
        std::count_if(states_.begin(), states_.end(), [](State state) { return state != State::missing; }));
  }
  std::uint64_t all() const { return states_.size(); }

 private:
  std::vector<State> states_;
  std::size_t next_ = 0;
};

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// "[123/1000] 2 failed, 35.2 points/s, 0:25 left".
std::string progress_text(const SweepCount& count, double seconds) {
  const std::uint64_t done = count.before + count.simulated;
  std::string text = fmt::format("[{}/{}]", done, count.points);
  if (count.failed > 0) { text += fmt::format(" {} failed,", count.failed); }
  if (count.simulated == 0 || seconds <= 0) { return text; }
  const double rate = static_cast<double>(count.simulated) / seconds;
  return text +
         fmt::format(" {:.3g} points/s, {} left", rate, clock_text(static_cast<double>(count.points - done) / rate));
}

void add(const std::vector<SweepOutcome>& outcomes, SweepCount& count) {
  for (const SweepOutcome& outcome : outcomes) {
    ++count.simulated;
    if (outcome.error.empty()) { continue; }
    if (count.failed++ == 0) {
      count.first_error = error_from_text(outcome.error, "the first error")["message"].string();
    }
  }
}

}  // namespace

SweepCount conduct(const SweepOrder& order, std::uint32_t threads, SweepWorkers& workers, SweepDatabase& database,
                   const Streams& streams) {
  Missing missing(database.states());
  SweepCount count;
  count.points = missing.all();
  count.before = missing.known();
  const auto next = [&](std::uint64_t& point) { return !streams.interrupted() && missing.next(point); };
  // Where others are to be answered, waiting for one's own points is done in small pieces.
  const std::chrono::milliseconds patience(workers.processes() > 1 ? 1 : 100);
  const auto begin = Clock::now();
  Progress progress(streams, !order.common.quiet);
  PointPool pool(order, threads, streams.interrupted);
  for (bool more = true; more || pool.under_way() > 0 || workers.under_way() > 0;) {
    for (std::size_t room = pool.room(); room > 0 && more; --room) {
      std::uint64_t point = 0;
      more = next(point);
      if (more) { pool.submit(point); }
    }
    std::vector<SweepOutcome> outcomes = workers.serve(next);
    for (SweepOutcome& each : pool.take(patience)) { outcomes.push_back(std::move(each)); }
    if (!outcomes.empty()) { database.write(outcomes); }
    add(outcomes, count);
    progress.show(progress_text(count, std::chrono::duration<double>(Clock::now() - begin).count()));
  }
  count.interrupted = streams.interrupted() && count.before + count.simulated < count.points;
  return count;
}

}  // namespace athanor
