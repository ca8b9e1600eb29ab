#pragma once

#include <optional>

#include "models/software/protocol.hpp"

namespace athanor {

struct Profile;

/// NICs that run the schedule of a collective for their hosts: every primitive is theirs. After the model of management
/// queues whose requests wait for others: Graham et al., ConnectX-2 InfiniBand Management Queues, CCGRID 2010.
struct NicOffload {
  Time post;                             ///< of the host, once per collective, in place of the profile's launch
  std::optional<Time> overhead;          ///< of a NIC for each primitive; absent: the host's
  std::optional<Bandwidth> reduce_rate;  ///< of a NIC; absent: the host's
};

/// The costs of a machine whose NICs do the work.
Profile offloaded(Profile profile, const NicOffload& offload);

/// A non-blocking collective beside a computation of its hosts.
struct Overlap {
  Time total;          ///< from the collective's start until both have ended
  Time communicating;  ///< of a host's own time
  double share = 0;    ///< of the collective's time that is hidden: 0 to 1, as OSU's benchmarks define it
};

/// `collective`: how long it takes alone. With NICs that carry it out the host posts it and computes; without, nothing
/// moves while the host computes, since it is the host that starts each message.
Overlap overlap(Time collective, Time compute, const std::optional<NicOffload>& offload);

}  // namespace athanor
