#include "tests/algorithms/formats/goal_reader.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace athanor {

namespace {

[[noreturn]] void fail(const std::string& line) { throw std::logic_error("no GOAL: " + line); }

class Reader {
 public:
  std::vector<std::vector<GoalOperation>> read(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
      if (!line.empty()) { statement(line); }
    }
    if (inside_ || ranks_.size() != announced_) { fail("the end"); }
    return ranks_;
  }

 private:
  void statement(const std::string& line) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "num_ranks") {
      if (!(words >> announced_)) { fail(line); }
    } else if (first == "rank") {
      std::size_t rank = 0;
      std::string brace;
      if (inside_ || !(words >> rank >> brace) || rank != ranks_.size() || brace != "{") { fail(line); }
      ranks_.emplace_back();
      labels_.clear();
      inside_ = true;
    } else if (first == "}") {
      inside_ = false;
    } else if (first.back() == ':') {
      first.pop_back();
      if (!inside_ || !labels_.emplace(first, ranks_.back().size()).second) { fail(line); }
      ranks_.back().push_back(operation(words, line));
    } else {
      requirement(first, words, line);
    }
  }

  static GoalOperation operation(std::istringstream& words, const std::string& line) {
    GoalOperation result;
    std::string kind;
    std::string unit;
    std::string way;
    std::string tag;
    std::int64_t number = 0;
    words >> kind >> result.amount;
    if (kind == "calc") { return result; }
    result.kind = kind == "send" ? GoalOperation::Kind::send : GoalOperation::Kind::receive;
    words >> unit >> way >> result.peer >> tag >> number;
    if (!words || unit != "b" || way != (kind == "send" ? "to" : "from") || tag != "tag" || number > UINT32_MAX) {
      fail(line);
    }
    result.tag = static_cast<std::uint32_t>(number);
    return result;
  }

  void requirement(const std::string& label, std::istringstream& words, const std::string& line) {
    std::string word;
    std::string other;
    words >> word >> other;
    if (word != "requires" || !labels_.contains(label) || !labels_.contains(other)) { fail(line); }
    ranks_.back()[labels_.at(label)].required.push_back(labels_.at(other));
  }

  std::size_t announced_ = 0;
  bool inside_ = false;
  std::vector<std::vector<GoalOperation>> ranks_;
  std::map<std::string, std::size_t> labels_;
};

}  // namespace

std::vector<std::vector<GoalOperation>> read_goal(const std::string& text) { return Reader().read(text); }

GoalMessages goal_messages(const std::vector<std::vector<GoalOperation>>& ranks, GoalOperation::Kind kind) {
  GoalMessages messages;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    for (const GoalOperation& each : ranks[rank]) {
      if (each.kind != kind) { continue; }
      const bool sends = kind == GoalOperation::Kind::send;
      messages[{sends ? rank : each.peer, sends ? each.peer : rank, each.tag}].push_back(each.amount);
    }
  }
  return messages;
}

std::size_t goal_progress(const std::vector<std::vector<GoalOperation>>& ranks, bool rendezvous) {
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Key, bool> sent;
  std::map<Key, bool> posted;
  std::vector<std::vector<bool>> ended;
  for (const auto& rank : ranks) { ended.emplace_back(rank.size()); }
  std::size_t count = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      for (std::size_t i = 0; i < ranks[rank].size(); ++i) {
        const GoalOperation& each = ranks[rank][i];
        const auto& required = each.required;
        if (ended[rank][i] ||
            !std::all_of(required.begin(), required.end(), [&](std::size_t other) { return ended[rank][other]; })) {
          continue;
        }
        const bool sends = each.kind == GoalOperation::Kind::send;
        const Key key{sends ? rank : each.peer, sends ? each.peer : rank, each.tag};
        if (each.kind != GoalOperation::Kind::calc) { (sends ? sent : posted)[key] = true; }
        if (sends && rendezvous && !posted[key]) { continue; }
        if (each.kind == GoalOperation::Kind::receive && !sent[key]) { continue; }
        ended[rank][i] = true;
        moved = true;
        ++count;
      }
    }
  }
  return count;
}

}  // namespace athanor
