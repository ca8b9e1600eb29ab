#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/random_span.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

class Fields;

/// Something that fails.
struct FailureSource {
  enum class What : std::uint8_t {
    gpu,  ///< its node is lost
    nic,  ///< likewise
    node,
    tier,  ///< all nodes of a domain at once: what is below a leaf, a power supply of a rack
    job,   ///< nothing but the job: its software
  };

  std::string name;
  What what = What::node;
  std::string tier;    ///< of a tier: which
  RandomSpan between;  ///< the failures of one such thing, from its repair on; of a job from its start on
  RandomSpan repair;   ///< until its nodes can be used again; 0: at once
};

/// How a job begins again that has failed.
enum class Restart : std::uint8_t {
  in_place,  ///< on its nodes, with others for those that are lost where there are any; else as `requeue`
  requeue,   ///< it waits for nodes as if it had been submitted anew
};

/// What fails on a cluster, and what becomes of it.
struct FailureRules {
  std::vector<FailureSource> sources;
  RandomSpan detection;  ///< a job holds its nodes so long before anybody knows that it has failed
  Restart restart = Restart::in_place;
  std::uint32_t spares = 0;  ///< nodes, the last of all, that stand by for those that are lost
  double lemon_share = 0;    ///< of nodes ...
  double lemon_times = 1;    ///< ... that fail so many times as often as others
};
std::string_view name(FailureSource::What what);
void visit(Fields& fields, FailureRules& rules);

}  // namespace athanor
