#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/random_span.hpp"
#include "sim/ratio.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

class Fields;

/// Something that fails, or works slower for a while.
struct FailureSource {
  enum class What : std::uint8_t {
    gpu,  ///< its node is lost
    nic,  ///< likewise
    node,
    rack,  ///< nodes in a row that share a power supply, all at once
    tier,  ///< all nodes of a domain at once: what is below a leaf
    job,   ///< nothing but the job: its software
  };

  std::string name;
  What what = What::node;
  std::string tier;                         ///< of a tier: which
  RandomSpan between;                       ///< the failures of one such thing, from its repair on; of a job from its
                                            ///< start on
  RandomSpan repair;                        ///< until its nodes can be used again; 0: at once
  std::uint32_t nodes = 0;                  ///< of a rack
  std::optional<Ratio> speed = {};          ///< its nodes are not lost: jobs on them go on at that of their speed
  std::optional<Ratio> communication = {};  ///< of NICs that are not lost with their nodes: the share of the time of
                                            ///< jobs that takes longer by what the NICs that are left lack
  std::optional<RandomSpan> lasts = {};     ///< of what slows nodes down, unless it is found before; none: until it is
  std::optional<Ratio> coverage = {};       ///< probability with which a check finds it; none: that of all checks

  /// Nodes are not lost but slow.
  bool slows() const { return speed || communication; }
};

/// Checks that take a node that is well for one that is not.
struct FalseAlarms {
  Ratio probability;  ///< of one check of one node
  RandomSpan repair;  ///< from when nothing runs there any more until the node can be used again
};

/// Checks of all nodes at one time.
struct HealthChecks {
  /// What becomes of jobs on a node that is found to be slow, which gets no others.
  enum class Found : std::uint8_t {
    drain,  ///< they run to their end there
    move,   ///< they begin again elsewhere, from where they are
  };

  WallTime interval;     ///< they are at multiples of it
  Ratio coverage{1, 1};  ///< probability with which one finds a node that fails or is slow
  Found found = Found::drain;
  std::optional<FalseAlarms> false_alarms = {};  ///< what becomes of nodes and jobs is the same
};

/// Nodes that fail too often are taken out.
struct Cordon {
  std::uint32_t after = 3;           ///< failures ...
  WallTime within;                   ///< ... in that time
  std::optional<RandomSpan> repair;  ///< after which it is as good as others; none: it is out for good
};

/// How a job begins again that has failed.
enum class Restart : std::uint8_t {
  in_place,    ///< on its nodes, with others for those that are lost where there are any; else as `requeue`
  requeue,     ///< it waits for nodes as if it had been submitted anew
  lost_tasks,  ///< those on nodes that are lost wait for places, and the others keep theirs
};

/// What fails on a cluster, and what becomes of it.
struct FailureRules {
  std::vector<FailureSource> sources;
  RandomSpan detection;  ///< a job holds its nodes so long before anybody knows that it has failed, unless a check
                         ///< finds a node of it before
  Restart restart = Restart::in_place;
  std::optional<WallTime> in_place_overhead = {};  ///< without progress, of one that begins again in place; none: as at
                                                   ///< any other start
  bool shrink = false;  ///< elastic jobs go on with what is left where nothing takes the place of lost nodes, and get
                        ///< GPUs again when there are some
  std::uint32_t spares = 0;  ///< nodes, the last of all, that stand by for those that are lost
  double lemon_share = 0;    ///< of nodes ...
  double lemon_times = 1;    ///< ... that fail so many times as often as others
  std::optional<HealthChecks> checks = {};
  std::optional<Cordon> cordon = {};
};
/// What false alarms are called among sources.
constexpr std::string_view kFalseAlarms = "false alarms";
std::string_view name(FailureSource::What what);
void visit(Fields& fields, FailureRules& rules);

}  // namespace athanor
