#pragma once

#include <vector>

#include "tools/calibrate/tables/stack_parameters.hpp"
#include "tools/calibrate/tables/table_rows.hpp"

namespace athanor {

using StackParameters = std::vector<const StackParameter*>;

/// The mean over rows of 2 w^2 (sqrt(1 + (log(simulated / measured) / w)^2) - 1) with w = 0.1: squares near nothing,
/// the distance from there on, so that a few wild rows hardly count.
double stack_loss(const std::vector<TableRow>& rows);

/// The search for the figures of one profile: group by group, since sizes tell them in groups, and all together at the
/// end. Loss is stack_loss() and a weak pull towards the figures of `centre`, which decides what the rows do not.
class StackSearch {
 public:
  StackSearch(Tables tables, const Profile& centre, double pull)
      : tables_(std::move(tables)), centre_(centre), profile_(centre), pull_(pull) {}

  /// What the ends of the tables tell almost alone: rates by the two largest sizes of each, where they are large, calls
  /// by the three smallest.
  void anchor(const StackParameters& parameters);
  /// Each group in turn, `cycles` times, with ever smaller steps.
  void refine(const StackParameters& parameters, int cycles);
  /// All at once.
  void finish(const StackParameters& parameters, int evaluations);
  /// Gives figures back to the centre until so many are left, in turn the one that costs least.
  StackParameters reduce(StackParameters parameters, std::size_t most);

  const Profile& profile() const { return profile_; }
  /// Of the rows alone.
  double row_loss();

 private:
  double loss_of(const Profile& profile, Tables& tables) const;
  void search(const StackParameters& parameters, Tables& tables, double factor, int evaluations);
  double loss_without(const StackParameter& parameter, const StackParameters& others);

  Tables tables_;
  Profile centre_;
  Profile profile_;
  double pull_;           ///< as a share of what parameters say
  StackParameters free_;  ///< those that the pull counts
};

}  // namespace athanor
