#pragma once

#include <vector>

#include "models/network/packet/transport.hpp"

namespace athanor {

/// The reaction point of DCQCN. Its timers cost no events: what they did is found out when a packet leaves or a notice
/// arrives.
class Dcqcn final : public CongestionControl {
 public:
  Dcqcn(const DcqcnSpec& spec, const std::vector<Bandwidth>& line_rates);

  Time paced(std::uint32_t flow, std::uint32_t bytes, Time start) override;
  void congestion_notice(std::uint32_t flow, Time now) override;

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
  std::vector<Flow> flows_;
};

}  // namespace athanor
