#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/import/fabric/assumed_links.hpp"
#include "tools/import/fabric/draft.hpp"

namespace athanor {

/// A switch of a tree, or a block, as Slurm's files have it.
struct SlurmSwitch {
  std::string name;
  std::string nodes;     ///< a hostlist; "" for none
  std::string switches;  ///< a hostlist of switches below; "" for none
  int line = 0;
};

/// Where a text has no rate for links, `draft` gets a problem that says which options give it. Requires that every
/// switch has a name.
///
/// The switches of a tree become leaves, spines (one tier above leaves) and cores; a host's link has `links.rate`, a
/// switch's link upwards the rate of all hosts below it, divided by the oversubscription and by its parents. Problems:
/// names that come twice, switches below a switch that are not there, circles, islands.
void add_slurm_tree(const std::vector<SlurmSwitch>& switches, const AssumedLinks& links, FabricDraft& draft);

/// The blocks become leaves that one spine joins.
void add_slurm_blocks(const std::vector<SlurmSwitch>& blocks, const AssumedLinks& links, FabricDraft& draft);

/// A topology.conf, of topology/tree or topology/block.
void import_slurm_conf(std::string_view text, const AssumedLinks& links, FabricDraft& draft);

/// A topology.yaml (Slurm 25.05). `wanted`: the name of one of its topologies; "": the cluster's default, or the only
/// one.
void import_slurm_yaml(const std::string& text, const std::string& wanted, const AssumedLinks& links,
                       FabricDraft& draft);

}  // namespace athanor
