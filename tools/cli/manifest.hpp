#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/file.hpp"

namespace athanor {

/// What produced a result: everything that is not the result itself and may differ from run to run.
struct Manifest {
  std::vector<std::string> command_line;
  struct Input {
    std::string path;
    std::string hash;  ///< text_hash of what was read; "": the file changed while it was used
  };
  std::vector<Input> scenarios;
  std::vector<Input> inputs = {};    ///< all files that were read: presets, profiles, traces, and the scenarios again
  std::vector<std::uint64_t> seeds;  ///< of the cases, in their order
  std::vector<std::string> warnings;
  std::string machine = {};  ///< that was measured; "" for simulations
  double wall_seconds = 0;
  bool interrupted = false;  ///< results are missing
};

/// The files that a command reads, with the hashes of what they hold, for who asks again and again.
class InputsRead {
 public:
  explicit InputsRead(FileReader files) : files_(std::move(files)) {}

  /// Those that no earlier call has returned, by path. A file that is not any more what it was when it was read has no
  /// hash.
  std::vector<Manifest::Input> fresh();

 private:
  FileReader files_;
  std::set<std::string> known_;
};

std::string host_name();

}  // namespace athanor
