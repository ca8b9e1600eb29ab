#include "tools/calibrate/parameters.hpp"

#include <cmath>

#include <fmt/core.h>

namespace athanor {

namespace {

CostParameter time(const char* name, Time ThreadCosts::*member, double most_ns) {
  return {name,
          0.1 * kNanosecond,
          most_ns * kNanosecond,
          true,
          [member](const ThreadCosts& costs) { return static_cast<double>((costs.*member).count()); },
          [member](ThreadCosts& costs, double value) { costs.*member = Time{std::llround(value)}; }};
}

CostParameter rate(std::string name, std::function<Bandwidth&(ThreadCosts&)> member) {
  return {std::move(name),
          0.2 * kGigabyte,
          2000 * kGigabyte,
          false,
          [member](ThreadCosts costs) { return static_cast<double>(member(costs).count()); },
          [member](ThreadCosts& costs, double value) { member(costs) = Bandwidth{std::llround(value)}; }};
}

}  // namespace

std::vector<CostParameter> byte_parameters(std::size_t levels) {
  std::vector<CostParameter> all;
  for (std::size_t level = 0; level < levels; ++level) {
    all.push_back(rate(fmt::format("caches[{}].rate", level),
                       [level](ThreadCosts& costs) -> Bandwidth& { return costs.caches[level].rate; }));
  }
  all.push_back(rate("memory_rate", [](ThreadCosts& costs) -> Bandwidth& { return costs.memory_rate; }));
  const std::size_t last = levels - 1;
  all.push_back({fmt::format("caches[{}].size", last), 1 << 20, 4e9, false,
                 [last](const ThreadCosts& costs) { return static_cast<double>(costs.caches[last].size.count()); },
                 [last](ThreadCosts& costs, double value) { costs.caches[last].size = Bytes{std::llround(value)}; }});
  return all;
}

std::vector<CostParameter> step_parameters() {
  return {time("start", &ThreadCosts::start, 10e3), time("lane", &ThreadCosts::lane, 10e3),
          time("dispatch", &ThreadCosts::turn, 10e3), time("primitive", &ThreadCosts::primitive, 10e3),
          time("port", &ThreadCosts::port, 10e3)};
}

std::vector<CostParameter> couple_parameters(std::size_t private_levels) {
  std::vector<CostParameter> all{
      time("meeting", &ThreadCosts::meeting, 100e3),    time("remote_port", &ThreadCosts::remote_port, 10e3),
      time("poll_delay", &ThreadCosts::notice, 10e3),   time("remote_latency", &ThreadCosts::remote_latency, 10e3),
      time("spin_time", &ThreadCosts::patience, 100e6), time("wake", &ThreadCosts::wake, 100e6)};
  for (std::size_t level = 0; level < private_levels; ++level) {
    all.push_back(rate(fmt::format("caches[{}].remote_rate", level),
                       [level](ThreadCosts& costs) -> Bandwidth& { return costs.caches[level].remote_rate; }));
  }
  return all;
}

}  // namespace athanor
