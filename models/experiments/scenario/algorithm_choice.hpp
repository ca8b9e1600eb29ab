#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/catalog.hpp"
#include "sim/config/fields.hpp"
#include "sim/file.hpp"

namespace athanor {

/// Algorithms that were read from files, each proven once, by the path as it was written.
class ImportCache {
 public:
  explicit ImportCache(FileReader files) : files_(std::move(files)) {}

  /// Throws FileError, and ScenarioError with the file's lines for what is no algorithm or a wrong one.
  std::shared_ptr<const Algorithm> msccl(const std::string& path);

 private:
  FileReader files_;
  std::map<std::string, std::shared_ptr<const Algorithm>> read_;
};

/// What a scenario lets choose from. Those of the catalog live for ever, the others as long as `imports`.
struct AlgorithmChoice {
  std::vector<const Algorithm*> algorithms;
  std::vector<std::shared_ptr<const Algorithm>> imports;
  bool named = false;  ///< does the text have "algorithm"?
  bool synthesised =
      false;             ///< is one that is made for the fabric among them? (It is for who knows the fabric to add.)
  bool each = false;     ///< is every algorithm reported, instead of the fastest?
  SourceLocation place;  ///< of "algorithm", or of what it belongs to where it is absent
};

/// "ring", "synthesised", {"msccl": "path.xml"}, a list of these, or "best": every algorithm of the kind, also where
/// nothing is chosen; "each": all of these, one by one. Without a known kind only the form is checked. `problems` takes
/// what is wrong with a file.
void read_algorithm_choice(Fields& fields, std::optional<CollectiveKind> kind, ImportCache& imports, Problems& problems,
                           AlgorithmChoice& choice);

/// Why none of them can run: a line for each, or one for all where they share the reason.
std::string why_none(const std::vector<std::pair<const Algorithm*, std::string>>& reasons);

/// Every algorithm of the catalog for this kind, in its order.
std::vector<const Algorithm*> algorithms_of(CollectiveKind kind);

}  // namespace athanor
