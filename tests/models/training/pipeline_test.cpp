// Laws of pipeline schedules where messages take no time; F, B and W: forward, backward of inputs and of weights.

#include <algorithm>
#include <array>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/training/pipeline/schedule.hpp"
#include "models/training/pipeline/times.hpp"
#include "sim/error.hpp"
#include "tests/models/training/pipeline_fault.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

using Kind = PipelineTask::Kind;

struct Passes {
  int f = 1;
  int b = 1;
  int w = 1;

  int all() const { return f + b + w; }
  PipelineDurations durations() const { return {Time{f}, Time{b}, Time{w}, Time{f + b + w}, Time::zero()}; }
};

std::vector<Passes> all_passes() {
  std::vector<Passes> list;
  for (const int f : {1, 2, 3, 7}) {
    for (const int b : {1, 2, 3, 5}) {
      for (const int w : {1, 2, 3, 4}) { list.push_back({f, b, w}); }
    }
  }
  return list;
}

PipelineSchedule scheduled(PipelineKind kind, int stages, int chunks, int micro_batches) {
  return pipeline_schedule(kind, static_cast<std::uint32_t>(stages), static_cast<std::uint32_t>(chunks),
                           static_cast<std::uint32_t>(micro_batches));
}

Time end_of(const PipelineSchedule& schedule, const Passes& passes) {
  return pipeline_times(schedule, passes.durations()).end();
}

Time longest_of(const PipelineSchedule& schedule, const Passes& passes) {
  return pipeline_times(schedule, passes.durations()).longest();
}

double most_held(const PipelineSchedule& schedule, std::uint32_t stage) {
  const HeldActivations peak = peak_activations(schedule, stage);
  return peak.whole + peak.weights;
}

std::string refusal(PipelineKind kind, std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches) {
  try {
    pipeline_schedule(kind, stages, chunks, micro_batches);
  } catch (const SimulationError& error) {
    CHECK(error.code() == "pipeline-does-not-fit");
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("GPipe and 1F1B wait for (p - 1)(F + B + W)") {
  for (const PipelineKind kind : {PipelineKind::gpipe, PipelineKind::one_f_one_b}) {
    for (const int p : {1, 2, 3, 4, 7}) {
      for (const int m : {1, 2, 3, 4, 8, 13}) {
        const PipelineSchedule schedule = scheduled(kind, p, 1, m);
        REQUIRE(!fault_in(schedule));
        for (const Passes& passes : all_passes()) {
          CAPTURE(p);
          CAPTURE(m);
          CHECK(end_of(schedule, passes) == Time{(m + p - 1) * passes.all()});
        }
      }
    }
  }
}

TEST_CASE("interleaved 1F1B waits for a v-th of that") {
  for (const int p : {1, 2, 3, 4, 6}) {
    for (const int v : {2, 3, 4}) {
      for (const int m : {p, 2 * p, 5 * p}) {
        const PipelineSchedule schedule = scheduled(PipelineKind::interleaved, p, v, m);
        REQUIRE(!fault_in(schedule));
        for (const Passes& passes : all_passes()) {
          CAPTURE(p);
          CAPTURE(v);
          CAPTURE(m);
          CHECK(end_of(schedule, passes) == Time{(v * m + p - 1) * passes.all()});
        }
      }
    }
  }
}

TEST_CASE("interleaved 1F1B takes micro-batches that are no multiple of the stages") {
  for (const int p : {2, 3, 4, 5, 8}) {
    for (const int v : {2, 3}) {
      for (int m = p; m < 4 * p; ++m) {
        CAPTURE(p);
        CAPTURE(v);
        CAPTURE(m);
        const PipelineSchedule schedule = scheduled(PipelineKind::interleaved, p, v, m);
        CHECK(fault_in(schedule).value_or("") == "");
        const Passes passes{2, 2, 2};
        CHECK(end_of(schedule, passes) >= Time{(v * m + p - 1) * passes.all()});
      }
    }
  }
}

TEST_CASE("ZB-H1 waits for (p - 1)(F + B - W), and no less than (p - 1) B") {
  for (const int p : {1, 2, 3, 4, 8}) {
    for (const int m : {p, p + 1, 3 * p}) {
      const PipelineSchedule schedule = scheduled(PipelineKind::zb_h1, p, 1, m);
      REQUIRE(!fault_in(schedule));
      for (const Passes& passes : all_passes()) {
        CAPTURE(p);
        CAPTURE(m);
        const int waits = (p - 1) * (passes.b + std::max(0, passes.f - passes.w));
        CHECK(longest_of(schedule, passes) == Time{m * passes.all() + waits});
      }
    }
  }
}

TEST_CASE("ZB-H2 waits for (p - 1)(F + B - 2 W) where W is the shortest pass") {
  for (const int p : {1, 2, 3, 4, 8}) {
    for (const int m : {2 * p - 1, 2 * p, 4 * p}) {
      const PipelineSchedule schedule = scheduled(PipelineKind::zb_h2, p, 1, m);
      REQUIRE(!fault_in(schedule));
      for (const Passes& passes : all_passes()) {
        if (passes.w > passes.f || passes.w > passes.b) { continue; }
        CAPTURE(p);
        CAPTURE(m);
        CHECK(longest_of(schedule, passes) == Time{m * passes.all() + (p - 1) * (passes.f + passes.b - 2 * passes.w)});
      }
    }
  }
}

TEST_CASE("no stage of ZB-V ever waits where all passes are equally long") {
  for (const int p : {1, 2, 3, 4, 8}) {
    for (const int m : {2 * p - 1, 2 * p, 5 * p}) {
      CAPTURE(p);
      CAPTURE(m);
      const PipelineSchedule schedule = scheduled(PipelineKind::zb_v, p, 2, m);
      REQUIRE(!fault_in(schedule));
      CHECK(longest_of(schedule, {3, 3, 3}) == Time{m * 2 * 9});
      CHECK(end_of(schedule, {3, 3, 3}) == Time{m * 2 * 9 + (p - 1) * 3});
    }
  }
}

TEST_CASE(
    "DualPipe waits for (p / 2 - 1)(F&B + B - 3 W), B being the whole backward, where F is half of what is left") {
  for (const int p : {2, 4, 6, 8, 12}) {
    for (const int m : {2 * p, 2 * p + 2, 5 * p}) {
      const PipelineSchedule schedule = scheduled(PipelineKind::dual_pipe, p, 1, m);
      REQUIRE(!fault_in(schedule));
      for (const Passes& passes : all_passes()) {
        if (passes.f != passes.b || passes.w > passes.f) { continue; }
        CAPTURE(p);
        CAPTURE(m);
        const int backward = passes.b + passes.w;
        const int waits = (p / 2 - 1) * (passes.all() + backward - 3 * passes.w);
        CHECK(end_of(schedule, passes) == Time{m * passes.all() + waits});
        PipelineDurations beside = passes.durations();
        beside.forward_backward = Time{passes.all() - 1};
        CHECK(pipeline_times(schedule, beside).end() < Time{m * passes.all() + waits});
      }
    }
  }
}

TEST_CASE("stages keep as many activations as published") {
  for (const std::uint32_t p : {2U, 4U, 6U, 8U}) {
    const std::uint32_t m = 3 * p;
    CAPTURE(p);
    const PipelineSchedule gpipe = pipeline_schedule(PipelineKind::gpipe, p, 1, m);
    const PipelineSchedule alternating = pipeline_schedule(PipelineKind::one_f_one_b, p, 1, m);
    const PipelineSchedule h1 = pipeline_schedule(PipelineKind::zb_h1, p, 1, m);
    const PipelineSchedule h2 = pipeline_schedule(PipelineKind::zb_h2, p, 1, m);
    const PipelineSchedule v = pipeline_schedule(PipelineKind::zb_v, p, 2, m);
    const PipelineSchedule dual = pipeline_schedule(PipelineKind::dual_pipe, p, 1, m);
    for (std::uint32_t stage = 0; stage < p; ++stage) {
      CHECK(most_held(gpipe, stage) == m);
      CHECK(most_held(alternating, stage) == p - stage);
      CHECK(most_held(h1, stage) == p);
      CHECK(most_held(h2, stage) == 2 * p - 1);
      CHECK(most_held(v, stage) == p);
      CHECK(most_held(dual, stage) == p + 1);
    }
    for (const std::uint32_t chunks : {2U, 4U}) {
      const PipelineSchedule interleaved = pipeline_schedule(PipelineKind::interleaved, p, chunks, m);
      CHECK(most_held(interleaved, 0) == p + (p - 1.0) / chunks);
    }
  }
}

TEST_CASE("activations whose weights wait are counted apart") {
  const PipelineSchedule h1 = pipeline_schedule(PipelineKind::zb_h1, 4, 1, 12);
  CHECK(peak_activations(h1, 3).whole == 1);
  CHECK(peak_activations(h1, 3).weights == 3);
  CHECK(peak_activations(h1, 0, 0).whole == 4);
  CHECK(peak_activations(h1, 3, 0).whole == 1);
}

TEST_CASE("a stage of DualPipe holds the model's places p and P - 1 - p") {
  const PipelineSchedule dual = pipeline_schedule(PipelineKind::dual_pipe, 4, 1, 8);
  CHECK(dual.replicas == 2);
  CHECK(dual.places() == 4);
  for (std::uint32_t place = 0; place < 4; ++place) {
    CHECK(dual.stage_chunks[place] == PipelineSchedule::StageChunk{place, 0});
    CHECK(dual.stage_chunks[4 + place] == PipelineSchedule::StageChunk{3 - place, 1});
  }
  CHECK(replica_of(dual, 3) == 0);
  CHECK(replica_of(dual, 4) == 1);
}

TEST_CASE("a pipeline that does not fit is refused with what would do") {
  CHECK(refusal(PipelineKind::one_f_one_b, 4, 2, 8).find("virtual_stages to 1, or use interleaved") !=
        std::string::npos);
  CHECK(refusal(PipelineKind::gpipe, 4, 2, 8) != "");
  CHECK(refusal(PipelineKind::zb_h1, 4, 2, 8) != "");
  CHECK(refusal(PipelineKind::zb_h2, 4, 2, 8) != "");
  CHECK(refusal(PipelineKind::zb_v, 4, 1, 8).find("virtual_stages to 2") != std::string::npos);
  CHECK(refusal(PipelineKind::interleaved, 4, 1, 8).find("or use 1f1b") != std::string::npos);
  CHECK(refusal(PipelineKind::interleaved, 4, 2, 3).find("as many micro-batches as stages, 4, not 3") !=
        std::string::npos);
  CHECK(refusal(PipelineKind::interleaved, 4, 2, 4) == "");
  CHECK(refusal(PipelineKind::dual_pipe, 3, 1, 8).find("4 would do") != std::string::npos);
  CHECK(refusal(PipelineKind::dual_pipe, 4, 1, 6).find("8 would do") != std::string::npos);
  CHECK(refusal(PipelineKind::dual_pipe, 4, 1, 9).find("10 would do") != std::string::npos);
  CHECK(refusal(PipelineKind::dual_pipe, 4, 2, 8) != "");
  CHECK(refusal(PipelineKind::one_f_one_b, 100'000, 1, 4'000'000'000).find("more than 100000000 tasks") !=
        std::string::npos);
}

TEST_CASE("a fault in a schedule is found") {
  const PipelineSchedule right = pipeline_schedule(PipelineKind::zb_h1, 3, 1, 5);
  PipelineSchedule wrong = right;
  wrong.tasks[1].pop_back();
  CHECK(fault_in(wrong) == "micro-batch 4 does not have all of its work at chunk 0 of stage 1");
  wrong = right;
  wrong.tasks[2].push_back({.kind = Kind::forward, .micro_batch = 2});
  CHECK(fault_in(wrong) == "stage 2 does work on micro-batch 2 of chunk 0 twice");
  wrong = right;
  wrong.tasks[2].push_back({.kind = Kind::forward, .micro_batch = 5});
  CHECK(fault_in(wrong) == "stage 2 has no micro-batch 5 of chunk 0");
  wrong = right;
  std::reverse(wrong.tasks[0].begin(), wrong.tasks[0].end());
  CHECK(fault_in(wrong) == "stage 0 does work on micro-batch 4 of chunk 0 before what it needs");
  wrong = right;
  wrong.stage_chunks[1] = wrong.stage_chunks[0];
  CHECK(fault_in(wrong) == "its stages, chunks and places do not agree");
  wrong = pipeline_schedule(PipelineKind::one_f_one_b, 2, 1, 4);
  std::rotate(wrong.tasks[0].begin(), wrong.tasks[0].begin() + 2, wrong.tasks[0].begin() + 3);
  CHECK(fault_in(wrong) == "16 of 16 tasks wait for ever, for each other");
}
