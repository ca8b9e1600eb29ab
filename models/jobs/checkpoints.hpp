#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/ratio.hpp"
#include "sim/units.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

class Fields;

/// Checkpoints that the nodes of a job keep in their memory, for themselves and for each other, beside those that are
/// written to storage. They are lost with all nodes that have a copy of some part, and when the job gives its nodes
/// back.
struct MemoryCheckpoints {
  WallTime interval;         ///< of work between two
  WallTime write;            ///< the job stands still so long for each
  WallTime persist;          ///< beyond that, beside its work, until all copies are there; at most an interval
  WallTime restore;          ///< a job that begins again from one takes so long
  std::uint32_t copies = 2;  ///< of the part of each node, one of them on itself
  std::uint32_t group = 0;   ///< nodes that keep copies for each other; at least as many as copies
};

/// How jobs save their work, so that it is not lost with their nodes.
struct CheckpointRules {
  enum class Rule : std::uint8_t {
    none,     ///< what is lost is all
    fixed,    ///< after `interval` of work each
    young,    ///< sqrt(2 w M): Young, "A first order approximation to the optimum checkpoint interval", CACM 1974
    daly,     ///< Daly, "A higher order estimate of the optimum checkpoint interval", FGCS 2006
    optimal,  ///< the least expected time of all, for failures that come exponentially
  };

  Rule rule = Rule::none;
  WallTime interval;         ///< of a fixed rule
  WallTime write;            ///< w: the job stands still so long
  WallTime persist;          ///< beyond that, beside its work, until the checkpoint can be used; at most an interval
  std::string storage = {};  ///< "": none; else `write` is what the bytes of a checkpoint take there
  std::optional<Bytes> bytes = {};  ///< of a checkpoint of jobs that do not say how many parameters they have
  Ratio bytes_per_parameter{14, 1};
  WallTime restore = {};  ///< a job that begins again from one takes so long; with a storage that says it
  std::optional<MemoryCheckpoints> memory = {};
};
void visit(Fields& fields, CheckpointRules& rules);

/// The work between two checkpoints of a job that is interrupted once in `mttf` on average (M; max: never); max: none
/// are written. At least a microsecond, and no less than what persisting takes.
WallTime interval_of(const CheckpointRules& rules, WallTime mttf);

/// The T for which (e^((T + w) / M) - 1) / T is least: where (1 - T / M) e^((T + w) / M) = 1.
WallTime optimal_interval(WallTime write, WallTime mttf);

}  // namespace athanor
