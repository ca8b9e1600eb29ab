#include "models/jobs/logs/job_log.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kSecond = 1'000'000;

/// A number of exactly so many digits at the front of the text, which is taken away.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) { return {}; }
  int value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') { return {}; }
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, std::string_view one_of) {
  if (text.empty() || one_of.find(text.front()) == std::string_view::npos) { return false; }
  text.remove_prefix(1);
  return true;
}

/// ".123456", as microseconds; digits beyond are dropped.
std::int64_t take_fraction(std::string_view& text) {
  if (!take(text, ".,")) { return 0; }
  std::int64_t value = 0;
  std::int64_t worth = kSecond / 10;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), worth /= 10) {
    value += (text.front() - '0') * worth;
  }
  return value;
}

/// "Z", "+08:00", "+0800", "-05": seconds east of UTC; none where it is none of these.
std::optional<std::int64_t> zone_of(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") { return 0; }
  const std::int64_t sign = text.front() == '-' ? -1 : 1;
  if (!take(text, "+-")) { return {}; }
  const auto hours = take_digits(text, 2);
  if (!hours) { return {}; }
  take(text, ":");
  const auto minutes = text.empty() ? std::optional(0) : take_digits(text, 2);
  if (!minutes || !text.empty()) { return {}; }
  return sign * (*hours * 3600 + *minutes * 60);
}

}  // namespace

std::optional<LogTime> date_of(std::string_view text) {
  const auto year = take_digits(text, 4);
  const bool dash = take(text, "-/");
  const auto month = take_digits(text, 2);
  const bool second_dash = take(text, "-/");
  const auto day = take_digits(text, 2);
  if (!year || !dash || !month || !second_dash || !day) { return {}; }
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) { return {}; }
  std::int64_t time = std::chrono::sys_days(date).time_since_epoch().count() * 86'400 * kSecond;
  if (text.empty()) { return LogTime{time}; }
  if (!take(text, "T ")) { return {}; }
  const auto hour = take_digits(text, 2);
  const bool colon = take(text, ":");
  const auto minute = take_digits(text, 2);
  if (!hour || !colon || !minute || *hour > 24 || *minute > 59) { return {}; }
  const auto second = take(text, ":") ? take_digits(text, 2) : std::optional(0);
  if (!second || *second > 60) { return {}; }
  time += (*hour * 3600 + *minute * 60 + *second) * kSecond + take_fraction(text);
  const auto zone = zone_of(text);
  if (!zone) { return {}; }
  return LogTime{time - *zone * kSecond};
}

std::optional<WallTime> seconds_of_text(std::string_view text) {
  const auto number = number_of(text);
  if (!number || !(*number >= 0) || *number > 9e12) { return {}; }
  return WallTime{std::llround(*number * static_cast<double>(kSecond))};
}

void JobLog::pass_over_queue(std::string_view queue) {
  constexpr std::size_t kSome = 5;  // to be named where no job is selected: of which queues one could be
  const bool known = std::find(other_queues_.begin(), other_queues_.end(), queue) != other_queues_.end();
  if (other_queues_.size() < kSome && !known) { other_queues_.emplace_back(queue); }
}

bool JobLog::is_selected(const LoggedJob& job) {
  const std::vector<std::string>& queues = selection_.queues;
  if (!queues.empty() && std::find(queues.begin(), queues.end(), job.queue) == queues.end()) {
    pass_over_queue(job.queue);
    return false;
  }
  return (!selection_.from || job.submitted >= *selection_.from) && (!selection_.to || job.submitted < *selection_.to);
}

void JobLog::add(const LoggedJob& logged) {
  ++rows_;
  if (!is_selected(logged)) { return; }
  Job job;
  job.name = list_.name(logged.name);
  job.user = list_.name(logged.user);
  job.queue = list_.name(logged.queue);
  job.shape = list_.shape(logged.shape);
  job.submitted = logged.submitted;
  job.duration = logged.duration;
  job.limit = logged.limit.value_or(WallTime::max());
  job.expected = logged.predicted.value_or(logged.limit.value_or(logged.duration));
  job.priority = logged.priority;
  job.preemptible = logged.preemptible;
  job.retries = logged.retries;
  job.application = list_.name(logged.application);
  job.batch = logged.batch;
  job.least_gpus = logged.least_gpus;
  job.most_gpus = logged.most_gpus;
  list_.jobs.push_back(job);
  if (!logged.started && waits_.empty()) { return; }
  waits_.resize(list_.size());
  if (logged.started) { waits_.back() = *logged.started - logged.submitted; }
}

void JobLog::leave_out(std::string_view reason, const SourceLocation& place) {
  ++rows_;
  ++left_out_.try_emplace(std::string(reason), LeftOut{0, place.line}).first->second.rows;
}

void JobLog::has_no_effect(std::string_view what, const SourceLocation& place) {
  ++without_effect_.try_emplace(std::string(what), LeftOut{0, place.line}).first->second.rows;
}

void JobLog::finish() {
  std::vector<std::uint32_t> order(list_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto submitted = [&](std::uint32_t job) { return list_.jobs[JobId{job}].submitted; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return submitted(a) < submitted(b); });
  if (selection_.most > 0 && order.size() > selection_.most) { order.resize(selection_.most); }
  if (!order.empty()) { zero_ = selection_.from.value_or(beginning_.value_or(submitted(order.front()))); }
  IdVector<JobId, Job> jobs;
  std::vector<std::optional<WallTime>> waits;
  for (const std::uint32_t from : order) {
    jobs.push_back(list_.jobs[JobId{from}]);
    jobs.back().submitted -= zero_;
    if (!waits_.empty()) { waits.push_back(from < waits_.size() ? waits_[from] : std::nullopt); }
  }
  list_.jobs = std::move(jobs);
  waits_ = std::move(waits);
}

}  // namespace athanor
