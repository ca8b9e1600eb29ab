#include "models/training/search/plan_search.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/software/profile.hpp"
#include "models/training/parameter_share.hpp"
#include "models/training/search/step_bound.hpp"
#include "tests/models/small_clusters.hpp"
#include "tests/models/training/small_models.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

const Profile& no_costs() {
  static const Profile profile;
  return profile;
}

/// Rings, pairwise exchanges and messages.
CollectiveTimer timer_on(const Cluster& cluster) {
  return CollectiveTimer(
      {.cluster = cluster, .profile = no_costs(), .options = {}, .algorithms = [](CollectiveKind kind) {
         const bool sends = kind == CollectiveKind::send_receive;
         const bool exchanges = kind == CollectiveKind::all_to_all;
         return std::vector<const Algorithm*>{&find(kind, sends ? "direct" : exchanges ? "pairwise" : "ring")};
       }});
}

/// GPUs so slow, beside links of 10 GB/s, that neither computing nor communication decides everything.
TrainingSetup setup_of(const Transformer& model) {
  TrainingSetup setup;
  setup.model.name = "small";
  setup.model.transformer = model;
  setup.gpu.name = "small";
  setup.gpu.flops = {{Precision::bf16, 2e13}};
  setup.gpu.memory_bandwidth = 1e12;
  setup.gpu.memory = 8e9;
  setup.compute.overhead = 2_us;
  setup.compute.interference = 0.1;
  setup.compute.straggler_growth = 0.01;
  setup.plan.global_batch = 16;
  setup.plan.sequence = 512;
  setup.layers = {model.layers};
  return setup;
}

PlanSearchSettings settings_of(const TrainingSetup& setup, std::uint32_t gpus, double room) {
  PlanSpace space;
  space.gpus = {gpus};
  space.micro_batch = {1, 2};
  using enum PipelineKind;
  space.schedules = {gpipe, one_f_one_b, interleaved, zb_h1, zb_h2, zb_v, dual_pipe};
  PlanSearchSettings settings;
  settings.space = default_space(std::move(space), setup, 4);
  settings.room = room;
  settings.top = 5;
  return settings;
}

void check_same(const PlanSearchResult& searched, const PlanSearchResult& all) {
  CHECK(searched.complete);
  CHECK(searched.plans == all.plans);
  CHECK(searched.unfit == all.unfit);
  CHECK(searched.refused == all.refused);
  CHECK(searched.bounded + searched.simulated == all.simulated);
  REQUIRE(searched.best.size() == all.best.size());
  for (std::size_t i = 0; i < all.best.size(); ++i) {
    CAPTURE(i);
    CHECK(searched.best[i].parts.time == all.best[i].parts.time);
  }
}

/// Searches with bounds and without, and says how many plans bounds have spared.
std::uint64_t search_twice(const TrainingSetup& setup, std::uint32_t gpus, double room) {
  const Cluster cluster = star(gpus, 10_GBps, 1_us);
  CollectiveTimer timer = timer_on(cluster);
  PlanSearchSettings settings = settings_of(setup, gpus, room);
  const PlanSearchResult searched = search_plans(setup, settings, timer);
  settings.exhaustive = true;
  const PlanSearchResult all = search_plans(setup, settings, timer);
  check_same(searched, all);
  return searched.bounded;
}

/// Simulates all plans of a space: none takes less than its bounds.
std::size_t check_bounds(const TrainingSetup& setup, std::uint32_t gpus) {
  const Cluster cluster = star(gpus, 10_GBps, 1_us);
  CollectiveTimer timer = timer_on(cluster);
  const PlanList list = plans_of(settings_of(setup, gpus, 0).space, setup);
  std::size_t checked = 0;
  ComputingBound computing(setup);
  for (std::size_t i = 0; i < list.plans.size(); i += 7) {
    TrainingSetup own = setup;
    own.plan = list.plans[i];
    PipelineSchedule schedule;
    try {
      schedule = schedule_of(own.plan);
    } catch (const SimulationError&) { continue; }
    own.layers = layers_of_places(setup.model.transformer->layers, schedule.places());
    computing.take(schedule, own.layers);
    const Time step = simulate_step(own, timer, {}).time;
    CAPTURE(name(own.plan.schedule));
    CAPTURE(own.plan.tensor);
    CAPTURE(own.plan.pipeline);
    CHECK(computing.of(own.plan) <= step);
    CHECK(step_bound(own, schedule, timer) <= step);
    ++checked;
  }
  return checked;
}

}  // namespace

TEST_CASE(
    "selective plans recompute what costs few products, or that and MLPs and experts; none before selective and full") {
  const auto texts = [](const TrainingSetup& setup) {
    std::vector<std::string> all;
    for (const ParallelPlan& plan : plans_of(settings_of(setup, 1, 0).space, setup).plans) {
      const std::string text = recompute_text(plan);
      if (std::find(all.begin(), all.end(), text) == all.end()) { all.push_back(text); }
    }
    return all;
  };
  using Texts = std::vector<std::string>;
  TrainingSetup setup = setup_of(llama(2, 256, 4));
  CHECK(texts(setup) == Texts{"none", "selective: layernorm", "selective: layernorm+mlp", "full"});
  setup.plan.fused_attention = false;
  CHECK(texts(setup) == Texts{"none", "selective: core_attn+layernorm", "selective: core_attn+layernorm+mlp", "full"});
  setup = setup_of(with_experts(llama(2, 256, 4), 4, 2, 128, 0));
  CHECK(texts(setup) == Texts{"none", "selective: layernorm+moe_act", "selective: layernorm+moe_act+moe", "full"});
  setup.plan.recompute = Recompute::selective;  // says which itself
  setup.plan.recompute_modules = RecomputeModules({RecomputeModule::moe});
  CHECK(texts(setup) == Texts{"none", "selective: moe", "full"});
}

TEST_CASE("no plan takes less than its bounds") {
  TrainingSetup setup = setup_of(llama(8, 512, 8));
  CHECK(check_bounds(setup, 8) > 50);
  setup.plan.overlap_gradients = setup.plan.overlap_parameters = setup.plan.overlap_tensor = true;
  CHECK(check_bounds(setup, 8) > 50);
  setup.plan.overlap_pipeline = false;
  setup.model.transformer->tied = true;
  CHECK(check_bounds(setup, 4) > 30);
  CHECK(check_bounds(setup_of(with_experts(llama(6, 512, 8), 4, 2, 256, 1)), 8) > 50);
  setup = setup_of(llama(8, 512, 8));
  setup.plan.optimizer = OptimizerKind::muon;
  CHECK(check_bounds(setup, 4) > 20);
  setup.plan.lora.rank = 8;
  CHECK(check_bounds(setup, 4) > 20);
}

TEST_CASE("without communication the bound of one direction is the step") {
  TrainingSetup setup = setup_of(llama(8, 512, 8));
  setup.compute.interference = 0;
  const Cluster cluster = star(1, 10_GBps, 1_us);
  CollectiveTimer timer = timer_on(cluster);
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    setup.plan.recompute = recompute;
    const PipelineSchedule schedule = schedule_of(setup.plan);
    ComputingBound computing(setup);
    computing.take(schedule, setup.layers);
    CHECK(computing.of(setup.plan) == simulate_step(setup, timer, {}).time);
    CHECK(step_bound(setup, schedule, timer) == computing.of(setup.plan));
  }
}

TEST_CASE("a search with bounds finds what simulating all plans finds") {
  TrainingSetup setup = setup_of(llama(8, 512, 8));
  CHECK(search_twice(setup, 8, 0) > 100);
  setup.plan.overlap_gradients = setup.plan.overlap_parameters = true;
  CHECK(search_twice(setup, 4, 0.9e9) > 10);
  search_twice(setup_of(with_experts(llama(6, 512, 8), 4, 2, 256, 0)), 4, 0);
}

TEST_CASE("optimizers of whole matrices are searched without sharding that cuts these, adapters with all of it") {
  const Cluster cluster = star(4, 10_GBps, 1_us);
  CollectiveTimer timer = timer_on(cluster);
  TrainingSetup setup = setup_of(llama(4, 256, 4));
  const auto searched = [&] { return search_plans(setup, settings_of(setup, 4, 8e9), timer); };
  const PlanSearchResult adam = searched();
  setup.plan.optimizer = OptimizerKind::muon;
  setup.plan.sharding = Sharding::parameters;  // of the plan that it begins with
  const PlanSearchResult muon = searched();
  CHECK(muon.plans == adam.plans);
  CHECK(muon.refused.size() == adam.refused.size() + 2);
  REQUIRE(!muon.best.empty());
  for (const RankedPlan& each : muon.best) { CHECK(each.plan.sharding <= Sharding::optimizer); }
  setup.plan = setup_of(llama(4, 256, 4)).plan;
  setup.plan.lora.rank = 8;
  const PlanSearchResult adapters = searched();
  CHECK(adapters.refused == adam.refused);
  CHECK(adapters.plans == adam.plans);
  CHECK(adapters.best.front().plan.lora.rank == 8);
}

TEST_CASE("the setup's own plan is ranked among the others, once") {
  TrainingSetup setup = setup_of(llama(8, 512, 8));
  setup.plan.tensor = 2;
  setup.plan.sequence_parallel = true;
  setup.plan.data = 2;
  const Cluster cluster = star(4, 10_GBps, 1_us);
  CollectiveTimer timer = timer_on(cluster);
  PlanSearchSettings settings = settings_of(setup, 4, 0);
  settings.own_plan = true;
  settings.exhaustive = true;
  settings.top = 100'000;
  const PlanSearchResult result = search_plans(setup, settings, timer);
  REQUIRE(result.own.has_value());
  CHECK(result.own_first == result.own_last);
  CHECK(result.best[result.own_first - 1].parts.time == result.own->parts.time);
  std::uint64_t refused = 0;
  for (const auto& [why, count] : result.refused) { refused += count; }
  CHECK(result.plans - refused == result.best.size());
}

TEST_CASE("where nothing fits, the smallest plan is known; where little does, the nearest miss") {
  const TrainingSetup setup = setup_of(llama(8, 512, 8));
  const Cluster cluster = star(4, 10_GBps, 1_us);
  CollectiveTimer timer = timer_on(cluster);
  const PlanSearchResult none = search_plans(setup, settings_of(setup, 4, 1e6), timer);
  CHECK(none.best.empty());
  CHECK(none.simulated == 0);
  REQUIRE(none.smallest.has_value());
  const double least = none.smallest->memory.total();
  const PlanSearchResult few = search_plans(setup, settings_of(setup, 4, 1.05 * least), timer);
  REQUIRE_FALSE(few.best.empty());
  for (const RankedPlan& each : few.best) { CHECK(each.memory.total() <= 1.05 * least); }
  REQUIRE(few.miss.has_value());
  CHECK(few.miss->memory.total() > 1.05 * least);
  CHECK(few.miss->bound < few.best.front().parts.time);
}

TEST_CASE("parts of a step add up to it") {
  const TrainingSetup setup = setup_of(llama(8, 512, 8));
  const Cluster cluster = star(4, 10_GBps, 1_us);
  CollectiveTimer timer = timer_on(cluster);
  for (const RankedPlan& each : search_plans(setup, settings_of(setup, 4, 0), timer).best) {
    double sum = each.parts.computing_s + each.parts.bubble_s + each.parts.stragglers_s;
    for (const double exposed : each.parts.exposed_s) { sum += exposed; }
    CHECK(sum == doctest::Approx(seconds(each.parts.time)).epsilon(1e-9));
  }
}

TEST_CASE("layers spread over places with embedding and output as a layer each") {
  TrainedModel model;
  model.transformer = llama(126, 64, 2);
  CHECK(most_places(model) == 128);
  CHECK(layers_of_places(126, 128).front() == 0);
  CHECK(layers_of_places(126, 128).back() == 0);
  CHECK(spreads_evenly(model, 128));
  CHECK(spreads_evenly(model, 16));
  CHECK(spreads_evenly(model, 9));
  CHECK_FALSE(spreads_evenly(model, 10));
  for (std::uint32_t places = 1; places <= 128; ++places) {
    const std::vector<std::uint32_t> layers = layers_of_places(126, places);
    std::uint32_t sum = 0;
    for (const std::uint32_t each : layers) { sum += each; }
    CHECK(sum == 126);
    CHECK(*std::max_element(layers.begin(), layers.end()) - *std::min_element(layers.begin(), layers.end()) <= 1);
  }
}
