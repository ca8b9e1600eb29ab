#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/config/field_value.hpp"
#include "sim/config/json_value.hpp"
#include "topologies/fabric/fabric.hpp"
#include "topologies/node/node_identity.hpp"

namespace athanor {

/// Devices and cables as an importer finds them: what becomes a "graph" of a scenario. Says what is wrong with a text,
/// by line; after ImportedRows::kMostProblems of them there is one more, which says that there are more.
class FabricDraft {
 public:
  struct Device {
    std::string name;
    VertexKind kind = VertexKind::custom;
    int line = 0;
  };
  struct Cable {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    Link link;
  };

  /// Borrows both.
  FabricDraft(std::string file, Problems& problems) : file_(std::move(file)), problems_(problems) {}

  /// Its number. Two devices of one name are a problem.
  std::uint32_t add(std::string name, VertexKind kind, int line);
  std::optional<std::uint32_t> find(const std::string& name) const;
  void connect(std::uint32_t a, std::uint32_t b, const Link& link) { cables_.push_back({a, b, link}); }
  void set_kind(std::uint32_t device, VertexKind kind) { devices_[device].kind = kind; }

  /// What the machine calls itself, where it is one and says so.
  void set_identity(NodeIdentity identity) { identity_ = std::move(identity); }
  const std::optional<NodeIdentity>& identity() const { return identity_; }

  /// What was assumed or left out, for people.
  void note(std::string text);
  void problem(int line, std::string code, std::string message, std::string hint = "");
  /// Whether nothing was wrong so far.
  bool ok() const { return told_ == 0; }

  /// A problem for the first device that the first one does not reach; to be called when all is read. `hint`: what to
  /// do about it. Linear.
  void check_connected(const std::string& hint);

  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<Cable>& cables() const { return cables_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string file_;
  Problems& problems_;
  std::vector<Device> devices_;
  std::vector<Cable> cables_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // never iterated
  std::vector<std::string> notes_;
  std::optional<NodeIdentity> identity_;
  std::size_t told_ = 0;
};

/// {"vertices": [...], "links": [...]}, as a scenario's "graph" has it and readable_json writes it that deep inside
/// other JSON: for millions of devices, whose JSON in memory would take ten times what its text does.
std::string graph_text(const FabricDraft& draft, std::size_t depth);

/// JSON for people and for editors: a key or an element of a list on each line, what is inside such an element beside
/// it on the same line.
std::string readable_json(const JsonValue& json);

}  // namespace athanor
