#include <algorithm>

#include "models/network/packet/congestion/entry.hpp"
#include "sim/config/fields.hpp"
#include "sim/ratio.hpp"

namespace athanor {

using namespace literals;

namespace {

/// DCQCN as in Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, with its names.
struct DcqcnSpec {
  Ratio gain{1, 256};                      ///< g
  Time notice_interval{50'000'000};        ///< least between two congestion notices of a flow
  Time alpha_interval{55'000'000};         ///< without a notice: alpha falls
  Time increase_interval{55'000'000};      ///< T of the rate increase
  Bytes increase_bytes{10'000'000};        ///< B of the rate increase
  std::uint32_t recovery_rounds = 5;       ///< F
  Bandwidth additive_increase{5'000'000};  ///< 40 Mb/s
  Bandwidth hyper_increase{25'000'000};    ///< 200 Mb/s
  Bandwidth least_rate{5'000'000};
};

/// The reaction point of DCQCN. Its timers cost no events: what they did is found out when a packet leaves or a notice
/// arrives.
class Dcqcn final : public CongestionControl {
 public:
  Dcqcn(const DcqcnSpec& spec, const ControlSite& site);

  Time paced(ConnectionId flow, std::uint32_t bytes, Time start) override;
  void congestion_notice(ConnectionId flow, Time now) override;
  double level(ConnectionId flow) const override { return flows_[flow].current; }
  bool paces(ConnectionId flow) const override { return flows_[flow].limited; }
  bool has_timers(ConnectionId flow) const override { return flows_[flow].limited; }
  void skip(ConnectionId flow, Time by, std::uint32_t packets) override;

 private:
  struct Flow {
    double line = 0;     ///< bytes per second, as the next two
    double current = 0;  ///< R_C
    double target = 0;   ///< R_T
    double alpha = 1;
    bool limited = false;  ///< a notice has come since the rate was last the line's
    Time alpha_since;      ///< when alpha was last changed
    Time timer_since;      ///< when the increase timer last fired
    double sent = 0;       ///< bytes since the byte counter last fired
    std::uint32_t timer_rounds = 0;
    std::uint32_t byte_rounds = 0;
  };
  void catch_up(Flow& flow, Time now) const;
  void increase(Flow& flow) const;

  DcqcnSpec spec_;
  double gain_;
  IdVector<ConnectionId, Flow> flows_;
};

double bytes_per_second(Bandwidth rate) { return static_cast<double>(rate.count()); }

Dcqcn::Dcqcn(const DcqcnSpec& spec, const ControlSite& site)
    : spec_(spec), gain_(to_double(spec.gain)), flows_(site.line_rates.size()) {
  for (const ConnectionId flow : flows_.ids()) {
    flows_[flow].line = flows_[flow].current = flows_[flow].target = bytes_per_second(site.line_rates[flow]);
  }
}

Time Dcqcn::paced(ConnectionId number, std::uint32_t bytes, Time start) {
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

/// Alpha of a flow that nothing limits falls meanwhile.
void Dcqcn::skip(ConnectionId number, Time by, std::uint32_t /*packets*/) {
  Flow& flow = flows_[number];
  if (!flow.limited) { return; }
  flow.alpha_since += by;
  flow.timer_since += by;
}

void Dcqcn::congestion_notice(ConnectionId number, Time now) {
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

}  // namespace

struct DcqcnControl : ControlKind {
  static ControlWords description() {
    return {.name = "dcqcn", .meaning = "rates that congestion notices cut", .has_keys = true, .needs_marks = true};
  }
  void visit(Fields& fields) override {
    fields.optional("gain", spec_.gain, "g: weight of a congestion notice in the average of them", {{0, 1}, {1, 1}});
    fields.optional("notice_interval", spec_.notice_interval, "Least between two congestion notices of a flow",
                    {1_ns, 1_s});
    fields.optional("alpha_interval", spec_.alpha_interval, "Without a notice for so long, alpha falls", {1_ns, 1_s});
    fields.optional("increase_interval", spec_.increase_interval, "T: the rate increases each time", {1_ns, 1_s});
    fields.optional("increase_bytes", spec_.increase_bytes, "B: the rate increases each time so much was sent",
                    {1_B, 1024_GiB});
    fields.optional("recovery_rounds", spec_.recovery_rounds, "F: increases that only go back to the rate before",
                    {1, 1000});
    fields.optional("additive_increase", spec_.additive_increase, "R_AI, of the rate aimed at, after recovery");
    fields.optional("hyper_increase", spec_.hyper_increase, "R_HAI, once timer and bytes are both past recovery");
    fields.optional("least_rate", spec_.least_rate, "No flow is made slower");
  }
  std::unique_ptr<CongestionControl> make(const ControlSite& site) const override {
    return std::make_unique<Dcqcn>(spec_, site);
  }
  std::optional<Time> notice_interval() const override { return spec_.notice_interval; }

 private:
  DcqcnSpec spec_;
};

template ControlEntry control_entry_of<DcqcnControl>();

}  // namespace athanor
