#include "tools/measure/backend_set.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/measure/cuda_backend.hpp"
#include "tools/measure/threads_backend.hpp"

namespace athanor {

namespace {

const std::vector<std::string> kNames{"threads", "mpi", "cuda"};

void check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
      const std::string near = nearest(name, kNames);
      throw UsageError(
          fmt::format("measure: there is no backend '{}'; {}", name,
                      near.empty() ? "choose from threads, mpi, cuda" : fmt::format("did you mean '{}'?", near)));
    }
    if (std::count(names.begin(), names.end(), name) > 1) {
      throw UsageError(fmt::format("measure: the backend {} is named twice", name));
    }
  }
}

}  // namespace

BackendSet::BackendSet(const std::vector<std::string>& names, std::optional<std::uint32_t> workers) {
  check_names(names);
  if (std::find(names.begin(), names.end(), "mpi") != names.end()) { mpi_ = make_mpi_backend(); }
  for (const std::string& name : names) {
    if (name == "mpi") {
      all_.push_back(mpi_.get());
      continue;
    }
    std::unique_ptr<Backend> backend = name == "cuda" ? make_cuda_backend() : make_threads_backend(workers);
    others_.push_back(mpi_ ? mpi_->beside(std::move(backend)) : std::move(backend));
    all_.push_back(others_.back().get());
  }
}

std::string BackendSet::fact(const std::string& key) const {
  for (const Backend* backend : all_) {
    for (const auto& [name, value] : backend->facts()) {
      if (name == key) { return value; }
    }
  }
  return "";
}

}  // namespace athanor
