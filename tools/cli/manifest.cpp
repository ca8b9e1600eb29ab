#include "tools/cli/manifest.hpp"

#include <array>

#include <unistd.h>

#include "models/experiments/scenario/digest.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"

namespace athanor {

namespace {

std::string hash_if_unchanged(const ReadFile& file) {
  try {
    std::string hash = file_hash(file.path);
    return file_state(file.path) == file ? hash : "";
  } catch (const FileError&) { return ""; }  // it is gone: nobody can tell any more what it was
}

}  // namespace

std::vector<Manifest::Input> InputsRead::fresh() {
  std::vector<Manifest::Input> inputs;
  for (const ReadFile& file : files_.files()) {
    if (known_.insert(file.path).second) { inputs.push_back({file.path, hash_if_unchanged(file)}); }
  }
  return inputs;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace athanor
