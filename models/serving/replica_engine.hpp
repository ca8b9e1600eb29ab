#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>
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

/// Which part of requests an engine serves.
enum class EngineRole : std::uint8_t {
  whole,    ///< prompts and outputs
  prefill,  ///< prompts and first tokens; pages of those that more tokens follow are held until release()
  decode,   ///< what follows the first token; what is kept of the prompt comes from elsewhere: announce(), deliver()
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
///
/// An engine is driven in one of two ways: by arrive(), advance() and look_ahead(), where nothing but arrivals reaches
/// it, or instant by instant (join() to begin()), where it is one of several that depend on each other.
class ReplicaEngine {
 public:
  /// Borrows all four. Outcomes are written where the requests stand. Requires that every request that arrives fits:
  /// see fits_engine().
  ReplicaEngine(const EngineRules& rules, const IterationLaw& law, const ServedRequests& requests,
                std::vector<ServedOutcome>& outcomes, std::stop_token stop = {}, EngineRole role = EngineRole::whole);

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

  /// Prompts whose last token is in an iteration that has begun.
  struct Prefilled {
    std::uint32_t request = 0;
    Time begin;  ///< of the iteration
    Time end;
  };

  // Instant by instant: whatever reaches the engine at an instant is told first, then what ends there is carried out,
  // then begin() is asked once.

  /// A request comes at this instant, whenever it arrived. Of roles but decode.
  void join(std::uint32_t request, Time at);
  /// Decode: what is kept of the request's prompt may be sent here, once there are pages for it: see take_admitted().
  void announce(std::uint32_t request, Time at);
  /// Decode: what is kept of the prompt of an admitted request is here. It comes to run before all that wait.
  void deliver(std::uint32_t request, Time at);
  /// Prefill: what is kept of the request is elsewhere; its pages are free.
  void release(std::uint32_t request, Time at);
  /// Carries out what ends at this instant.
  void end(Time at);
  /// Begins iterations where none runs, and there is something to do. Until when they run if nothing else comes;
  /// Time::max(): none does. Throws as advance().
  Time begin(Time at);
  /// Since it was asked last: prefill, in the order of the engine.
  std::vector<Prefilled> take_prefilled() { return std::exchange(prefilled_, {}); }
  /// Since it was asked last: decode, announced requests that have got pages for their prompt and the token behind it.
  std::vector<std::uint32_t> take_admitted() { return std::exchange(admitted_, {}); }
  /// Requests that it has to do with, those on their way included, those whose pages are held apart.
  std::uint64_t load() const { return running_.size() + waiting_.size() + pages_of_admitted_.size(); }

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
    bool elsewhere = false;  ///< what is kept of the prompt is
  };

  bool is_idle() const { return running_.empty() && waiting_.empty() && delivered_.empty(); }
  std::uint64_t pages_of(std::uint64_t tokens) const { return (tokens + rules_.page - 1) / rules_.page; }
  std::uint32_t generated(const Running& each) const { return each.known - requests_[each.request].prompt; }
  /// Tokens that the request keeps here at most, and generates here.
  std::uint64_t most_kept(std::uint32_t request) const;
  std::uint32_t last_token(std::uint32_t request) const;
  /// Leaves out of the iterations that run those that have not begun.
  void cut_run(Time at);
  std::int64_t begun_before(Time until) const;
  /// Requires that nobody arrives any more before the next iteration begins.
  const Plan& plan();
  void make_plan();
  Time time_of_iterations(const Plan& plan, std::int64_t count) const;
  void step(Time until);
  void schedule();
  bool schedule_running(std::uint32_t& budget);
  void admit(std::uint32_t budget);
  void admit_delivered(std::uint32_t& budget);
  /// False: there are no pages.
  bool admit_from_elsewhere(const Waiting& next);
  void note_prefilled();
  /// Of a request that is done here.
  void leave(const Running& each);
  /// False: there were not enough, not even of those that came later.
  bool take_pages(std::size_t index, std::uint64_t tokens);
  void preempt_last();
  IterationLoad iteration_load() const;
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
  EngineRole role_;
  std::vector<Running> running_;  ///< in the order in which they came to run
  std::deque<Waiting> waiting_;
  std::map<std::uint32_t, std::uint64_t> held_;               ///< prefill: pages, by request
  std::map<std::uint32_t, std::uint64_t> pages_of_admitted_;  ///< decode: by request that does not run yet
  std::deque<std::uint32_t> delivered_;                       ///< of these; in their order
  std::vector<Prefilled> prefilled_;
  std::vector<std::uint32_t> admitted_;
  std::uint64_t free_pages_;
  std::optional<Plan> plan_;
  bool changed_ = false;  ///< somebody came to run, or was preempted, for the iteration that is next
  Time now_;
  std::uint64_t ended_last_ = 0;  ///< requests that finish at now_
  EngineAccount account_;
};

/// Whether an engine of these rules can serve the request when it is alone: all its tokens fit into its pages, and
/// without chunked prefill into the budget of an iteration, since a preempted one computes all of them again.
/// One that decodes for others computes all of them again, too, and one that prefills for others keeps prompts alone.
bool fits_engine(const ServedRequest& request, const EngineRules& rules, EngineRole role = EngineRole::whole);

}  // namespace athanor
