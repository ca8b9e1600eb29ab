// What holds for any pipeline, tried on random ones; what fails is shrunk. RC_PARAMS sets seed and number
// (meson.build).

#include <algorithm>
#include <map>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "models/training/pipeline/schedule.hpp"
#include "models/training/pipeline/times.hpp"
#include "sim/error.hpp"
#include "tests/models/training/pipeline_fault.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

using Kind = PipelineTask::Kind;

/// A schedule that exists: numbers that do not fit are drawn anew.
PipelineSchedule draw() {
  const auto kind =
      *rc::gen::element(PipelineKind::gpipe, PipelineKind::one_f_one_b, PipelineKind::interleaved, PipelineKind::zb_h1,
                        PipelineKind::zb_h2, PipelineKind::zb_v, PipelineKind::dual_pipe);
  const auto half = *rc::gen::inRange<std::uint32_t>(1, 7);
  const bool dual = kind == PipelineKind::dual_pipe;
  const std::uint32_t stages = dual ? 2 * half : *rc::gen::inRange<std::uint32_t>(1, 13);
  const std::uint32_t least = dual ? stages : kind == PipelineKind::interleaved ? stages : 1;
  const std::uint32_t micro_batches = *rc::gen::inRange<std::uint32_t>(least, least + 40) * (dual ? 2 : 1);
  std::uint32_t chunks = kind == PipelineKind::zb_v ? 2 : 1;
  if (kind == PipelineKind::interleaved) { chunks = *rc::gen::inRange<std::uint32_t>(2, 6); }
  return pipeline_schedule(kind, stages, chunks, micro_batches);
}

/// The last micro-batch that passed each chunk, to check that they ascend.
class Ascent {
 public:
  bool passes(bool forward, std::uint32_t chunk, std::uint32_t micro_batch) {
    const auto [last, fresh] = last_.try_emplace({forward, chunk}, micro_batch);
    const bool ascends = fresh || last->second < micro_batch;
    last->second = micro_batch;
    return ascends;
  }

 private:
  std::map<std::pair<bool, std::uint32_t>, std::uint32_t> last_;
};

bool ascends(const std::vector<PipelineTask>& tasks) {
  Ascent ascent;
  return std::all_of(tasks.begin(), tasks.end(), [&](const PipelineTask& task) {
    switch (task.kind) {
      case Kind::forward: return ascent.passes(true, task.chunk, task.micro_batch);
      case Kind::backward:
      case Kind::backward_input: return ascent.passes(false, task.chunk, task.micro_batch);
      case Kind::backward_weight: return true;
      case Kind::forward_backward:
        return ascent.passes(true, task.chunk, task.micro_batch) && ascent.passes(false, task.other_chunk, task.other);
    }
    return false;
  });
}

PipelineDurations draw_durations() {
  const auto length = [] { return Time{*rc::gen::inRange<std::int64_t>(1, 20)}; };
  PipelineDurations durations{length(), length(), length(), {}, length()};
  durations.forward_backward = durations.forward + durations.backward_input + durations.backward_weight;
  return durations;
}

}  // namespace

TEST_CASE("every schedule is without fault and micro-batches pass every place in order") {
  CHECK(rc::check([] {
    const PipelineSchedule schedule = draw();
    RC_ASSERT(fault_in(schedule).value_or("") == "");
    for (const std::vector<PipelineTask>& tasks : schedule.tasks) { RC_ASSERT(ascends(tasks)); }
  }));
}

TEST_CASE("a schedule that lacks any one task, or has any one twice, has a fault") {
  CHECK(rc::check([] {
    PipelineSchedule schedule = draw();
    std::vector<PipelineTask>& tasks = schedule.tasks[*rc::gen::inRange<std::uint32_t>(0, schedule.stages)];
    const auto at = tasks.begin() + static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, tasks.size()));
    if (*rc::gen::arbitrary<bool>()) {
      tasks.insert(at, PipelineTask(*at));
    } else {
      tasks.erase(at);
    }
    RC_ASSERT(fault_in(schedule).has_value());
  }));
}

TEST_CASE("a schedule takes the work of a stage and no less than one micro-batch through all places and back") {
  CHECK(rc::check([] {
    const PipelineSchedule schedule = draw();
    const PipelineDurations durations = draw_durations();
    const PipelineTimes times = pipeline_times(schedule, durations);
    const Time all = durations.forward + durations.backward_input + durations.backward_weight;
    const Time work = all * (std::int64_t{schedule.micro_batches} * schedule.places() / schedule.stages);
    for (const PipelineTimes::Stage& stage : times.stages) { RC_ASSERT(stage.busy == work); }
    RC_ASSERT(times.longest() >= work);
    const Time there_and_back = (durations.forward + durations.backward_input) * schedule.places();
    RC_ASSERT(times.end() >= there_and_back + durations.message * (2 * (schedule.stages - 1)));
  }));
}
