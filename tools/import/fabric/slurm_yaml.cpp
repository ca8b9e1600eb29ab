#include <algorithm>

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include "sim/words.hpp"
#include "tools/import/fabric/slurm_tree.hpp"

namespace athanor {

namespace {

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

/// Reads one of the topologies of a file.
class YamlReader {
 public:
  YamlReader(const std::string& wanted, const AssumedLinks& links, FabricDraft& draft)
      : wanted_(wanted), links_(links), draft_(draft) {}

  void read(const YAML::Node& root) {
    if (!root.IsSequence() || root.size() == 0) {
      draft_.problem(1, "not-slurm", "this is no list of topologies", "it begins with - topology: NAME");
      return;
    }
    const YAML::Node topology = choose(root);
    if (!draft_.ok()) { return; }
    if (topology["tree"]) {
      read_list(topology["tree"], "switches", "switch");
    } else if (topology["block"]) {
      read_list(topology["block"], "blocks", "block");
    } else {
      draft_.problem(line_of(topology), "not-supported",
                     fmt::format("topology '{}' is neither a tree nor made of blocks", name_of(topology)),
                     "a flat topology has no fabric to import; choose another by --topology NAME");
    }
  }

 private:
  static std::string name_of(const YAML::Node& topology) {
    const YAML::Node name = topology["topology"];
    return name && name.IsScalar() ? name.Scalar() : "";
  }

  YAML::Node choose(const YAML::Node& root) {
    std::vector<std::string> names;
    YAML::Node fallback(YAML::NodeType::Undefined);
    for (const YAML::Node& topology : root) {
      if (!topology.IsMap() || name_of(topology).empty()) {
        draft_.problem(line_of(topology), "missing-name", "this topology has no name",
                       "begin it with - topology: NAME");
        return topology;
      }
      names.push_back(name_of(topology));
      if (!wanted_.empty() && names.back() == wanted_) { return topology; }
      const YAML::Node is_default = topology["cluster_default"];
      if (is_default && is_default.as<bool>() && !fallback.IsDefined()) { fallback.reset(topology); }
    }
    if (wanted_.empty() && fallback.IsDefined()) { return fallback; }
    if (wanted_.empty() && root.size() == 1) { return root[0]; }
    draft_.problem(
        1, "unknown-topology",
        wanted_.empty() ? "no topology is the cluster's default" : fmt::format("there is no topology '{}'", wanted_),
        fmt::format("--topology names one of {}", joined(names, ", ")));
    return root;
  }

  void read_list(const YAML::Node& topology, const char* list_key, const char* name_key) {
    const YAML::Node list = topology.IsMap() ? topology[list_key] : YAML::Node(YAML::NodeType::Undefined);
    if (!list || !list.IsSequence()) {
      draft_.problem(line_of(topology), "missing-key", fmt::format("there is no list \"{}\" here", list_key));
      return;
    }
    std::vector<SlurmSwitch> switches;
    for (const YAML::Node& entry : list) {
      SlurmSwitch found;
      found.line = line_of(entry);
      if (!entry.IsMap() || !entry[name_key] || !entry[name_key].IsScalar()) {
        draft_.problem(found.line, "missing-name", fmt::format("this entry has no \"{}\"", name_key));
        continue;
      }
      found.name = entry[name_key].Scalar();
      found.nodes = text_of(entry["nodes"]);
      found.switches = text_of(entry["children"]);
      switches.push_back(std::move(found));
    }
    if (!draft_.ok()) { return; }
    const bool tree = std::string_view(name_key) == "switch";
    (tree ? &add_slurm_tree : &add_slurm_blocks)(switches, links_, draft_);
  }

  std::string text_of(const YAML::Node& value) {
    if (!value) { return ""; }
    if (value.IsScalar()) { return value.Scalar(); }
    draft_.problem(line_of(value), "wrong-type", "this is no list of names", "write one text, as in tux[0-3,12]");
    return "";
  }

  const std::string& wanted_;
  const AssumedLinks& links_;
  FabricDraft& draft_;
};

}  // namespace

void import_slurm_yaml(const std::string& text, const std::string& wanted, const AssumedLinks& links,
                       FabricDraft& draft) {
  try {
    YamlReader(wanted, links, draft).read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    draft.problem(std::max(1, error.mark.line + 1), "not-yaml",
                  fmt::format("this is no YAML that can be read: {}", error.msg));
  }
}

}  // namespace athanor
