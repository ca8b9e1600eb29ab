#include "models/network/notice_queue.hpp"

#include <algorithm>
#include <tuple>

namespace athanor {

void NoticeQueue::fast_forward(Time by) {
  for (Entry& entry : heap_) { entry.when += by; }
}

void NoticeQueue::snapshot(Time now, std::vector<std::int64_t>& state) const {
  std::vector<Entry> entries = heap_;
  const auto key = [](const Entry& entry) {
    return std::tuple(entry.when, entry.notice, entry.connection, entry.note);
  };
  std::sort(entries.begin(), entries.end(), [&key](const Entry& a, const Entry& b) { return key(a) < key(b); });
  state.push_back(static_cast<std::int64_t>(entries.size()));
  for (const Entry& entry : entries) {
    state.push_back((entry.when - now).count());
    state.push_back(static_cast<std::int64_t>(entry.notice));
    state.push_back(entry.connection.value);
    if (entry.notice == Notice::injected) { state.push_back(entry.note); }
  }
}

}  // namespace athanor
