#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace athanor {

/// Which ranks the process groups of Chakra traces have.
class ChakraGroups {
 public:
  explicit ChakraGroups(std::uint32_t ranks) : ranks_(ranks) {}

  std::uint32_t ranks() const { return ranks_; }
  /// A comm_group.json: an object of group names and lists of ranks. Throws ScenarioError, FileError.
  void read(const std::string& path);
  /// The inputs of a metadata node: somewhere in them a list of {"pg_name", "ranks"}. What is none is ignored.
  void define(const std::string& inputs, const std::string& file);
  /// Those of a group, in its order; all where the name is "". None: nobody defined it.
  std::optional<std::vector<std::uint32_t>> ranks_of(const std::string& name) const;

 private:
  std::uint32_t ranks_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> groups_;
};

}  // namespace athanor
