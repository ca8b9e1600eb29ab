#include "models/traces/complaints.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace athanor {

void Complaints::add(Problem problem) {
  const auto [found, is_new] = kinds_.try_emplace(problem.code);
  if (!is_new) {
    ++found->second.more;
    return;
  }
  order_.push_back(problem.code);
  found->second.first = std::move(problem);
}

void Complaints::report(Problems& problems) const {
  for (const std::string& code : order_) {
    const Kind& kind = kinds_.at(code);
    Problem problem = kind.first;
    if (kind.more > 0) { problem.message += fmt::format(" (and {} more like it)", kind.more); }
    problems.add(std::move(problem));
  }
}

void TraceNotes::count(std::string_view sentence, std::uint64_t times) {
  if (times == 0) { return; }
  const auto found =
      std::find_if(notes_.begin(), notes_.end(), [&](const auto& note) { return note.first == sentence; });
  if (found == notes_.end()) {
    notes_.emplace_back(sentence, times);
  } else {
    found->second += times;
  }
}

void TraceNotes::say(std::string sentence) {
  const std::pair<std::string, std::uint64_t> note{std::move(sentence), 0};
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) { notes_.push_back(note); }
}

std::vector<std::string> TraceNotes::texts() const {
  std::vector<std::string> texts;
  for (const auto& [sentence, times] : notes_) {
    texts.push_back(times == 0 ? sentence : fmt::format("{} {}", times, sentence));
  }
  return texts;
}

}  // namespace athanor
