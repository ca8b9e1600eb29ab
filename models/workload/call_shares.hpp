#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// What a call that runs alone takes of a link: the share of its rate, averaged over the call.
struct LinkShare {
  std::uint32_t link = 0;
  double share = 0;  ///< 0 to 1
};

/// How fast calls go that run at the same time: each as if alone (1) unless some link would have to carry more than its
/// rate. There, those that take most of it are cut to one equal rate, so that the link is full: max-min fair, as flows
/// share links, with each call as one flow that is as wide as what it takes on average. What is not seen: that two
/// calls may need a link at different moments, and that one of them has more flows on it.
class CallShares {
 public:
  /// `estimates`: of each kind of call, its links, each once. `most`: how many of each may run at once. Links that all
  /// of them together leave room on are forgotten, and links that are shared alike count once.
  /// `priorities`: by estimate; who has a higher one gets what it takes of links before others get anything. Empty: all
  /// are alike.
  CallShares(const std::vector<std::vector<LinkShare>>& estimates, const std::vector<std::uint32_t>& most,
             const std::vector<std::uint32_t>& priorities = {});

  /// Whether some link could be short for both, or for both with others.
  bool shares_links(std::uint32_t estimate) const { return rows_of_[estimate + 1] > rows_of_[estimate]; }

  /// Adds or removes one running call of an estimate.
  void start(std::uint32_t estimate) { ++running_[estimate]; }
  void end(std::uint32_t estimate) { --running_[estimate]; }

  /// The estimates whose speed may have changed with `estimate`: running estimates that share links with it, over
  /// others, too; itself included where it runs. Sets speed() of them.
  const std::vector<std::uint32_t>& update(std::uint32_t estimate);

  /// At which share of its own speed each running call of this estimate goes: at most 1, and more than 0 unless
  /// others have priority.
  double speed(std::uint32_t estimate) const { return speed_[estimate]; }

  std::size_t rows() const { return first_.size() - 1; }

 private:
  struct Entry {
    std::uint32_t estimate = 0;
    double share = 0;
  };
  struct Cut {
    double level = 0;  ///< the rate that the widest are cut to
    double widest = 1;
    double speed = 1;  ///< of the widest then
  };

  void find_touched(std::uint32_t estimate);
  bool overloaded(std::uint32_t row) const;
  Cut cut(std::uint32_t row) const;
  void share_rows(std::uint32_t level);

  std::vector<std::uint32_t> first_{0};  ///< by row, into entries_; one more at the end
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> rows_of_;  ///< by estimate, into rows_; one more at the end
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> level_;  ///< by estimate: 0 those of the highest priority, 1 those of the next, ...
  std::uint32_t levels_ = 1;
  std::vector<std::uint32_t> running_;
  std::vector<double> speed_;
  std::vector<bool> frozen_;
  // Of the present update.
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> touched_rows_;
  std::vector<std::uint8_t> seen_estimate_;
  std::vector<std::uint8_t> seen_row_;
};

}  // namespace athanor
