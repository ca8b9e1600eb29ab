#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/cli/command.hpp"
#include "tools/cli/manifest.hpp"

namespace athanor {

/// The files that a command reads, with the hashes of what they hold, for who asks again and again.
class InputsRead {
 public:
  /// null: no log is kept, and there are none.
  explicit InputsRead(const ReadLog* log) : log_(log) {}

  /// Those that no earlier call has returned, by path. A file that is not any more what it was when it was read has no
  /// hash.
  std::vector<Manifest::Input> fresh();

 private:
  const ReadLog* log_;
  std::set<std::string> known_;
};

/// All that the command has read so far.
std::vector<Manifest::Input> inputs_read(const Invocation& invocation);

}  // namespace athanor
