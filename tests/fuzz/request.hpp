#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/fuzz/watch.hpp"

namespace athanor::fuzz {

/// The command line of the programs here: --NAME VALUE, over and over.
struct Request {
  std::map<std::string, std::string> words;

  std::string text(const std::string& name, const std::string& absent) const;
  /// Throws std::runtime_error where it is no whole number.
  std::uint64_t number(const std::string& name, std::uint64_t absent) const;
};

/// Throws std::runtime_error where the words do not come in pairs.
Request request_of(int count, char** words);

/// --first, --inputs, --minutes, --most-faults; `absent` inputs where neither number nor time is said. At most 2 GiB of
/// memory, but with --memory-limit 0, as an address sanitizer needs it.
Watch watch_of(const Request& request, std::uint64_t absent);

/// What main() does: `run` with what the words ask for, and its status; 2 where it throws, with the reason on stderr.
int run_program(const char* name, int count, char** words, int (*run)(const Request& request));

/// A folder of this process in memory, where the system has such, gone at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace athanor::fuzz
