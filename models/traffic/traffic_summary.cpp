#include "models/traffic/traffic_summary.hpp"

#include <algorithm>
#include <numeric>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// Requires sorted values, at least one.
template <class Value>
Value percentile(const std::vector<Value>& sorted, std::int64_t p) {
  const auto count = static_cast<std::int64_t>(sorted.size());
  return sorted[static_cast<std::size_t>(ceil_div(p * count, 100) - 1)];
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// A message of no time has all of its bandwidth.
double slowdown(const MessageTimes& message) {
  const Time took = message.end - message.start;
  return took == message.alone ? 1 : seconds(took) / seconds(message.alone);
}

CompletionTimes completion_of(const std::vector<MessageTimes>& messages) {
  std::vector<Time> times;
  std::vector<double> slowdowns;
  Wide sum = 0;
  for (const MessageTimes& message : messages) {
    times.push_back(message.end - message.start);
    slowdowns.push_back(slowdown(message));
    sum += times.back().count();
  }
  std::sort(times.begin(), times.end());
  std::sort(slowdowns.begin(), slowdowns.end());
  const auto count = static_cast<std::int64_t>(messages.size());
  return {Time{static_cast<std::int64_t>(sum / count)},   percentile(times, 50),    percentile(times, 99), times.back(),
          sum_of(slowdowns) / static_cast<double>(count), percentile(slowdowns, 99)};
}

}  // namespace

TrafficSummary summary_of(const SimulatedTraffic& traffic) {
  require(!traffic.messages.empty(), "traffic of no message");
  TrafficSummary summary;
  summary.messages = traffic.messages.size();
  summary.time = traffic.time;
  for (const MessageTimes& message : traffic.messages) { summary.bytes += message.size; }
  std::vector<double> ratios = traffic.throughput_ratios;
  if (ratios.empty()) {
    summary.completion = completion_of(traffic.messages);
    summary.goodput = static_cast<double>(summary.bytes.count()) / seconds(traffic.time);
    for (const MessageTimes& message : traffic.messages) { ratios.push_back(1 / slowdown(message)); }
  } else {
    summary.goodput = sum_of(traffic.rates);
  }
  const double sum = sum_of(ratios);
  const double squares = std::inner_product(ratios.begin(), ratios.end(), ratios.begin(), 0.0);
  summary.throughput_ratio = sum / static_cast<double>(ratios.size());
  summary.least_throughput_ratio = *std::min_element(ratios.begin(), ratios.end());
  summary.fairness = squares > 0 ? sum * sum / (static_cast<double>(ratios.size()) * squares) : 1;
  return summary;
}

}  // namespace athanor
