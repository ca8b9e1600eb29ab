#pragma once

#include <string>
#include <vector>

#include "models/traces/read_trace.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

namespace athanor::test {

/// A trace as read, and what was wrong with it, a line each.
struct ReadTrace {
  ImportedTrace trace;
  std::string problems;

  bool says(const std::string& text) const { return problems.find(text) != std::string::npos; }
  bool notes(const std::string& text) const;
  const Workload& workload() const { return trace.workload; }
};

ReadTrace read(const std::vector<std::string>& files, const TraceOptions& options = {});

/// Of scenarios/traces.
std::string example(const std::string& name);

/// How long a workload takes where every collective takes `call`, every message `message`, and nobody disturbs others.
Time run_with(const Workload& workload, Time call, Time message = Time::zero());

/// All files as they are after a compression with gzip.
std::string compressed(const std::string& text);

/// Chakra execution traces, byte by byte.
class ChakraFile {
 public:
  struct Node {
    std::uint64_t id = 0;
    std::string name = "node";
    std::uint64_t type = 4;
    std::vector<std::uint64_t> after = {};
    std::uint64_t micros = 0;
    std::vector<std::pair<std::string, std::uint64_t>> numbers = {};  ///< attributes, as int64
    std::string group = {};
    std::string inputs = {};
    bool packed = true;  ///< how dependencies are written
  };

  ChakraFile();
  ChakraFile& add(const Node& node);
  /// A collective of 1 MiB on all ranks.
  ChakraFile& all_reduce(std::uint64_t id, std::uint64_t size = 1 << 20);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace athanor::test
