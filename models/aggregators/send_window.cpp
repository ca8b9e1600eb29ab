#include "models/aggregators/send_window.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

SendWindow::SendWindow(std::uint32_t packets, std::uint32_t most)
    : packets_(packets), most_(most), size_(most_ * kFine), there_(most_), tries_(most_) {
  require(most > 0 && most <= kMost, "a window of {} packets", most);
}

bool SendWindow::take(std::uint32_t sequence, std::uint32_t later) {
  there_[sequence % most_] = 1;
  ++ahead_;
  if (sequence == first_) { advance(); }
  if (later == 0 || ahead_ < later || counted_lost_) { return false; }
  counted_lost_ = true;
  return true;
}

void SendWindow::advance() {
  for (; first_ < next_ && has(first_); --ahead_) { there_[first_++ % most_] = 0; }
  counted_lost_ = false;
}

void SendWindow::adapt(std::uint32_t sequence, bool marked) {
  if (!marked) {
    size_ = std::min(most_ * kFine, size_ + std::max<std::uint64_t>(kFine * kFine / size_, 1));
  } else if (sequence >= halved_until_) {
    size_ = std::max(kFine, size_ / 2);
    halved_until_ = next_;
  }
}

}  // namespace athanor
