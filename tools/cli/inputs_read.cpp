#include "tools/cli/inputs_read.hpp"

#include "models/experiments/scenario/digest.hpp"
#include "sim/error.hpp"

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
  if (log_ == nullptr) { return inputs; }
  for (const ReadFile& file : log_->files()) {
    if (known_.insert(file.path).second) { inputs.push_back({file.path, hash_if_unchanged(file)}); }
  }
  return inputs;
}

std::vector<Manifest::Input> inputs_read(const Invocation& invocation) {
  return InputsRead(invocation.read_log).fresh();
}

}  // namespace athanor
