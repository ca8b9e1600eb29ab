#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/ordered_scheduler.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

struct Fifo final : SchedulerKind {
  static constexpr std::string_view kName = "fifo";
  static constexpr std::string_view kMeaning = "one queue in the order of submission";
  OrderedSettings settings;

  void visit(Fields& fields) override { athanor::visit(fields, settings); }
  std::unique_ptr<Scheduler> make(const JobList& /*jobs*/, const NodeList& /*nodes*/) const override {
    return std::make_unique<OrderedScheduler>(
        [](const Job& job, const JobList& /*jobs*/) { return job.submitted.count(); }, settings);
  }
};

template SchedulerEntry scheduler_entry_of<Fifo>();

}  // namespace athanor
