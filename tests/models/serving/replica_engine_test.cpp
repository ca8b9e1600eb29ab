#include "models/serving/replica_engine.hpp"

#include <doctest/doctest.h>

#include "sim/random.hpp"
#include "tests/models/serving/naive_engine.hpp"
#include "tests/models/serving/simple_law.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

struct Served {
  std::vector<ServedOutcome> outcomes;
  EngineAccount account;
};

Served serve(const EngineRules& rules, const ServedRequests& requests, const IterationLaw& law = simple_law()) {
  Served served;
  served.outcomes.resize(requests.size());
  ReplicaEngine engine(rules, law, requests, served.outcomes);
  for (std::uint32_t i = 0; i < requests.size(); ++i) { engine.arrive(i); }
  engine.advance(Time::max());
  served.account = engine.account();
  return served;
}

EngineRules roomy() { return {.max_running = 64, .max_batched_tokens = 1024, .page = 16, .pages = 10'000}; }

Time iteration(const IterationLoad& load) { return time_of(load, simple_law()); }

}  // namespace

TEST_CASE(
    "a request alone gets its first token after its chunks, and each further one after an iteration of one token") {
  const IterationLaw law = simple_law();
  for (const std::uint32_t prompt : {1U, 2U, 1023U, 1024U, 1025U, 2500U}) {
    for (const std::uint32_t output : {1U, 2U, 300U}) {
      CAPTURE(prompt);
      CAPTURE(output);
      Time first = 5_s;
      for (std::uint32_t past = 0; past < prompt; past += 1024) {
        const std::uint32_t tokens = std::min(1024U, prompt - past);
        const std::uint32_t samples = past + tokens == prompt ? 1 : 0;
        first += law.of_tokens(tokens) + law.of_samples(samples);
        first += tokens == 1 ? 1_ns * (past + 1) : law.of_chunk(past, tokens);
      }
      const Served served = serve(roomy(), {{5_s, prompt, output}});
      CHECK(served.outcomes[0].scheduled == 5_s);
      CHECK(served.outcomes[0].first_token == first);
      const std::int64_t more = output - 1;
      const Time decoding = (1_ms + 10_us + 1_us + 1_ns * prompt) * more + 1_ns * (more * (more + 1) / 2);
      CHECK(served.outcomes[0].finished - first == decoding);
      CHECK(served.account.iterations == (prompt + 1023) / 1024 + output - 1);
      CHECK(served.account.tokens == prompt + output - 1);
      CHECK(served.account.busy == served.outcomes[0].finished - 5_s);
      CHECK(served.account.most_pages == (prompt + output - 1 + 15) / 16);
    }
  }
}

TEST_CASE("equal requests that come together are served as one batch") {
  for (const std::uint32_t count : {1U, 2U, 7U, 64U}) {
    CAPTURE(count);
    const EngineRules rules{.max_running = 64, .max_batched_tokens = 64 * 100, .page = 16, .pages = 10'000};
    const Served served = serve(rules, ServedRequests(count, {Time::zero(), 100, 50}));
    const IterationLaw law = simple_law();
    const Time first = law.of_tokens(100 * count) + law.of_samples(count) + law.of_chunk(0, 100) * count;
    Time end = first;
    for (std::uint32_t i = 1; i < 50; ++i) { end += iteration({count, count, std::uint64_t{count} * (100 + i)}); }
    for (const ServedOutcome& outcome : served.outcomes) {
      CHECK(outcome.first_token == first);
      CHECK(outcome.finished == end);
    }
    CHECK(served.account.iterations == 50);
    CHECK(served.account.running_seconds == doctest::Approx(count * seconds(end)));
  }
}

TEST_CASE("those that decode come first, and prompts get what is left of the budget") {
  EngineRules rules = roomy();
  rules.max_batched_tokens = 100;
  // The first decodes from 3.05 ms on; the second comes while it does.
  const ServedRequests requests{{Time::zero(), 100, 1000}, {100_ms, 150, 1}};
  const IterationLaw law = simple_law();
  const Served chunked = serve(rules, requests);
  const Time begins = chunked.outcomes[1].scheduled;
  CHECK(begins >= 100_ms);
  CHECK(begins < 100_ms + law.of_tokens(1) + 2_us);
  const auto before = static_cast<std::uint32_t>((begins - chunked.outcomes[0].first_token).count() / 1'011'000'000);
  const Time first_chunk = law.of_tokens(100) + 1_us + 1_ns * (100 + before + 1) + law.of_chunk(0, 99);
  const Time second_chunk = law.of_tokens(52) + 2_us + 1_ns * (100 + before + 2) + law.of_chunk(99, 51);
  CHECK(chunked.outcomes[1].first_token - begins == first_chunk + second_chunk);
  rules.chunked_prefill = false;
  rules.max_batched_tokens = 1099;
  const ServedRequests longer{{Time::zero(), 100, 1000}, {100_ms, 1099, 1}};
  const Served whole = serve(rules, longer);
  CHECK(whole.outcomes[1].scheduled == whole.outcomes[0].finished);  // beside one that decodes it does not fit
}

TEST_CASE("a request waits until there are pages, and no more run than may") {
  EngineRules rules = roomy();
  rules.pages = 20;
  const ServedRequests two{{Time::zero(), 160, 10}, {Time::zero(), 160, 10}};  // 11 pages each, 10 of the prompt
  CHECK(serve(rules, two).outcomes[1].scheduled == Time::zero());
  rules.pages = 19;
  const Served waits = serve(rules, two);
  CHECK(waits.outcomes[1].scheduled == waits.outcomes[0].finished);
  CHECK(waits.account.preemptions == 0);
  rules.pages = 10'000;
  rules.max_running = 1;
  const Served alone = serve(rules, two);
  CHECK(alone.outcomes[1].scheduled == alone.outcomes[0].finished);
}

TEST_CASE("where pages run out the newest is preempted, and computes all of its tokens again") {
  EngineRules rules = roomy();
  rules.pages = 21;  // two prompts of 10 pages, and one page for the first token that needs one
  const ServedRequests two{{Time::zero(), 160, 20}, {Time::zero(), 160, 20}};
  const Served served = serve(rules, two);
  CHECK(served.outcomes[0].preemptions == 0);
  CHECK(served.outcomes[1].preemptions == 1);
  CHECK(served.account.preemptions == 1);
  // It had computed its prompt, and was preempted when both decoded first: 161 tokens are known.
  CHECK(served.account.tokens == 2 * 160 + 19 + 161 + 18);
  CHECK(served.outcomes[1].first_token == served.outcomes[0].first_token);
  CHECK(served.outcomes[1].scheduled == Time::zero());
  CHECK(served.outcomes == serve_naively(rules, simple_law(), two));
}

TEST_CASE("where pages of the whole output are reserved nobody is preempted, and fewer run") {
  EngineRules rules = roomy();
  rules.pages = 21;
  rules.reserve_output = true;
  const ServedRequests two{{Time::zero(), 160, 20}, {Time::zero(), 160, 20}};  // 12 pages each
  const Served served = serve(rules, two);
  CHECK(served.account.preemptions == 0);
  CHECK(served.outcomes[1].scheduled == served.outcomes[0].finished);
  CHECK(served.account.most_pages == 12);
  rules.pages = 24;
  CHECK(serve(rules, two).outcomes[1].scheduled == Time::zero());
}

TEST_CASE("what is computed at once is what single iterations come to") {
  RandomStream random(1, "serving");
  for (std::uint32_t trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    EngineRules rules;
    rules.max_running = 1 + static_cast<std::uint32_t>(random.below(12));
    rules.max_batched_tokens = rules.max_running + static_cast<std::uint32_t>(random.below(200));
    rules.page = 1 + static_cast<std::uint32_t>(random.below(20));
    rules.pages = 200 / rules.page + 1 + random.below(60);
    rules.chunked_prefill = random.below(4) > 0;
    rules.reserve_output = random.below(3) == 0;
    if (!rules.chunked_prefill) { rules.max_batched_tokens += 200; }
    ServedRequests requests;
    Time now;
    for (std::uint64_t left = 1 + random.below(40); left > 0; --left) {
      now += 1_us * static_cast<std::int64_t>(random.below(60'000));
      requests.push_back(
          {now, 1 + static_cast<std::uint32_t>(random.below(100)), 1 + static_cast<std::uint32_t>(random.below(100))});
    }
    const Served served = serve(rules, requests);
    CHECK(served.outcomes == serve_naively(rules, simple_law(), requests));
    CHECK((!rules.reserve_output || served.account.preemptions == 0));
  }
}

TEST_CASE("a request fits that all pages hold, and the budget without chunks") {
  const EngineRules rules{.max_batched_tokens = 32, .page = 16, .pages = 2};
  CHECK(fits_engine({Time::zero(), 32, 1}, rules));
  CHECK_FALSE(fits_engine({Time::zero(), 32, 2}, rules));
  CHECK(fits_engine({Time::zero(), 1, 32}, rules));
  EngineRules whole = rules;
  whole.pages = 100;
  CHECK(fits_engine({Time::zero(), 33, 1}, whole));
  whole.chunked_prefill = false;
  CHECK_FALSE(fits_engine({Time::zero(), 33, 1}, whole));
}
