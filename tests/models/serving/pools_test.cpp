#include <doctest/doctest.h>

#include "models/serving/request_rules.hpp"
#include "models/serving/serving_summary.hpp"
#include "models/serving/simulate_pools.hpp"
#include "sim/random.hpp"
#include "tests/models/serving/simple_law.hpp"
#include "tests/models/serving/small_models.hpp"
#include "tests/models/small_clusters.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

constexpr Bandwidth kRate{1'000'000'000};  // bytes a second: 1 ns for a byte
constexpr Time kLatency = 5_us;            // of each of two hops

/// 4 layers of 2 KV heads of 8 + 8 numbers in 16 bits: 256 bytes of a token.
ServedModel tiny(std::uint32_t tensor = 1) {
  Transformer model;
  model.layers = 4;
  model.attention = {.heads = 4, .kv_heads = 2, .head_size = 8, .value_size = 8};
  return {model, tensor};
}

ServingRules pools(std::uint32_t prefill, std::uint32_t decode) {
  ServingRules rules{.replicas = decode, .engine = {.page = 16, .pages = 10'000}};
  rules.prefill = PrefillPool{.replicas = prefill, .engine = rules.engine};
  return rules;
}

ServingRun serve(const ServedRequests& requests, const ServingRules& rules, const ServedModel& model = tiny(),
                 std::uint32_t decode_tensor = 1, const IterationLaw& decode = simple_law()) {
  const Cluster cluster =
      star(rules.prefill->replicas * model.tensor + rules.replicas * decode_tensor, kRate, kLatency);
  const NetworkOptions options;
  return simulate_pools(requests, rules, simple_law(), decode, {cluster, options, 1, model, decode_tensor});
}

/// Of a prompt of so many tokens alone.
Time prefill_time(std::uint32_t prompt) {
  const IterationLaw law = simple_law();
  return law.of_tokens(prompt) + law.of_samples(1) + law.of_chunk(0, prompt);
}

Time decode_time(std::uint32_t prompt, std::int64_t tokens) {
  return (1_ms + 10_us + 1_us + 1_ns * prompt) * tokens + 1_ns * (tokens * (tokens + 1) / 2);
}

}  // namespace

TEST_CASE("a request alone is prefilled, moves in bytes by rate and latency, and then decodes") {
  for (const std::uint32_t prompt : {2U, 100U, 5000U}) {
    for (const std::uint32_t output : {1U, 2U, 40U}) {
      CAPTURE(prompt);
      CAPTURE(output);
      const ServingRun run = serve({{3_s, prompt, output}}, pools(1, 1));
      const Time first = 3_s + prefill_time(prompt);
      CHECK(run.outcomes[0].scheduled == 3_s);
      CHECK(run.outcomes[0].first_token == first);
      if (output == 1) {
        CHECK(run.outcomes[0].finished == first);
        CHECK(run.kv_bytes == 0);
        continue;
      }
      CHECK(run.transfers[0].begun == first);
      CHECK(run.transfers[0].there == first + 1_ns * (256 * std::int64_t{prompt}) + kLatency * 2);
      CHECK(run.outcomes[0].finished == run.transfers[0].there + decode_time(prompt, output - 1));
      CHECK(run.kv_bytes == 256 * prompt);
      CHECK(run.replicas[0].tokens == output - 1);
    }
  }
}

TEST_CASE("what two replicas send to a third at the same time shares its link") {
  const std::int64_t bytes = 256 * 1000;
  const ServingRun run = serve({{Time::zero(), 1000, 2}, {Time::zero(), 1000, 2}}, pools(2, 1));
  for (const KvTransferTimes& each : run.transfers) {
    CHECK(each.begun == prefill_time(1000));
    CHECK(each.there - each.begun == 2_ns * bytes + kLatency * 2);
  }
  const ServingRun apart = serve({{Time::zero(), 1000, 2}, {Time::zero(), 1000, 2}}, pools(2, 2));
  for (const KvTransferTimes& each : apart.transfers) { CHECK(each.there - each.begun == 1_ns * bytes + kLatency * 2); }
}

TEST_CASE("before each transfer its overhead passes") {
  ServingRules rules = pools(1, 1);
  const ServedRequests requests{{Time::zero(), 100, 2}};
  const Time without = serve(requests, rules).outcomes[0].finished;
  rules.prefill->transfer.overhead = 7_ms;
  CHECK(serve(requests, rules).outcomes[0].finished == without + 7_ms);
}

TEST_CASE("pieces are sent as they are computed: the slower of computing and sending decides, and one piece more") {
  for (const std::uint32_t prompt : {100U, 400'000U}) {  // sent faster than computed, and slower
    for (const std::uint32_t pieces : {1U, 2U, 4U}) {
      CAPTURE(prompt);
      CAPTURE(pieces);
      ServingRules rules = pools(1, 1);
      rules.engine.pages = 100'000;
      rules.prefill->engine = rules.engine;
      rules.prefill->engine.max_batched_tokens = prompt;
      rules.prefill->engine.max_running = 10;
      rules.prefill->transfer.pieces = pieces;
      const ServingRun run = serve({{Time::zero(), prompt, 2}}, rules);
      const Time computing = prefill_time(prompt);
      const Time sending = 1_ns * (256 * std::int64_t{prompt});
      const Time there = computing > sending ? computing + sending / pieces : computing / pieces + sending;
      CHECK(run.transfers[0].there == there + kLatency * 2);
      CHECK(run.outcomes[0].first_token == computing);
    }
  }
}

TEST_CASE("each GPU gets the heads that it computes with, from a GPU that has them") {
  CHECK(kv_shares(tiny(1), 1) == std::vector<KvShare>{{0, 0, 64}});
  CHECK(kv_shares(tiny(1), 2) == std::vector<KvShare>{{0, 0, 32}, {0, 1, 32}});
  CHECK(kv_shares(tiny(2), 1) == std::vector<KvShare>{{0, 0, 32}, {1, 0, 32}});
  CHECK(kv_shares(tiny(2), 4) == std::vector<KvShare>{{0, 0, 32}, {0, 1, 32}, {1, 2, 32}, {1, 3, 32}});
  // GPUs 0 and 1 of four have the first head: each serves one of those that need it.
  CHECK(kv_shares(tiny(4), 4) == std::vector<KvShare>{{0, 0, 32}, {1, 1, 32}, {2, 2, 32}, {3, 3, 32}});
  CHECK(kv_shares(tiny(4), 1) == std::vector<KvShare>{{0, 0, 32}, {2, 0, 32}});
  for (const std::uint32_t from : {1U, 2U, 4U, 8U, 16U}) {
    for (const std::uint32_t to : {1U, 2U, 4U, 8U, 16U}) {
      ServedModel receiver{llama_70b(), to};
      std::vector<std::int64_t> got(to, 0);
      for (const KvShare& share : kv_shares({llama_70b(), from}, to)) { got[share.to] += share.bytes; }
      for (const std::int64_t bytes : got) { CHECK(80.0 * static_cast<double>(bytes) == kept_bytes(receiver)); }
    }
  }
}

TEST_CASE("of latent attention each GPU gets all that heads share, from one of those that have it") {
  const std::int64_t bytes = (512 + 64) * 2;
  CHECK(kv_shares({deepseek_v3(), 1}, 2) == std::vector<KvShare>{{0, 0, bytes}, {0, 1, bytes}});
  CHECK(kv_shares({deepseek_v3(), 2}, 3) == std::vector<KvShare>{{0, 0, bytes}, {1, 1, bytes}, {0, 2, bytes}});
}

TEST_CASE("heads that are divided differently move over more links at the same time") {
  const std::int64_t bytes = 256 * 1000;
  const ServedRequests requests{{Time::zero(), 1000, 2}};
  const auto moving = [&](std::uint32_t from, std::uint32_t to) {
    const ServingRun run = serve(requests, pools(1, 1), tiny(from), to);
    return run.transfers[0].there - run.transfers[0].begun - kLatency * 2;
  };
  CHECK(moving(2, 2) == 1_ns * (bytes / 2));
  CHECK(moving(1, 2) == 1_ns * bytes);  // all leaves by one link
  CHECK(moving(2, 1) == 1_ns * bytes);
  CHECK(moving(2, 4) == 1_ns * bytes);  // each head goes to two GPUs
  CHECK(moving(4, 4) == 1_ns * (bytes / 2));
}

TEST_CASE("keys and values wait where they were computed until there are pages, and prompts behind them too") {
  ServingRules rules = pools(1, 1);
  rules.engine.pages = 11;  // 160 + 16 tokens: one request
  rules.prefill->engine.pages = 20;
  const ServedRequests requests(3, {Time::zero(), 160, 16});
  const ServingRun run = serve(requests, rules);
  CHECK(run.outcomes[1].first_token == run.outcomes[0].first_token);  // two prompts have 20 pages
  CHECK(run.transfers[1].begun == run.outcomes[0].finished);
  CHECK(run.outcomes[2].scheduled == run.transfers[0].there);
  CHECK(run.transfers[2].begun == run.outcomes[1].finished);
}

TEST_CASE("transfers that come as a Poisson process over one link share it as the queue M/D/1 with sharing") {
  RequestRules drawn;
  drawn.count = 30'000;
  drawn.prompt.mean = 1000;
  drawn.output.mean = 2;
  const Time alone = 1_ns * (256 * 1000);
  IterationLaw fast = simple_law();  // decoding takes nothing, so that it begins at once
  fast.of_tokens = [](std::uint32_t) { return Time{1}; };
  fast.of_samples = [](std::uint32_t) { return Time{1}; };
  fast.per_attended = Time::zero();
  for (const double load : {0.3, 0.6}) {
    CAPTURE(load);
    drawn.between = Time{static_cast<std::int64_t>(static_cast<double>(alone.count()) / load)};
    const ServedRequests requests = draw_requests(drawn, 3);
    const ServingRun run = serve(requests, pools(120, 1), tiny(), 1, fast);
    double sum = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      CHECK(run.outcomes[i].first_token - requests[i].arrival == prefill_time(1000));
      sum += seconds(run.transfers[i].there - run.transfers[i].begun - kLatency * 2);
    }
    const double mean = sum / static_cast<double>(requests.size());
    CHECK(mean == doctest::Approx(seconds(alone) / (1 - load)).epsilon(0.03));
  }
}

TEST_CASE("whatever the pools, every token is computed once where nobody is preempted, and all pages come back") {
  RandomStream random(11, "pools");
  for (std::uint32_t trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random.below(n)); };
    ServingRules rules = pools(1 + below(3), 1 + below(3));
    rules.balance = below(2) == 0 ? Balance::round_robin : Balance::least_load;
    for (EngineRules* engine : {&rules.engine, &rules.prefill->engine}) {
      engine->max_running = 1 + below(8);
      engine->max_batched_tokens = engine->max_running + below(200);
      engine->page = 1 + below(20);
      engine->pages = 200 / engine->page + 1 + below(20);
      engine->reserve_output = below(3) == 0;
    }
    rules.prefill->transfer = {.pieces = 1 + below(4), .overhead = 1_us * static_cast<std::int64_t>(below(1000))};
    ServedRequests requests;
    Time now;
    std::uint64_t prompts = 0;
    std::uint64_t outputs = 0;
    for (std::uint32_t left = 1 + below(60); left > 0; --left) {
      now += 1_us * static_cast<std::int64_t>(below(3) == 0 ? 0 : below(20'000));
      requests.push_back({now, 1 + below(100), 1 + below(100)});
      prompts += requests.back().prompt;
      outputs += requests.back().output - 1;
    }
    const ServingRun run = serve(requests, rules);
    std::uint64_t computed = 0;
    std::uint64_t preemptions = 0;
    for (const auto* pool : {&run.prefill, &run.replicas}) {
      for (const EngineAccount& each : *pool) {
        computed += each.tokens;
        preemptions += each.preemptions;
      }
    }
    CHECK((preemptions > 0 || computed == prompts + outputs));
    CHECK(computed >= prompts + outputs);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const ServedOutcome& outcome = run.outcomes[i];
      CHECK(outcome.scheduled >= requests[i].arrival);
      CHECK(outcome.first_token > outcome.scheduled);
      if (requests[i].output == 1) { continue; }
      CHECK(run.transfers[i].there >= outcome.first_token);
      CHECK(outcome.finished > run.transfers[i].there);
    }
  }
}
