#include "models/jobs/data/share_rates.hpp"

#include <algorithm>
#include <limits>

namespace athanor {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// What is left of a resource below this share of it is rounding.
constexpr double kNothing = 1e-12;

class Filling {
 public:
  Filling(const std::vector<RateClaim>& claims, std::vector<double> capacities)
      : claims_(claims), capacities_(std::move(capacities)), left_(capacities_), rates_(claims.size()) {
    for (std::uint32_t i = 0; i < claims.size(); ++i) { growing_.push_back(i); }
  }

  std::vector<double> fill() {
    while (!growing_.empty()) {
      grow();
      std::erase_if(growing_, [this](std::uint32_t claim) { return is_done(claim); });
    }
    return std::move(rates_);
  }

 private:
  /// All by their weights until a resource is used up; or, where some have enough before that, these alone.
  void grow() {
    std::vector<double> taken(left_.size());
    for (const std::uint32_t i : growing_) {
      for (const auto& [resource, each] : claims_[i].takes) { taken[resource] += each * claims_[i].weight; }
    }
    double step = kNever;
    for (std::size_t r = 0; r < left_.size(); ++r) {
      if (taken[r] > 0) { step = std::min(step, left_[r] / taken[r]); }
    }
    const auto has_enough = [&](std::uint32_t i) {
      return claims_[i].most - rates_[i] <= std::max(step, 0.0) * claims_[i].weight;
    };
    const bool some = std::any_of(growing_.begin(), growing_.end(), has_enough);
    for (const std::uint32_t i : growing_) {
      if (some && !has_enough(i)) { continue; }
      take(i, some ? claims_[i].most - rates_[i] : std::max(step, 0.0) * claims_[i].weight);
    }
    for (std::size_t r = 0; r < left_.size(); ++r) {
      if (left_[r] <= kNothing * capacities_[r]) { left_[r] = 0; }
    }
  }

  void take(std::uint32_t claim, double more) {
    rates_[claim] += more;
    for (const auto& [resource, each] : claims_[claim].takes) { left_[resource] -= each * more; }
  }

  bool is_done(std::uint32_t claim) const {
    const RateClaim& c = claims_[claim];
    if (rates_[claim] >= c.most * (1 - kNothing)) { return true; }
    return std::any_of(c.takes.begin(), c.takes.end(),
                       [&](const auto& take) { return take.second > 0 && left_[take.first] <= 0; });
  }

  const std::vector<RateClaim>& claims_;
  std::vector<double> capacities_;
  std::vector<double> left_;
  std::vector<double> rates_;
  std::vector<std::uint32_t> growing_;
};

}  // namespace

std::vector<double> share_rates(const std::vector<RateClaim>& claims, std::vector<double> capacities) {
  return Filling(claims, std::move(capacities)).fill();
}

}  // namespace athanor
