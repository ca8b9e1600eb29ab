#pragma once

#include <string_view>

#include "tools/cli/streams.hpp"

namespace athanor {

/// A line on a terminal that says what is going on and leaves nothing behind. Silent where err is no terminal.
class Progress {
 public:
  Progress(const Streams& streams, bool wanted) : streams_(streams), on_(wanted && streams.progress) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view text);
  void clear();

 private:
  const Streams& streams_;
  bool on_;
  bool shown_ = false;
};

}  // namespace athanor
