#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/field_value.hpp"

namespace athanor {

/// Problems of one kind (code) come thousandfold in a trace: the first is told, the others are counted.
class Complaints {
 public:
  void add(Problem problem);
  bool empty() const { return order_.empty(); }
  /// What was found, in the order in which kinds came up first.
  void report(Problems& problems) const;

 private:
  struct Kind {
    Problem first;
    std::uint64_t more = 0;
  };
  std::map<std::string, Kind> kinds_;
  std::vector<std::string> order_;
};

/// What a reader assumed or dropped, each sentence with how often.
class TraceNotes {
 public:
  void count(std::string_view sentence, std::uint64_t times = 1);
  /// Without a number in front.
  void say(std::string sentence);
  std::vector<std::string> texts() const;

 private:
  std::vector<std::pair<std::string, std::uint64_t>> notes_;  ///< 0 times: said
};

}  // namespace athanor
