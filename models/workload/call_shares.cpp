#include "models/workload/call_shares.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// Rounding: a link that is full to a millionth is full.
constexpr double kFull = 1 + 1e-6;

using Row = std::vector<std::pair<std::uint32_t, double>>;

/// Of each link that calls use, who takes how much of it; links in ascending order.
class LinkRows {
 public:
  explicit LinkRows(const std::vector<std::vector<LinkShare>>& estimates) {
    for (const std::vector<LinkShare>& estimate : estimates) {
      for (const LinkShare& part : estimate) {
        require(part.share <= kFull, "a call takes {} of link {}", part.share, part.link);
        if (part.link + std::size_t{2} > first_.size()) { first_.resize(part.link + std::size_t{2}); }
        ++first_[part.link + 1];
      }
    }
    for (std::size_t link = 1; link < first_.size(); ++link) { first_[link] += first_[link - 1]; }
    entries_.resize(first_.empty() ? 0 : first_.back());
    std::vector<std::size_t> next = first_;
    for (std::uint32_t estimate = 0; estimate < estimates.size(); ++estimate) {
      for (const LinkShare& part : estimates[estimate]) { entries_[next[part.link]++] = {estimate, part.share}; }
    }
  }

  std::size_t links() const { return first_.empty() ? 0 : first_.size() - 1; }
  /// In ascending order of estimates.
  std::span<const std::pair<std::uint32_t, double>> row(std::size_t link) const {
    return std::span(entries_).subspan(first_[link], first_[link + 1] - first_[link]);
  }

 private:
  std::vector<std::size_t> first_;  ///< by link, into entries_
  Row entries_;
};

bool may_be_short(std::span<const std::pair<std::uint32_t, double>> row, const std::vector<std::uint32_t>& most) {
  double sum = 0;
  for (const auto& [estimate, share] : row) { sum += most[estimate] * share; }
  return sum > kFull;
}

/// 0 for the highest priority, 1 for the next one that there is, ...
std::vector<std::uint32_t> levels_of(const std::vector<std::uint32_t>& priorities, std::size_t estimates) {
  std::map<std::uint32_t, std::uint32_t, std::greater<>> levels;
  for (const std::uint32_t each : priorities) { levels.emplace(each, 0); }
  std::uint32_t next = 0;
  for (auto& [priority, level] : levels) { level = next++; }
  std::vector<std::uint32_t> all(estimates);
  for (std::size_t each = 0; each < priorities.size(); ++each) { all[each] = levels.at(priorities[each]); }
  return all;
}

}  // namespace

CallShares::CallShares(const std::vector<std::vector<LinkShare>>& estimates, const std::vector<std::uint32_t>& most,
                       const std::vector<std::uint32_t>& priorities)
    : level_(levels_of(priorities, estimates.size())),
      levels_(level_.empty() ? 1 : *std::max_element(level_.begin(), level_.end()) + 1),
      running_(estimates.size()),
      speed_(estimates.size(), 1),
      frozen_(estimates.size()),
      seen_estimate_(estimates.size()) {
  std::map<Row, std::uint32_t> distinct;
  const LinkRows rows_by_link(estimates);
  for (std::size_t link = 0; link < rows_by_link.links(); ++link) {
    const auto row = rows_by_link.row(link);
    if (may_be_short(row, most)) { distinct.emplace(Row(row.begin(), row.end()), 0); }
  }
  std::vector<std::vector<std::uint32_t>> of_estimate(estimates.size());
  for (auto& [row, number] : distinct) {
    number = static_cast<std::uint32_t>(first_.size() - 1);
    for (const auto& [estimate, share] : row) {
      entries_.push_back({estimate, share});
      of_estimate[estimate].push_back(number);
    }
    first_.push_back(static_cast<std::uint32_t>(entries_.size()));
  }
  rows_of_.push_back(0);
  for (const std::vector<std::uint32_t>& own : of_estimate) {
    rows_.insert(rows_.end(), own.begin(), own.end());
    rows_of_.push_back(static_cast<std::uint32_t>(rows_.size()));
  }
  seen_row_.resize(rows());
}

void CallShares::find_touched(std::uint32_t estimate) {
  touched_.assign(1, estimate);
  touched_rows_.clear();
  seen_estimate_[estimate] = 1;
  for (std::size_t next = 0; next < touched_.size(); ++next) {
    const std::uint32_t from = touched_[next];
    for (std::uint32_t i = rows_of_[from]; i < rows_of_[from + 1]; ++i) {
      const std::uint32_t row = rows_[i];
      if (seen_row_[row] != 0) { continue; }
      seen_row_[row] = 1;
      touched_rows_.push_back(row);
      for (std::uint32_t e = first_[row]; e < first_[row + 1]; ++e) {
        const std::uint32_t other = entries_[e].estimate;
        if (running_[other] == 0 || seen_estimate_[other] != 0) { continue; }
        seen_estimate_[other] = 1;
        touched_.push_back(other);
      }
    }
  }
  for (const std::uint32_t each : touched_) { seen_estimate_[each] = 0; }
  for (const std::uint32_t row : touched_rows_) { seen_row_[row] = 0; }
}

bool CallShares::overloaded(std::uint32_t row) const {
  double sum = 0;
  for (std::uint32_t e = first_[row]; e < first_[row + 1]; ++e) {
    const Entry& entry = entries_[e];
    sum += running_[entry.estimate] * entry.share * speed_[entry.estimate];
  }
  return sum > kFull;
}

/// What those whose speed is settled leave, shared out: everyone gets what it takes or the level, whichever is less.
CallShares::Cut CallShares::cut(std::uint32_t row) const {
  constexpr double kNothing = 1e-9;  // what rounding leaves of a link that is full
  double left = 1;
  double count = 0;
  std::vector<std::pair<double, double>> open;  // share, how many run
  for (std::uint32_t e = first_[row]; e < first_[row + 1]; ++e) {
    const Entry& entry = entries_[e];
    const double running = running_[entry.estimate];
    if (running == 0 || speed_[entry.estimate] == 0) { continue; }
    if (frozen_[entry.estimate]) {
      left -= running * entry.share * speed_[entry.estimate];
    } else {
      open.emplace_back(entry.share, running);
      count += running;
    }
  }
  if (left < kNothing) { left = 0; }
  std::sort(open.begin(), open.end());
  for (const auto& [share, running] : open) {
    if (share * count > left) { break; }
    left -= share * running;
    count -= running;
  }
  require(!open.empty() && count > 0, "a link that is too full has nobody to slow down");
  const double level = left / count;
  return {level, open.back().first, level / open.back().first};
}

/// Who is slowed down most comes first, and only those as wide: what else a link would slow down, another may slow down
/// more. Speeds are then settled in ascending order, so that nobody takes more of any link than its cut had left for
/// it.
void CallShares::share_rows(std::uint32_t level) {
  for (const std::uint32_t each : touched_) {
    if (level_[each] == level) { speed_[each] = 1; }
  }
  for (;;) {
    std::uint32_t worst = UINT32_MAX;
    Cut found;
    for (const std::uint32_t row : touched_rows_) {
      if (!overloaded(row)) { continue; }
      const Cut here = cut(row);
      if (worst == UINT32_MAX || here.speed < found.speed) {
        worst = row;
        found = here;
      }
    }
    if (worst == UINT32_MAX) { return; }
    for (std::uint32_t e = first_[worst]; e < first_[worst + 1]; ++e) {
      const Entry& entry = entries_[e];
      if (running_[entry.estimate] == 0 || frozen_[entry.estimate] || level_[entry.estimate] != level ||
          entry.share < found.widest) {
        continue;
      }
      speed_[entry.estimate] = found.level / entry.share;
      frozen_[entry.estimate] = true;
    }
  }
}

const std::vector<std::uint32_t>& CallShares::update(std::uint32_t estimate) {
  find_touched(estimate);
  for (const std::uint32_t each : touched_) { speed_[each] = 0; }
  for (std::uint32_t level = 0; level < levels_; ++level) {
    share_rows(level);
    for (const std::uint32_t each : touched_) { frozen_[each] = frozen_[each] || level_[each] == level; }
  }
  for (const std::uint32_t each : touched_) { frozen_[each] = false; }
  return touched_;
}

}  // namespace athanor
