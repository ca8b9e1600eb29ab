#include "tools/calibrate/fit.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "algorithms/catalog.hpp"
#include "tools/calibrate/probe_schedules.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr CollectiveKind kKinds[] = {CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
                                     CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all};

/// Rates are searched as the time of one MiB.
Bandwidth rate_of(std::int64_t picoseconds) {
  return Bandwidth{static_cast<std::int64_t>(Wide{kMiB} * 1'000'000'000'000 / picoseconds)};
}

/// The value with which `simulated` gives `measured`; one of the limits where none does. Requires that it grows.
std::int64_t solve(std::int64_t low, std::int64_t high, Time measured,
                   const std::function<Time(std::int64_t)>& simulated) {
  while (high - low > std::max<std::int64_t>(1, low / 2000)) {
    const std::int64_t middle = low + (high - low) / 2;
    (simulated(middle) < measured ? low : high) = middle;
  }
  return low;
}

struct Sample {
  std::string collective;
  std::string algorithm;
  std::shared_ptr<const Schedule> schedule;
  std::uint32_t workers = 1;
  Bytes bytes;
  Time measured;
};

/// All algorithms of kKinds for each number of ranks and size that fit.
std::vector<Sample> samples(const FitSettings& settings, std::uint32_t workers, const std::vector<Bytes>& sizes) {
  std::vector<Sample> all;
  for (const CollectiveKind kind : kKinds) {
    for (const Algorithm& each : catalog()) {
      const Algorithm* const algorithm = each.kind == kind ? &each : nullptr;
      if (algorithm == nullptr) { continue; }
      for (const std::uint32_t ranks : settings.ranks) {
        for (const Bytes size : sizes) {
          const Collective collective{.kind = kind, .ranks = ranks, .count = Elements{size.count() / 4}};
          if (algorithm->engine != Engine::none || algorithm->refuses(collective, {})) { continue; }
          all.push_back({std::string(name(kind)),
                         std::string(algorithm->name),
                         algorithm->make(collective, {}),
                         std::min(workers, ranks),
                         size,
                         {}});
        }
      }
    }
  }
  return all;
}

class Fit {
 public:
  Fit(Timing& machine, const FitSettings& settings) : machine_(machine), settings_(settings), model_(costs_) {
    for (const Bytes size : settings.private_caches) {
      costs_.caches.push_back({size, rate_of(kMiB), false, rate_of(kMiB)});
    }
    costs_.caches.push_back({settings.largest, rate_of(kMiB), true, {}});
    costs_.primitive = Time{50'000};
    costs_.remote_port = costs_.lane = Time{100'000};
    costs_.turn = costs_.port = costs_.start = Time{20'000};
    costs_.meeting = Time{400'000};
    costs_.notice = Time{100'000};
    costs_.remote_latency = Time{100'000};
    costs_.patience = Time::max();
  }

  ThreadCosts run() {
    settings_.progress("rates of caches and memory");
    fit_rates();
    settings_.progress("one processor");
    fit_samples(
        1, {&ThreadCosts::start, &ThreadCosts::lane, &ThreadCosts::turn, &ThreadCosts::primitive, &ThreadCosts::port});
    fit_nearest_rate();  // once more: now it is known what else a pass costs
    if (settings_.processors == 1) { return costs_; }
    settings_.progress("several processors");
    fit_messages();
    settings_.progress("bytes of another processor");
    fit_remote_bytes();
    settings_.progress("sleeping processors");
    fit_sleep();
    return costs_;
  }

 private:
  using Cost = Time ThreadCosts::*;

  /// The difference of two schedules: what they have in common does not count.
  Time difference(Timing& timing, const Schedule& more, const Schedule& less, std::uint32_t workers) const {
    return timing.of(more, workers) - timing.of(less, workers);
  }

  /// Sets a rate so that so many further passes over a working set, or the first, take as long as measured.
  void fit_rate(Bandwidth& rate, std::int64_t working_set, std::uint32_t passes) {
    const auto more = copying(working_set, 1 + passes);
    const auto less = copying(passes > 0 ? working_set : 0, 1);
    const Time measured = difference(machine_, *more, *less, 1);
    rate = rate_of(solve(100'000, 1'000'000'000, measured, [&](std::int64_t value) {
      rate = rate_of(value);
      return difference(model_, *more, *less, 1);
    }));
  }

  void fit_private_rate(std::size_t level) {
    const std::int64_t half = costs_.caches[level].size.count() / 2;
    fit_rate(costs_.caches[level].rate, half, static_cast<std::uint32_t>(std::max<std::int64_t>(2, kMiB / half)));
  }
  void fit_nearest_rate() { fit_private_rate(0); }

  void fit_rates() {
    for (std::size_t level = 0; level + 1 < costs_.caches.size(); ++level) { fit_private_rate(level); }
    const std::int64_t size = costs_.caches[costs_.caches.size() - 2].size.count();
    fit_rate(costs_.caches.back().rate, 4 * size, 1);
    const Bytes all = costs_.caches.back().size;
    costs_.caches.back().size = Bytes{1};
    fit_rate(costs_.memory_rate, all.count(), 0);
    fit_last_cache(all.count());
  }

  /// The size with which the sum over growing working sets is as measured: the less it keeps, the longer they take.
  void fit_last_cache(std::int64_t largest) {
    std::vector<std::unique_ptr<const Schedule>> passes;
    for (std::int64_t size = largest / 16; size <= largest; size += size / 2) { passes.push_back(copying(size, 1)); }
    const auto sum = [&](Timing& timing) {
      Time time;
      for (const auto& pass : passes) { time += timing.of(*pass, 1); }
      return time;
    };
    const Time measured = sum(machine_);
    const std::int64_t missing = solve(0, largest, measured, [&](std::int64_t value) {
      costs_.caches.back().size = Bytes{std::max<std::int64_t>(1, largest - value)};
      return sum(model_);
    });
    costs_.caches.back().size = Bytes{std::max<std::int64_t>(1, largest - missing)};
  }

  void fit_samples(std::uint32_t workers, const std::vector<Cost>& parameters) {
    std::vector<Sample> chosen = samples(settings_, workers, {Bytes{256}});
    for (Sample& sample : chosen) { sample.measured = machine_.of(*sample.schedule, sample.workers); }
    const auto error = [&] {
      double sum = 0;
      for (const Sample& sample : chosen) {
        const Time time = model_.of(*sample.schedule, sample.workers);
        sum += std::abs(std::log(static_cast<double>(time.count()) / static_cast<double>(sample.measured.count())));
      }
      return sum;
    };
    double best = error();
    for (const std::int64_t step : {40'000, 20'000, 10'000, 5'000, 2'000, 1'000}) {
      while (improve(parameters, step, error, best)) {}
    }
  }

  /// One round over all parameters, alone and one against another; true where something became better.
  bool improve(const std::vector<Cost>& parameters, std::int64_t step, const std::function<double()>& error,
               double& best) {
    const double before = best;
    const auto attempt = [&](Cost up, Cost down, std::int64_t by) {
      const ThreadCosts kept = costs_;
      costs_.*up = std::max(Time::zero(), costs_.*up + Time{by});
      if (down != nullptr) { costs_.*down = std::max(Time::zero(), costs_.*down - Time{by}); }
      const double now = error();
      if (now < best) {
        best = now;
      } else {
        costs_ = kept;
      }
    };
    for (const Cost parameter : parameters) {
      attempt(parameter, nullptr, step);
      attempt(parameter, nullptr, -step);
      for (const Cost other : parameters) {
        if (other != parameter) { attempt(parameter, other, step); }
      }
    }
    return best < before * (1 - 1e-4);
  }

  /// A cost with which the difference of two schedules on two processors is as measured.
  void fit_cost(Cost cost, const Schedule& more, const Schedule* less) {
    const auto metric = [&](Timing& timing) {
      return timing.of(more, 2) - (less == nullptr ? Time::zero() : timing.of(*less, 2));
    };
    const Time measured = metric(machine_);
    costs_.*cost = Time{solve(0, 100'000'000, measured, [&](std::int64_t value) {
      costs_.*cost = Time{value};
      return metric(model_);
    })};
  }

  /// Both ends of a stream are at work all the time, those of a ping-pong wait for each other in turn.
  void fit_messages() {
    fit_cost(&ThreadCosts::remote_port, *stream(2000), stream(1000).get());
    fit_cost(&ThreadCosts::notice, *ping_pong(2000), ping_pong(1000).get());
    fit_cost(&ThreadCosts::meeting, *ping_pong(1), nullptr);
  }

  void fit_remote_bytes() {
    const auto per_round = [&](Timing& timing, std::int64_t bytes) {
      const std::uint32_t rounds = bytes > costs_.caches.front().size.count() ? 2 : 8;
      return difference(timing, *fetching(2 * rounds, bytes), *fetching(rounds, bytes), 2);
    };
    const std::int64_t nearest = costs_.caches.front().size.count();
    for (int repeat = 0; repeat < 3; ++repeat) {  // each depends a little on the others
      const Time small = remembered(0, [&] { return per_round(machine_, 64); });
      costs_.remote_latency = Time{solve(0, 10'000'000, small, [&](std::int64_t value) {
        costs_.remote_latency = Time{value};
        return per_round(model_, 64);
      })};
      std::size_t seen = 0;
      for (std::size_t level = 0; level + 1 < costs_.caches.size(); ++level) {
        const std::int64_t bytes = level == 0 ? nearest / 3 : costs_.caches[level].size.count() / 16;
        const Time measured = remembered(++seen, [&] { return per_round(machine_, bytes); });
        CacheLevel& cache = costs_.caches[level];
        cache.remote_rate = rate_of(solve(100'000, 1'000'000'000, measured, [&](std::int64_t value) {
          cache.remote_rate = rate_of(value);
          return per_round(model_, bytes);
        }));
      }
    }
  }

  Time remembered(std::size_t number, const std::function<Time()>& measure) {
    if (number >= measured_.size()) { measured_.push_back(measure()); }
    return measured_[number];
  }

  /// Who has waited for longer than patience is woken, and whoever waits for that may be, too. Patience follows from
  /// the shortest of growing waits that cost so much more, and then the cost from long waits.
  void fit_sleep() {
    constexpr std::uint32_t kLong = 400;
    const auto rounds = [&](Timing& timing, std::uint32_t copies) {
      return difference(timing, *working_and_calling(8, copies), *working_and_calling(4, copies), 2);
    };
    const auto waited = [&](std::uint32_t copies) {
      return model_.of(*copying(64 << 10, 2 * copies), 1) - model_.of(*copying(64 << 10, copies), 1);
    };
    const Time measured = rounds(machine_, kLong);
    const Time awake = rounds(model_, kLong);
    Time shorter;
    for (std::uint32_t copies = 2; copies < kLong; copies += std::max(1U, copies / 5)) {
      if ((rounds(machine_, copies) - rounds(model_, copies)) * 2 > measured - awake) {
        costs_.patience = shorter + (waited(copies) - shorter) / 2;
        break;
      }
      shorter = waited(copies);
    }
    costs_.wake = Time{solve(0, 1'000'000'000, measured, [&](std::int64_t value) {
      costs_.wake = Time{value};
      return rounds(model_, kLong);
    })};
  }

  Timing& machine_;
  const FitSettings& settings_;
  ThreadCosts costs_;
  ModelTiming model_;
  std::vector<Time> measured_;
};

}  // namespace

HoldOutError error_of(const std::vector<HeldOut>& rows) {
  std::vector<double> errors;
  for (const HeldOut& row : rows) { errors.push_back(std::abs(row.simulated_us / row.measured_us - 1)); }
  std::sort(errors.begin(), errors.end());
  return errors.empty() ? HoldOutError{} : HoldOutError{errors[errors.size() / 2], errors.back()};
}

ThreadCosts fit_thread_costs(Timing& machine, const FitSettings& settings) { return Fit(machine, settings).run(); }

std::vector<HeldOut> hold_out(Timing& machine, const ThreadCosts& costs, const FitSettings& settings) {
  settings.progress("hold-out");
  ModelTiming model(costs);
  std::vector<HeldOut> rows;
  for (const Sample& sample :
       samples(settings, settings.processors, {Bytes{4096}, Bytes{65536}, Bytes{kMiB}, Bytes{4 * kMiB}})) {
    const auto microseconds_of = [&](Timing& timing) {
      return static_cast<double>(timing.of(*sample.schedule, sample.workers).count()) * 1e-6;
    };
    rows.push_back({sample.collective, sample.algorithm, sample.schedule->roster().ranks, sample.bytes,
                    microseconds_of(machine), microseconds_of(model)});
  }
  return rows;
}

}  // namespace athanor
