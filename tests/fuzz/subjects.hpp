#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/mutation.hpp"

namespace athanor::fuzz {

/// What a command did with a file.
struct Ended {
  int code = 0;
  std::string text;  ///< all that it wrote
};

/// A reader, and shipped files of its format.
struct Subject {
  std::string name;
  Form form = Form::json;
  std::string file;  ///< as which changed content is put into the working folder
  bool compressed = false;
  unsigned weight = 1;  ///< of so many inputs
  /// The user may ask for more than fits into memory, and hears of it: clusters of any size can be described.
  bool may_want_memory = false;
  std::vector<Seed> seeds;
  std::function<Ended(const std::string& path)> read;
};

/// All readers. `scenarios`: the folder of shipped files; `seeds`: files made for the purpose; `folder`: an empty one,
/// in which what the files name is put beside them, and in which `file` is written.
std::vector<Subject> subjects(const std::string& scenarios, const std::string& seeds, const std::string& folder);

/// "" or why an end is not what is promised: a defect that was met, an exit status that no command has.
std::string fault_in(const Ended& ended, bool may_want_memory);

}  // namespace athanor::fuzz
