// How fast large traces are read: Chakra's of 64 ranks and 200 MB, and a profile of PyTorch of 500 MB. The files are
// made first, by tools/make_example_traces.

#include <cstdlib>
#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <unistd.h>

#include "models/traces/read_trace.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tools/benchmarks/memory.hpp"

namespace athanor {
namespace {

/// Files in a folder of their own, gone at the end of the benchmark.
class Files {
 public:
  explicit Files(const std::string& what)
      : folder_(std::filesystem::temp_directory_path() / fmt::format("athanor-traces-{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
    const std::string command = fmt::format("{} {} {}", ATHANOR_MAKE_TRACES, what, folder_.string());
    if (std::system(command.c_str()) != 0) { throw FileError(command + " failed"); }
  }
  ~Files() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  double megabytes() const {
    double bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      bytes += static_cast<double>(entry.file_size());
    }
    return bytes * 1e-6;
  }

 private:
  std::filesystem::path folder_;
};

void read_large(benchmark::State& state, const std::string& what, const std::string& pattern) {
  const Files files(what);
  for (auto _ : state) {
    const PeakMemory peak;
    Problems problems;
    const ImportedTrace trace = read_trace(FileReader(), {files.path(pattern)}, {}, problems);
    problems.throw_if_any();
    std::size_t operations = 0;
    for (const Workload::Worker& worker : trace.workload.workers) { operations += worker.operations.size(); }
    state.counters["operations"] = static_cast<double>(operations);
    state.counters["file_MB"] = files.megabytes();
    state.counters["peak_MB"] = peak.megabytes();
  }
}

BENCHMARK_CAPTURE(read_large, chakra_64_ranks_200_MB, "--chakra 64 200", "large.*.et")
    ->Unit(benchmark::kSecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(read_large, kineto_500_MB, "--kineto 500", "large.json")->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace athanor
