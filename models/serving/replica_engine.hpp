#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <stop_token>
#include <vector>

#include "models/serving/iteration_law.hpp"
#include "models/serving/served_request.hpp"

namespace athanor {

/// How an engine puts requests together.
struct EngineRules {
  std::uint32_t max_running = 256;          ///< requests in an iteration; at most max_batched_tokens
  std::uint32_t max_batched_tokens = 8192;  ///< of an iteration
  bool chunked_prefill = true;              ///< prompts are cut where they do not fit into what is left of these
  bool reserve_output = false;              ///< a request comes to run when there are pages for all of its tokens
  std::uint32_t page = 16;                  ///< tokens
  std::uint64_t pages = 0;                  ///< of a replica's KV cache
  bool operator==(const EngineRules&) const = default;
};

/// What an engine did until now.
struct EngineAccount {
  Time busy;                     ///< iterations run
  std::uint64_t iterations = 0;  ///< each by itself, also where several were computed at once
  std::uint64_t preemptions = 0;
  std::uint64_t tokens = 0;       ///< that went through the layers, those that were computed again too
  std::uint64_t most_pages = 0;   ///< that were taken at once
  double running_seconds = 0;     ///< requests in an iteration times how long it took
  double kept_token_seconds = 0;  ///< tokens whose keys and values are kept, likewise
};

/// A replica of a model: continuous batching (Yu et al., Orca, OSDI 2022) with a paged KV cache (Kwon et al.,
/// PagedAttention, SOSP 2023), as version 1 of vLLM's scheduler does it (vllm/v1/core/sched/scheduler.py).
///
/// Each iteration takes running requests first, in the order in which they came to run: each gets as many of its tokens
/// as are not computed yet, one while it decodes, as far as the budget of max_batched_tokens reaches. Where there are
/// no pages for them, the request that came to run last is preempted: it loses its pages, waits before all others, and
/// computes its prompt and what it has generated again. If nobody was, waiting requests follow in their order, as long
/// as there are places, budget, and pages for the tokens that they get. Without chunked prefill one that does not fit
/// into the budget waits, and all behind it. With `reserve_output` a request takes all pages that it will ever need
/// when it comes to run, and none is preempted (guaranteed_no_evict, the default of TensorRT-LLM's capacity scheduler).
///
/// Iterations that only decode for the same requests are computed at once (time_of_run), which changes no result.
class ReplicaEngine {
 public:
  /// Borrows all four. Outcomes are written where the requests stand. Requires that every request that arrives fits:
  /// see fits_engine().
  ReplicaEngine(const EngineRules& rules, const IterationLaw& law, const ServedRequests& requests,
                std::vector<ServedOutcome>& outcomes, std::stop_token stop = {});

  /// A request arrives. Requires that it does not arrive before others that did.
  void arrive(std::uint32_t request);
  /// Runs all iterations that begin before `until`. Throws Interrupted, between two of them, where `stop` was asked
  /// for.
  void advance(Time until);
  /// Carries out what ends until `at`, and looks ahead: if nobody arrives, no request finishes before the time that is
  /// returned; Time::max() where it has none. Not before `at`. Throws as advance().
  Time look_ahead(Time at);
  /// Requests that arrived and have not finished at `at`. Requires advance(at) or look_ahead(at) before.
  std::uint64_t outstanding(Time at) const;

  const EngineAccount& account() const { return account_; }

 private:
  struct Running {
    std::uint32_t request = 0;
    std::uint32_t known = 0;     ///< tokens of prompt and output
    std::uint32_t computed = 0;  ///< of these; their keys and values are kept
    std::uint32_t granted = 0;   ///< in the iteration that is next
    std::uint64_t pages = 0;
  };
  /// What runs next, if nobody arrives while it does: iterations one after the other, of which only the last may end a
  /// request.
  struct Plan {
    IterationLoad first;
    std::int64_t count = 1;
    Time time;
  };
  /// What waits: never run, or preempted.
  struct Waiting {
    std::uint32_t request = 0;
    std::uint32_t known = 0;
  };

  bool is_idle() const { return running_.empty() && waiting_.empty(); }
  std::uint64_t pages_of(std::uint64_t tokens) const { return (tokens + rules_.page - 1) / rules_.page; }
  std::uint32_t generated(const Running& each) const { return each.known - requests_[each.request].prompt; }
  /// Requires that nobody arrives any more before the next iteration begins.
  const Plan& plan();
  Time time_of_iterations(const Plan& plan, std::int64_t count) const;
  void step(Time until);
  void schedule();
  bool schedule_running(std::uint32_t& budget);
  void admit(std::uint32_t budget);
  /// False: there were not enough, not even of those that came later.
  bool take_pages(std::size_t index, std::uint64_t tokens);
  void preempt_last();
  IterationLoad load() const;
  Time time_of_chunks() const;
  /// How often the iteration that is next repeats, at most, with nothing else in it.
  std::int64_t longest_run() const;
  std::int64_t most_by_pages(std::int64_t count) const;
  /// So many iterations of the plan, which take so long together; then there is none.
  void carry_out(std::int64_t count, Time time);
  void note(const IterationLoad& load, std::int64_t count, Time time);

  const EngineRules& rules_;
  const IterationLaw& law_;
  const ServedRequests& requests_;
  std::vector<ServedOutcome>& outcomes_;
  std::stop_token stop_;
  std::vector<Running> running_;  ///< in the order in which they came to run
  std::deque<Waiting> waiting_;
  std::uint64_t free_pages_;
  std::optional<Plan> plan_;
  bool changed_ = false;  ///< somebody came to run, or was preempted, for the iteration that is next
  Time now_;
  std::uint64_t ended_last_ = 0;  ///< requests that finish at now_
  EngineAccount account_;
};

/// Whether an engine of these rules can serve the request when it is alone: all its tokens fit into its pages, and
/// without chunked prefill into the budget of an iteration, since a preempted one computes all of them again.
bool fits_engine(const ServedRequest& request, const EngineRules& rules);

}  // namespace athanor
