#include "models/network/packet/dcqcn.hpp"

#include <algorithm>

#include "sim/ratio.hpp"

namespace athanor {

namespace {

double bytes_per_second(Bandwidth rate) { return static_cast<double>(rate.count()); }

}  // namespace

Dcqcn::Dcqcn(const DcqcnSpec& spec, const std::vector<Bandwidth>& line_rates)
    : spec_(spec), gain_(to_double(spec.gain)), flows_(line_rates.size()) {
  for (std::size_t flow = 0; flow < flows_.size(); ++flow) {
    flows_[flow].line = flows_[flow].current = flows_[flow].target = bytes_per_second(line_rates[flow]);
  }
}

Time Dcqcn::paced(std::uint32_t number, std::uint32_t bytes, Time start) {
  Flow& flow = flows_[number];
  if (!flow.limited) { return start; }
  flow.sent += bytes;
  catch_up(flow, start);
  if (!flow.limited) { return start; }
  return start + Time{static_cast<std::int64_t>(bytes * 1e12 / flow.current)};
}

/// Lets the timers and the byte counter fire as often as they have to by now, in that order.
void Dcqcn::catch_up(Flow& flow, Time now) const {
  while (now - flow.alpha_since >= spec_.alpha_interval) {
    flow.alpha_since += spec_.alpha_interval;
    flow.alpha *= 1 - gain_;
  }
  while (flow.limited && now - flow.timer_since >= spec_.increase_interval) {
    flow.timer_since += spec_.increase_interval;
    ++flow.timer_rounds;
    increase(flow);
  }
  const auto every = static_cast<double>(spec_.increase_bytes.count());
  while (flow.limited && flow.sent >= every) {
    flow.sent -= every;
    ++flow.byte_rounds;
    increase(flow);
  }
}

/// Fast recovery, then additive increase, then hyper increase: by how often the timer and the counter have fired.
void Dcqcn::increase(Flow& flow) const {
  const std::uint32_t least = std::min(flow.timer_rounds, flow.byte_rounds);
  const std::uint32_t most = std::max(flow.timer_rounds, flow.byte_rounds);
  if (least > spec_.recovery_rounds) {
    flow.target += (least - spec_.recovery_rounds) * bytes_per_second(spec_.hyper_increase);
  } else if (most > spec_.recovery_rounds) {
    flow.target += bytes_per_second(spec_.additive_increase);
  }
  flow.target = std::min(flow.target, flow.line);
  flow.current = (flow.target + flow.current) / 2;
  if (flow.line - flow.current < flow.line * 1e-6) {
    flow.current = flow.target = flow.line;
    flow.limited = false;
  }
}

void Dcqcn::congestion_notice(std::uint32_t number, Time now) {
  Flow& flow = flows_[number];
  if (flow.limited) {
    catch_up(flow, now);
  } else {
    const auto periods = (now - flow.alpha_since) / spec_.alpha_interval;  // alpha falls on an unlimited flow too
    for (std::int64_t k = 0; k < std::min<std::int64_t>(periods, 1'000'000) && flow.alpha > 1e-9; ++k) {
      flow.alpha *= 1 - gain_;
    }
  }
  flow.limited = true;
  flow.target = flow.current;
  flow.current = std::max(flow.current * (1 - flow.alpha / 2), bytes_per_second(spec_.least_rate));
  flow.alpha = (1 - gain_) * flow.alpha + gain_;
  flow.alpha_since = flow.timer_since = now;
  flow.sent = 0;
  flow.timer_rounds = flow.byte_rounds = 0;
}

}  // namespace athanor
