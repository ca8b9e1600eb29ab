#include "models/experiments/background_traffic.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/random.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

const CallEstimate& MessagePrices::of(const TrafficMatrix::Connection& connection, Bytes size) {
  const auto [found, fresh] = known_.try_emplace({{connection.from, connection.to}, size});
  if (fresh) {
    Workload::Channel channel;
    channel.pairs = std::make_shared<const EndpointGroups>(EndpointGroups{{connection.from, connection.to}});
    found->second = timer_.estimate(channel, size);
  }
  return found->second;
}

BackgroundMessages::BackgroundMessages(const TrafficMatrix& matrix, std::optional<Time> every, MessagePrices& prices) {
  for (std::uint32_t number = 0; number < matrix.messages.size(); ++number) { add_message(matrix, number, prices); }
  begin_behind(matrix);
  const auto end = static_cast<std::uint32_t>(step_.transfers.size());
  for (ContestedStep::Transfer& each : step_.transfers) { each.successors.push_back({end, Time::zero()}); }
  step_.end_waits_for = end;
  if (every) {
    step_.first.push_back({end, *every});
    ++step_.end_waits_for;
  }
  demand_ = link_demand(estimates_, most_);
}

void BackgroundMessages::add_message(const TrafficMatrix& matrix, std::uint32_t number, MessagePrices& prices) {
  const TrafficMatrix::Message& message = matrix.messages[number];
  const CallEstimate& price = prices.of(matrix.connections[message.connection], message.size);
  const auto [found, fresh] = numbers_.try_emplace(&price, static_cast<std::uint32_t>(own_.size()));
  if (fresh) {
    own_.push_back(price);
    estimates_.estimates.push_back(&own_.back());
    most_.push_back(0);
  }
  ++most_[found->second];
  step_.transfers.push_back({found->second, 0, {}});
}

/// Messages that wait for triggers wait for those that fire them.
void BackgroundMessages::begin_behind(const TrafficMatrix& matrix) {
  std::map<std::uint32_t, std::uint32_t> last;  // by connection
  std::map<std::uint32_t, std::vector<std::uint32_t>> started;
  for (std::uint32_t number = 0; number < matrix.messages.size(); ++number) {
    const TrafficMatrix::Message& message = matrix.messages[number];
    if (message.trigger != TrafficMatrix::kNoTrigger) {
      started[message.trigger].push_back(number);
      step_.transfers[number].waits_for += matrix.triggers[message.trigger];
    } else {
      step_.first.push_back({number, message.start});
      ++step_.transfers[number].waits_for;
    }
    const auto [found, fresh] = last.try_emplace(message.connection, number);
    if (fresh) { continue; }
    step_.transfers[found->second].successors.push_back({number, Time::zero()});
    ++step_.transfers[number].waits_for;
    found->second = number;
  }
  for (std::uint32_t number = 0; number < matrix.messages.size(); ++number) {
    const TrafficMatrix::Message& message = matrix.messages[number];
    for (std::uint32_t fired = message.first_fired; fired < message.first_fired + message.fired; ++fired) {
      for (const std::uint32_t next : started[matrix.fires[fired]]) {
        step_.transfers[number].successors.push_back({next, matrix.messages[next].start});
      }
    }
  }
}

RepeatedStep BackgroundMessages::step() const {
  return {.step = &step_, .estimates = &estimates_, .most = &most_, .counts = false};
}

std::vector<std::vector<LinkShare>> streams_of(const TrafficMatrix& matrix, Bandwidth rate, const Cluster& cluster,
                                               MessagePrices& prices) {
  constexpr Bytes kProbe{1'000'000'000};
  constexpr double kFull = 1 + 1e-9;
  std::vector<std::vector<LinkShare>> all;
  std::map<std::uint32_t, double> sums;
  for (const TrafficMatrix::Connection& connection : matrix.connections) {
    const CallEstimate& price = prices.of(connection, kProbe);
    const double alone = static_cast<double>(kProbe.count()) / seconds(price.transfer());
    std::vector<LinkShare>& own = all.emplace_back(price.transfer_shares());
    for (LinkShare& part : own) {
      part.share *= static_cast<double>(rate.count()) / alone;
      if ((sums[part.link] += part.share) <= kFull) { continue; }
      throw SimulationError("traffic-too-fast",
                            fmt::format("streams of {} would need {:.0f} % of the link {}", to_string(rate),
                                        100 * sums[part.link], cluster.fabric->name(LinkId{part.link})));
    }
  }
  return all;
}

void spread_by_chance(TrafficMatrix& matrix, Time mean, std::uint64_t seed) {
  RandomStream random(seed, "arrivals of background traffic");
  Time now;
  for (TrafficMatrix::Message& message : matrix.messages) {
    message.start += now;
    const double uniform = (static_cast<double>(random.bits() >> 11U) + 0.5) * 0x1p-53;
    now += Time{std::llround(-std::log(uniform) * static_cast<double>(mean.count()))};
  }
}

}  // namespace athanor
