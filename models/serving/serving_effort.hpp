#pragma once

#include "models/serving/request_rules.hpp"
#include "models/serving/simulate_serving.hpp"

namespace athanor {

/// Requests on average.
struct RequestMeans {
  double count = 1;       ///< at least 1
  double prompt = 1;      ///< tokens
  double output = 1;      ///< tokens
  double per_second = 0;  ///< that arrive; 0: all at once
};

RequestMeans means_of(const ServedRequests& requests);
/// Lengths that are cut to `least` and `most` count as their mean.
RequestMeans means_of(const RequestRules& rules);

/// What simulate_serving() has to do, of all replicas. Roughly: it is told before anything is simulated.
struct ServingEffort {
  double steps = 0;   ///< iterations, or runs of them, that are computed at once
  double places = 0;  ///< of requests that are looked at in all steps
};

/// Requests that run on a replica follow from what it has room for where all come at once, else from Little's law with
/// the time of an iteration. A step ends where a request arrives, comes to run, has its prompt computed as far as the
/// budget reaches, is preempted or finishes. There are at most as many as iterations.
ServingEffort effort_of(const RequestMeans& means, const ServingRules& rules, const IterationLaw& law);

}  // namespace athanor
