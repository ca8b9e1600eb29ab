#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// A user within an account, what they are entitled to and what they have used.
struct Association {
  std::uint32_t account = 0;  ///< counted from 0
  double account_shares = 1;  ///< of the account among all accounts; the same for all of an account
  double shares = 1;          ///< of the user among those of the account
  double usage = 0;           ///< GPU seconds, decayed
};

/// Slurm's Fair Tree: accounts and, within each, users by falling shares / usage; each user's rank over their number,
/// 1 for the first. Those that are level have the same rank, and the users of accounts that are level stand together.
std::vector<double> fair_tree(const std::vector<Association>& associations);

/// Slurm's classic factor 2^(-usage / shares / dampening), with the usage of others of the account counted in part.
std::vector<double> classic_fair_share(const std::vector<Association>& associations, double dampening);

}  // namespace athanor
