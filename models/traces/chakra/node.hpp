#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "sim/byte_source.hpp"

namespace athanor {

/// Of Chakra's collective types, in their order; REDUCE_SCATTER_BLOCK is one, too.
inline constexpr std::array kChakraCollectives{CollectiveKind::all_reduce,     CollectiveKind::reduce,
                                               CollectiveKind::all_gather,     CollectiveKind::gather,
                                               CollectiveKind::scatter,        CollectiveKind::broadcast,
                                               CollectiveKind::all_to_all,     CollectiveKind::reduce_scatter,
                                               CollectiveKind::reduce_scatter, CollectiveKind::barrier};

/// What is read and written of a node of a Chakra execution trace; the two ways of writing it down have the same
/// content.
struct ChakraNode {
  enum Type : std::uint32_t { invalid, metadata, load, store, compute, send, receive, collective };

  std::uint64_t id = 0;
  std::string name;
  std::uint32_t type = invalid;  ///< a Type, or what no schema says
  std::vector<std::uint64_t> waits_for;
  std::uint64_t duration_us = 0;
  std::string inputs;  ///< of metadata: the definitions of process groups
  bool cpu = false;
  std::optional<std::int64_t> operations;  ///< floating-point
  std::int64_t tensor_size = 0;            ///< bytes
  std::optional<std::int64_t> collective_type;
  std::optional<std::int64_t> size;  ///< bytes that one rank puts in
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::int64_t tag = 0;
  std::int64_t root = 0;
  std::string group;
  bool some_dimensions = false;  ///< "involved_dim" leaves some out

  /// Sets what an attribute of this name means; others are ignored.
  void set(std::string_view attribute, std::int64_t value);
};

using TakeChakraNode = std::function<void(ChakraNode&)>;

/// Calls `take` for each node of a file, in its order. Throws ScenarioError where the file is no such trace or ends
/// within a node. The node is overwritten by the next one.
void read_chakra_protobuf(ByteSource& source, const TakeChakraNode& take);
void read_chakra_json(ByteSource& source, const TakeChakraNode& take);

/// Whether this build reads and writes the protobuf form.
bool reads_chakra_protobuf();

/// A file of Chakra's traces begins with this, and its nodes follow. Throws ScenarioError where the build has no
/// protobuf.
std::string chakra_protobuf_head();
void append_chakra_protobuf(const ChakraNode& node, std::string& text);

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
