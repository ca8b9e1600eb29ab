#include "models/jobs/schedulers/fair_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace athanor {

namespace {

struct Account {
  double shares = 0;
  double usage = 0;
  double user_shares = 0;  ///< of all its users
};

std::vector<Account> accounts_of(const std::vector<Association>& associations) {
  std::vector<Account> accounts;
  for (const Association& each : associations) {
    if (accounts.size() <= each.account) { accounts.resize(each.account + 1); }
    Account& account = accounts[each.account];
    account.shares = each.account_shares;
    account.usage += each.usage;
    account.user_shares += each.shares;
  }
  return accounts;
}

double total(const std::vector<Account>& accounts, double Account::*what) {
  return std::accumulate(accounts.begin(), accounts.end(), 0.0,
                         [&](double sum, const Account& account) { return sum + account.*what; });
}

/// Normalised shares over normalised usage, among siblings.
double level(double shares, double all_shares, double usage, double all_usage) {
  if (usage <= 0) { return shares > 0 ? std::numeric_limits<double>::infinity() : 0; }
  return shares / all_shares / (usage / all_usage);
}

}  // namespace

std::vector<double> fair_tree(const std::vector<Association>& associations) {
  const std::vector<Account> accounts = accounts_of(associations);
  const double all_shares = total(accounts, &Account::shares);
  const double all_usage = total(accounts, &Account::usage);
  struct Place {
    double account;
    double user;
    std::size_t index;
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < associations.size(); ++i) {
    const Association& each = associations[i];
    const Account& account = accounts[each.account];
    places.push_back({level(account.shares, all_shares, account.usage, all_usage),
                      level(each.shares, account.user_shares, each.usage, account.usage), i});
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.account != b.account ? a.account > b.account : a.user > b.user;
  });
  std::vector<double> factors(associations.size());
  std::size_t rank = places.size();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool tied = i > 0 && places[i].account == places[i - 1].account && places[i].user == places[i - 1].user;
    if (!tied) { rank = places.size() - i; }
    factors[places[i].index] = static_cast<double>(rank) / static_cast<double>(places.size());
  }
  return factors;
}

std::vector<double> classic_fair_share(const std::vector<Association>& associations, double dampening) {
  const std::vector<Account> accounts = accounts_of(associations);
  const double all_shares = total(accounts, &Account::shares);
  const double all_usage = total(accounts, &Account::usage);
  std::vector<double> factors;
  for (const Association& each : associations) {
    const Account& account = accounts[each.account];
    const double part = each.shares / account.user_shares;
    const double shares = account.shares / all_shares * part;
    const double own = all_usage > 0 ? each.usage / all_usage : 0;
    const double of_account = all_usage > 0 ? account.usage / all_usage : 0;
    factors.push_back(shares > 0 ? std::exp2(-(own + (of_account - own) * part) / shares / dampening) : 0);
  }
  return factors;
}

}  // namespace athanor
