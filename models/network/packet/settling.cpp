#include "models/network/packet/settling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/check.hpp"
#include "sim/ratio.hpp"

namespace athanor {

namespace {

/// Skipped beyond what was simulated, however exactly rates seem to repeat: a second opinion is cheap.
constexpr double kMostPerSample = 500;

}  // namespace

std::uint32_t PacketRate::within(Time time) const {
  return static_cast<std::uint32_t>(Wide{packets} * time.count() / span.count());
}

Time PacketRate::time_of(std::uint64_t count) const {
  return Time{
      static_cast<std::int64_t>((Wide{static_cast<std::int64_t>(count)} * span.count() + packets - 1) / packets)};
}

SettlingHistory::SettlingHistory(std::vector<std::uint32_t> kinds, Time distance)
    : kinds_(std::move(kinds)), first_distance_(distance), distance_(distance) {
  for (std::uint32_t flow = 0; flow < kinds_.size(); ++flow) {
    if (kinds_[flow] >= members_.size()) { members_.resize(kinds_[flow] + 1); }
    members_[kinds_[flow]].push_back(flow);
  }
}

void SettlingHistory::clear() {
  samples_.clear();
  distance_ = first_distance_;
  skipped_ = Time::zero();
}

void SettlingHistory::add(const std::vector<FlowSample>& row) {
  require(row.size() == kinds_.size(), "a row of {} samples, of {} flows", row.size(), kinds_.size());
  samples_.insert(samples_.end(), row.begin(), row.end());
  if (rows() <= kMostRows) { return; }
  const std::size_t flows = kinds_.size();
  std::size_t kept = 0;
  for (std::size_t from = 0; from < rows(); from += 2, ++kept) {
    std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(from * flows), flows,
                samples_.begin() + static_cast<std::ptrdiff_t>(kept * flows));
  }
  samples_.resize(kept * flows);
  distance_ = distance_ + distance_;
}

void SettlingHistory::skip(Time by, const std::vector<std::uint32_t>& packets) {
  skipped_ += by;
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    samples_[k].delivered += packets[k % kinds_.size()];
    samples_[k].when += by;
  }
}

namespace {

/// Packets per picosecond from one sample to a later one.
double rate(const FlowSample& from, const FlowSample& to) {
  if (from.delivered == to.delivered) { return 0; }
  return static_cast<double>(to.delivered - from.delivered) / static_cast<double>((to.when - from.when).count());
}

}  // namespace

/// Of one flow.
double SettlingHistory::mean_rate(const std::vector<std::uint32_t>& flows, std::size_t from, std::size_t to) const {
  double sum = 0;
  for (const std::uint32_t flow : flows) { sum += rate(at(from, flow), at(to, flow)); }
  return sum / static_cast<double>(flows.size());
}

/// The standard error of a mean rate, as a share of it, from how the rates between rows scatter.
double SettlingHistory::error_of(const std::vector<std::uint32_t>& flows, double mean, std::size_t first) const {
  const std::size_t last = rows() - 1;
  double squares = 0;
  for (std::size_t row = first; row < last; ++row) {
    const double difference = mean_rate(flows, row, row + 1) / mean - 1;
    squares += difference * difference;
  }
  const auto batches = static_cast<double>(last - first);
  return std::sqrt(squares / (batches - 1) / batches);
}

/// Does no flow differ from the others by more than the bound and what may be chance?
bool SettlingHistory::alike(const std::vector<std::uint32_t>& flows, std::size_t first, double bound) const {
  constexpr double kChance = 3;  // standard errors
  const std::size_t last = rows() - 1;
  const double mean = mean_rate(flows, first, last);
  return std::all_of(flows.begin(), flows.end(), [&](std::uint32_t flow) {
    const double own = mean_rate({flow}, first, last);
    return own > 0 && std::abs(own / mean - 1) <= bound + kChance * error_of({flow}, own, first);
  });
}

struct SettlingHistory::Kind {
  const std::vector<std::uint32_t>& flows;
  double mean = 0;   ///< packets per picosecond of one flow
  double drift = 0;  ///< from the first half to the second, beyond what noise explains, as a share of the mean
};

/// Has a kind settled? Sets its mean and drift.
bool SettlingHistory::judge(Kind& kind, std::size_t first, double bound) const {
  const std::size_t last = rows() - 1;
  const std::size_t middle = (first + last) / 2;
  kind.mean = mean_rate(kind.flows, first, last);
  if (kind.mean <= 0) { return false; }
  const double error = error_of(kind.flows, kind.mean, first);
  const double halves =
      std::abs(mean_rate(kind.flows, middle, last) - mean_rate(kind.flows, first, middle)) / kind.mean;
  double more = 0;  // under way, on average over the second half, than over the first
  double delivered = 0;
  for (const std::uint32_t flow : kind.flows) {
    double before = 0;
    double after = 0;
    for (std::size_t row = first; row < middle; ++row) { before += at(row, flow).outstanding; }
    for (std::size_t row = middle; row < last; ++row) { after += at(row, flow).outstanding; }
    more += after / static_cast<double>(last - middle) - before / static_cast<double>(middle - first);
    delivered += at(last, flow).delivered - at(middle, flow).delivered;
  }
  kind.drift = std::max(0.0, halves - 2 * 2 * error);  // the difference of two halves has twice the error of the mean
  return error <= bound / 2 && halves <= bound && std::abs(more) <= bound * delivered;
}

/// Does what the control allows a flow go one way, or may it have yet to begin?
bool SettlingHistory::drifts(std::size_t flow, std::size_t first) const {
  constexpr std::uint32_t kLeastTurns = 4;
  std::uint32_t turns = 0;
  bool held = false;
  bool timed = false;
  double previous = 0;
  for (std::size_t row = first; row < rows(); ++row) {
    held = held || at(row, flow).held;
    timed = timed || at(row, flow).timed;
    if (row == first) { continue; }
    const double step = at(row, flow).level - at(row - 1, flow).level;
    if (step != 0 && previous != 0 && (step > 0) != (previous > 0)) { ++turns; }
    if (step != 0) { previous = step; }
  }
  return held && turns < kLeastTurns && (timed || previous != 0);
}

/// `share`: of a rate, by which it may change in a time as long as the rows from `first` on.
SettlingHistory::Settled SettlingHistory::limited(std::vector<PacketRate> rates, std::size_t first,
                                                  double share) const {
  const double sample = static_cast<double>(distance_.count()) * static_cast<double>(rows() - 1 - first);
  return {std::move(rates), Time{static_cast<std::int64_t>(sample * share)} - skipped_};
}

std::optional<SettlingHistory::Settled> SettlingHistory::settled(double bound) const {
  if (rows() < kLeastRows) { return {}; }
  const std::size_t first = rows() / 4;
  const std::size_t last = rows() - 1;
  double drift = bound / kMostPerSample;
  std::vector<PacketRate> rates(kinds_.size());
  const auto look_at = [&](const std::vector<std::uint32_t>& flows) {
    Kind kind{flows};
    if (!judge(kind, first, bound)) { return false; }
    drift = std::max(drift, kind.drift);
    PacketRate together{0, Time::zero()};
    for (const std::uint32_t flow : flows) {
      together.packets += at(last, flow).delivered - at(first, flow).delivered;
      together.span += at(last, flow).when - at(first, flow).when;
      if (drifts(flow, first)) { return false; }
    }
    for (const std::uint32_t flow : flows) { rates[flow] = together; }
    return true;
  };
  for (const std::vector<std::uint32_t>& flows : members_) {
    const bool together = flows.size() == 1 || alike(flows, first, bound);
    const bool fine =
        together ? look_at(flows)
                 : std::all_of(flows.begin(), flows.end(), [&](std::uint32_t flow) { return look_at({flow}); });
    if (!fine) { return {}; }
  }
  return limited(std::move(rates), first, bound / drift);
}

std::optional<SettlingHistory::Settled> SettlingHistory::confirmed(const std::vector<PacketRate>& rates,
                                                                   double bound) const {
  if (rows() < kRowsToConfirm) { return {}; }
  const std::size_t first = rows() / 2;
  for (const std::vector<std::uint32_t>& flows : members_) {
    double then = 0;
    for (const std::uint32_t flow : flows) { then += rates[flow].per_picosecond(); }
    then /= static_cast<double>(flows.size());
    if (std::abs(mean_rate(flows, first, rows() - 1) / then - 1) > bound) { return {}; }
  }
  return limited(rates, first, kMostPerSample);
}

std::vector<double> SettlingHistory::deviations(const std::vector<FlowSample>& since,
                                                const std::vector<PacketRate>& rates) const {
  std::vector<double> found;
  for (const std::vector<std::uint32_t>& flows : members_) {
    double now = 0;
    double then = 0;
    for (const std::uint32_t flow : flows) {
      now += rate(since[flow], at(rows() - 1, flow));
      then += rates[flow].per_picosecond();
    }
    found.push_back(std::abs(now / then - 1));
  }
  return found;
}

}  // namespace athanor
