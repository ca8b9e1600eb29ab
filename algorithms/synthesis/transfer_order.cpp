#include "algorithms/synthesis/transfer_order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace athanor {

namespace {

class OrderOfStart {
 public:
  explicit OrderOfStart(const std::vector<Transfer>& transfers)
      : transfers_(transfers), behind_(transfers.size()), next_(transfers.size()) {
    std::uint32_t links = 0;
    for (std::uint32_t i = static_cast<std::uint32_t>(transfers.size()); i-- > 0;) {
      const Transfer& transfer = transfers[i];
      links = std::max(links, transfer.link + 1);
      behind_[i] += transfer.time;
      if (transfer.after == Transfer::kNone) { continue; }
      behind_[transfer.after] = std::max(behind_[transfer.after], behind_[i]);
      next_[transfer.after].push_back(i);
    }
    waiting_.resize(links);
    busy_.resize(links);
  }

  std::vector<std::uint32_t> run() && {
    for (std::uint32_t i = 0; i < transfers_.size(); ++i) {
      if (transfers_[i].after == Transfer::kNone) { waiting_[transfers_[i].link].emplace(behind_[i], last() - i); }
    }
    for (std::uint32_t link = 0; link < waiting_.size(); ++link) { start(link); }
    while (!ends_.empty()) {
      const auto [time, transfer] = ends_.top();
      now_ = time;
      ends_.pop();
      busy_[transfers_[transfer].link] = false;
      for (const std::uint32_t next : next_[transfer]) {
        waiting_[transfers_[next].link].emplace(behind_[next], last() - next);
        start(transfers_[next].link);
      }
      start(transfers_[transfer].link);
    }
    return std::move(order_);
  }

 private:
  std::uint32_t last() const { return static_cast<std::uint32_t>(transfers_.size()); }

  void start(std::uint32_t link) {
    if (busy_[link] || waiting_[link].empty()) { return; }
    const std::uint32_t transfer = last() - waiting_[link].top().second;
    waiting_[link].pop();
    busy_[link] = true;
    order_.push_back(transfer);
    ends_.emplace(now_ + transfers_[transfer].time, transfer);
  }

  using End = std::pair<std::int64_t, std::uint32_t>;

  const std::vector<Transfer>& transfers_;
  std::vector<std::int64_t> behind_;  ///< time of the longest chain that begins with it
  std::vector<std::vector<std::uint32_t>> next_;
  std::vector<std::priority_queue<End>> waiting_;  ///< by link: time behind it, and how far it is from the last number
  std::vector<bool> busy_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::int64_t now_ = 0;
  std::vector<std::uint32_t> order_;
};

}  // namespace

std::vector<std::uint32_t> in_order_of_start(const std::vector<Transfer>& transfers) {
  return OrderOfStart(transfers).run();
}

}  // namespace athanor
