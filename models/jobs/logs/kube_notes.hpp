#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/logs/job_log.hpp"

namespace YAML {
class Node;
}

namespace athanor {

/// What is wrong with a file of Kubernetes objects, and what in it has no effect, with lines.
class KubeNotes {
 public:
  /// Borrows the log, which is told of what has no effect.
  KubeNotes(std::string path, JobLog& log) : path_(std::move(path)), log_(log) {}

  JobLog& log() { return log_; }
  SourceLocation place(const YAML::Node& node) const;
  void problem(const YAML::Node& node, std::string code, std::string message, std::string hint);
  void problem(SourceLocation place, std::string code, std::string message, std::string hint);
  /// A key that a map has twice is a problem.
  void unique_keys(const YAML::Node& map);
  /// The keys of a map that are not `known` have no effect, and the log is told; as unique_keys().
  void known_keys(const YAML::Node& map, std::string_view of, std::initializer_list<std::string_view> known);
  bool ok() const { return problems_.empty(); }
  /// Throws ScenarioError with all problems.
  void throw_if_any() const;

 private:
  std::string path_;
  JobLog& log_;
  std::vector<Problem> problems_;
};

/// The value of a key as it is written; "": there is none, or it is no scalar.
std::string kube_text(const YAML::Node& map, const char* key);
/// A whole number from 0 on; `fallback` where there is no such key. Anything else is a problem, and counts as
/// `fallback`.
std::uint32_t kube_count(const YAML::Node& map, const char* key, std::uint32_t fallback, KubeNotes& notes);

}  // namespace athanor
