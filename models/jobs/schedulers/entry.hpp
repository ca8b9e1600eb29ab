#pragma once

#include "models/jobs/schedulers/scheduler.hpp"

namespace athanor {

/// Each kind's file ends with an explicit instantiation of it, by which the catalog finds the kind without a header.
template <class Kind>
SchedulerEntry scheduler_entry_of() {
  return {Kind::kName, Kind::kMeaning, []() -> std::shared_ptr<SchedulerKind> { return std::make_shared<Kind>(); }};
}

}  // namespace athanor
