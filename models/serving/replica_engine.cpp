#include "models/serving/replica_engine.hpp"

#include <algorithm>
#include <utility>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

std::uint64_t most_kept_by(EngineRole role, const ServedRequest& request) {
  return role == EngineRole::prefill ? request.prompt : request.most_kept();
}

}  // namespace

bool fits_engine(const ServedRequest& request, const EngineRules& rules, EngineRole role) {
  const std::uint64_t kept = most_kept_by(role, request);
  if (!rules.chunked_prefill && kept > rules.max_batched_tokens) { return false; }
  return (kept + rules.page - 1) / rules.page <= rules.pages;
}

ReplicaEngine::ReplicaEngine(const EngineRules& rules, const IterationLaw& law, const ServedRequests& requests,
                             std::vector<ServedOutcome>& outcomes, std::stop_token stop, EngineRole role)
    : rules_(rules),
      law_(law),
      requests_(requests),
      outcomes_(outcomes),
      stop_(std::move(stop)),
      role_(role),
      free_pages_(rules.pages) {
  require(rules.max_running <= rules.max_batched_tokens, "{} requests share a budget of {} tokens", rules.max_running,
          rules.max_batched_tokens);
}

void ReplicaEngine::arrive(std::uint32_t request) {
  const ServedRequest& asked = requests_[request];
  require(fits_engine(asked, rules_), "request {} can never be served", request);
  advance(asked.arrival);
  if (is_idle()) { now_ = std::max(now_, asked.arrival); }
  waiting_.push_back({request, asked.prompt});
}

void ReplicaEngine::advance(Time until) {
  while (now_ < until && !is_idle()) {
    if (stop_.stop_requested()) { throw Interrupted(); }
    step(until);
  }
}

std::uint64_t ReplicaEngine::outstanding(Time at) const {
  return running_.size() + waiting_.size() + (now_ > at ? ended_last_ : 0);
}

Time ReplicaEngine::look_ahead(Time at) {
  while (now_ < at && !is_idle()) {
    if (stop_.stop_requested()) { throw Interrupted(); }
    const Time end = now_ + plan().time;
    if (end > at) { return end; }
    carry_out(plan_->count, plan_->time);
  }
  return is_idle() && now_ <= at ? Time::max() : std::max(now_, at);
}

const ReplicaEngine::Plan& ReplicaEngine::plan() {
  if (plan_) { return *plan_; }
  schedule();
  make_plan();
  return *plan_;
}

void ReplicaEngine::make_plan() {
  plan_ = Plan{iteration_load(), longest_run(), {}};
  plan_->time = time_of_iterations(*plan_, plan_->count);
}

Time ReplicaEngine::time_of_iterations(const Plan& plan, std::int64_t count) const {
  return plan.count > 1 ? time_of_run(plan.first, count, law_) : time_of(plan.first, law_) + time_of_chunks();
}

/// The last iteration is the one that begins before `until` and does not end before it.
std::int64_t ReplicaEngine::begun_before(Time until) const {
  if (plan_->count == 1 || time_of_iterations(*plan_, plan_->count - 1) < until - now_) { return plan_->count; }
  std::int64_t low = 1;
  std::int64_t high = plan_->count - 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (time_of_iterations(*plan_, middle) >= until - now_) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

void ReplicaEngine::step(Time until) {
  const Plan& next = plan();
  const std::int64_t count = begun_before(until);
  carry_out(count, time_of_iterations(next, count));
}

void ReplicaEngine::schedule() {
  changed_ = false;
  std::uint32_t budget = rules_.max_batched_tokens;
  // Who was preempted by what others hold may leave nobody behind.
  if (schedule_running(budget) || running_.empty()) { admit(budget); }
}

/// False: somebody was preempted.
bool ReplicaEngine::schedule_running(std::uint32_t& budget) {
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Running& each = running_[i];
    each.granted = 0;
    const std::uint32_t wanted = std::min(each.known - each.computed, budget);
    if (!take_pages(i, std::uint64_t{each.computed} + wanted)) { break; }
    running_[i].granted = wanted;
    budget -= wanted;
  }
  return !changed_;
}

bool ReplicaEngine::take_pages(std::size_t index, std::uint64_t tokens) {
  const std::uint64_t wanted = std::max(pages_of(tokens), running_[index].pages);
  const std::uint64_t more = wanted - running_[index].pages;
  while (more > free_pages_) {
    preempt_last();
    if (index == running_.size()) { return false; }
  }
  free_pages_ -= more;
  running_[index].pages += more;
  return true;
}

void ReplicaEngine::preempt_last() {
  const Running& last = running_.back();
  free_pages_ += last.pages;
  waiting_.push_front({last.request, last.known});
  ++outcomes_[last.request].preemptions;
  ++account_.preemptions;
  running_.pop_back();
  changed_ = true;
}

void ReplicaEngine::admit(std::uint32_t budget) {
  admit_delivered(budget);
  while (!waiting_.empty()) {
    const Waiting next = waiting_.front();
    if (next.elsewhere) {
      if (!admit_from_elsewhere(next)) { return; }
      waiting_.pop_front();
      continue;
    }
    if (running_.size() == rules_.max_running || budget == 0) { return; }
    if (!rules_.chunked_prefill && next.known > budget) { return; }
    const std::uint32_t granted = std::min(next.known, budget);
    const std::uint64_t pages = pages_of(rules_.reserve_output ? most_kept(next.request) : granted);
    if (pages > free_pages_) { return; }
    waiting_.pop_front();
    free_pages_ -= pages;
    budget -= granted;
    running_.push_back({next.request, next.known, 0, granted, pages});
    if (outcomes_[next.request].preemptions == 0) { outcomes_[next.request].scheduled = now_; }
    changed_ = true;
  }
}

void ReplicaEngine::admit_delivered(std::uint32_t& budget) {
  while (!delivered_.empty() && running_.size() < rules_.max_running && budget > 0) {
    const auto admitted = pages_of_admitted_.find(delivered_.front());
    const std::uint32_t prompt = requests_[admitted->first].prompt;
    running_.push_back({admitted->first, prompt + 1, prompt, 1, admitted->second});
    pages_of_admitted_.erase(admitted);
    delivered_.pop_front();
    --budget;
    changed_ = true;
  }
}

bool ReplicaEngine::admit_from_elsewhere(const Waiting& next) {
  const std::uint64_t pages = pages_of(rules_.reserve_output ? most_kept(next.request) : next.known);
  if (pages > free_pages_) { return false; }
  free_pages_ -= pages;
  pages_of_admitted_.emplace(next.request, pages);
  admitted_.push_back(next.request);
  return true;
}

std::uint64_t ReplicaEngine::most_kept(std::uint32_t request) const { return most_kept_by(role_, requests_[request]); }

std::uint32_t ReplicaEngine::last_token(std::uint32_t request) const {
  return role_ == EngineRole::prefill ? 1 : requests_[request].output;
}

IterationLoad ReplicaEngine::iteration_load() const {
  IterationLoad load;
  for (const Running& each : running_) {
    load.tokens += each.granted;
    if (each.granted == 1) { load.attended += std::uint64_t{each.computed} + 1; }
    if (each.computed + each.granted == each.known) { ++load.samples; }
  }
  require(load.tokens > 0, "an iteration of {} requests computes nothing", running_.size());
  return load;
}

Time ReplicaEngine::time_of_chunks() const {
  Time time;
  for (const Running& each : running_) {
    if (each.granted > 1) { time += law_.of_chunk(each.computed, each.granted); }
  }
  return time;
}

std::int64_t ReplicaEngine::longest_run() const {
  if (changed_) { return 1; }
  std::uint32_t least = UINT32_MAX;
  for (const Running& each : running_) {
    const std::uint32_t so_far = generated(each);
    if (so_far == 0 || each.known - each.computed != 1) { return 1; }
    least = std::min(least, last_token(each.request) - so_far);
  }
  return most_by_pages(least);
}

/// As far as there are pages without a preemption. Those of the first iteration are taken already.
std::int64_t ReplicaEngine::most_by_pages(std::int64_t count) const {
  const auto more = [&](std::int64_t iterations) {
    std::uint64_t sum = 0;
    for (const Running& each : running_) {
      const std::uint64_t wanted = pages_of(each.computed + static_cast<std::uint64_t>(iterations));
      sum += std::max(wanted, each.pages) - each.pages;
    }
    return sum;
  };
  if (more(count) <= free_pages_) { return count; }
  std::int64_t low = 1;
  while (count - low > 1) {
    const std::int64_t middle = low + (count - low) / 2;
    (more(middle) <= free_pages_ ? low : count) = middle;
  }
  return low;
}

void ReplicaEngine::carry_out(std::int64_t count, Time time) {
  const IterationLoad load = plan_->first;
  plan_.reset();
  const auto iterations = static_cast<std::uint32_t>(count);
  now_ += time;
  ended_last_ = 0;
  for (Running& each : running_) {
    each.computed += each.granted + iterations - 1;
    const std::uint64_t pages = std::max(pages_of(each.computed), each.pages);
    free_pages_ -= pages - each.pages;
    each.pages = pages;
  }
  note(load, count, time);
  const auto ends = [&](Running& each) {
    const bool generates = count > 1 || (each.granted > 0 && each.computed == each.known);
    if (!generates) { return false; }
    if (generated(each) == 0) { outcomes_[each.request].first_token = now_; }
    each.known += iterations;
    if (generated(each) < last_token(each.request)) { return false; }
    leave(each);
    ++ended_last_;
    return true;
  };
  running_.erase(std::remove_if(running_.begin(), running_.end(), ends), running_.end());
}

void ReplicaEngine::leave(const Running& each) {
  if (generated(each) < requests_[each.request].output) {
    held_.emplace(each.request, each.pages);
    return;
  }
  outcomes_[each.request].finished = now_;
  free_pages_ += each.pages;
}

/// With a + b i the time of iteration i, and A + D i the tokens that are kept in it, i from 0:
/// sum (A + D i) (a + b i) = n A a + (A b + D a) n (n - 1) / 2 + D b n (n - 1) (2 n - 1) / 6.
void ReplicaEngine::note(const IterationLoad& load, std::int64_t count, Time time) {
  std::uint64_t kept = 0;
  for (const Running& each : running_) { kept += each.computed; }
  const auto n = static_cast<double>(count);
  const double samples = load.samples;
  const double growth = count > 1 ? samples : 0;
  const double first_kept = static_cast<double>(kept) - growth * (n - 1);
  const double slope = growth * seconds(law_.per_attended);
  const double first_time = seconds(time) / n - slope * (n - 1) / 2;
  account_.kept_token_seconds += n * first_kept * first_time +
                                 (first_kept * slope + growth * first_time) * n * (n - 1) / 2 +
                                 growth * slope * n * (n - 1) * (2 * n - 1) / 6;
  account_.running_seconds += static_cast<double>(running_.size()) * seconds(time);
  account_.busy += time;
  account_.iterations += static_cast<std::uint64_t>(count);
  account_.tokens += load.tokens + static_cast<std::uint64_t>(growth * (n - 1));
  account_.most_pages = std::max(account_.most_pages, rules_.pages - free_pages_);
}

}  // namespace athanor
