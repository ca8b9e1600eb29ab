#include "tests/fuzz/random_trace.hpp"

#include <algorithm>
#include <vector>

namespace athanor::fuzz {

namespace {

/// What every host has to do, in a stream for each call or message.
class TraceOfHosts {
 public:
  TraceOfHosts(Draws& draws, unsigned hosts) : draws_(draws), operations_(hosts), sent_(hosts), received_(hosts) {}

  void add_message() {
    const unsigned from = draws_.between(0, hosts() - 1);
    const unsigned to = (from + draws_.between(1, hosts() - 1)) % hosts();
    const std::uint64_t bytes = draw_size();
    Json channel{{"name", fmt::format("c{}", channels_.size())}, {"from", from}, {"to", to}};
    if (draws_.one_in(2)) { channel["eager"] = true; }
    add(from, "send", {{"channel", channels_.size()}}, bytes);
    add(to, "receive", {{"channel", channels_.size()}}, bytes);
    channels_.push_back(std::move(channel));
    sent_[from] += static_cast<double>(bytes);
    received_[to] += static_cast<double>(bytes);
    ++streams_;
  }

  /// Among the first hosts; each has to send and receive 2 (n-1)/n of the vector at least (Patarasuk and Yuan 2009).
  void add_all_reduce() {
    const unsigned ranks = draws_.between(2, hosts());
    const std::uint64_t bytes = draw_size();
    Json workers = Json::array();
    for (unsigned host = 0; host < ranks; ++host) {
      workers.push_back(host);
      add(host, "call", {{"communicator", communicators_.size()}, {"collective", "all_reduce"}}, bytes);
      const double least = 2.0 * (ranks - 1) / ranks * static_cast<double>(bytes);
      sent_[host] += least;
      received_[host] += least;
    }
    communicators_.push_back({{"name", fmt::format("g{}", communicators_.size())}, {"workers", std::move(workers)}});
    ++streams_;
  }

  Json trace() const {
    Json streams = Json::array();
    for (unsigned i = 0; i < streams_; ++i) { streams.push_back({{"name", fmt::format("s{}", i)}}); }
    const Json nothing{{{"kind", "mark"}}};
    Json workers = Json::array();
    for (const Json& operations : operations_) {
      workers.push_back({{"streams", streams}, {"operations", operations.is_null() ? nothing : operations}});
    }
    return {{"athanor_trace", 1}, {"communicators", communicators_}, {"channels", channels_}, {"workers", workers}};
  }

  double most_bytes() const {
    return std::max(*std::max_element(sent_.begin(), sent_.end()),
                    *std::max_element(received_.begin(), received_.end()));
  }

 private:
  unsigned hosts() const { return static_cast<unsigned>(operations_.size()); }
  std::uint64_t draw_size() { return std::uint64_t{60} << draws_.below(14); }  // whole elements for 2 to 5 ranks

  void add(unsigned host, const char* kind, Json operation, std::uint64_t bytes) {
    operation["kind"] = kind;
    operation["size"] = fmt::format("{}B", bytes);
    operation["stream"] = streams_;
    operations_[host].push_back(std::move(operation));
  }

  Draws& draws_;
  std::vector<Json> operations_;  ///< by host
  std::vector<double> sent_;      ///< bytes
  std::vector<double> received_;
  Json communicators_ = Json::array();
  Json channels_ = Json::array();
  unsigned streams_ = 0;
};

}  // namespace

Json random_own_trace(Draws& draws) {
  const unsigned gigabits = draws.one_of({8U, 40U, 200U});
  const unsigned nanoseconds = 2 * draws.one_of({25U, 500U, 2000U});
  TraceOfHosts hosts(draws, draws.between(2, 5));
  for (unsigned i = draws.between(1, 12); i > 0; --i) {
    draws.one_in(2) ? hosts.add_message() : hosts.add_all_reduce();
  }
  const Json trace = hosts.trace();
  const double picoseconds_per_byte = 8000.0 / gigabits;
  return {{"cluster",
           {{"nodes", trace["workers"].size()},
            {"fabric",
             {{"kind", "star"},
              {"link", {{"rate", Draws::rate_text(gigabits)}, {"latency", Draws::time_text(nanoseconds)}}}}}}},
          {"network", {{"level", "flow"}}},
          {"trace", {{"own", trace}, {"bound_ps", hosts.most_bytes() * picoseconds_per_byte + 2000.0 * nanoseconds}}}};
}

Json with_trace_in(const Json& scenario, const std::string& file) {
  Json plain = scenario;
  plain["trace"].erase("own");
  plain["trace"].erase("bound_ps");
  plain["trace"]["files"] = file;
  return plain;
}

}  // namespace athanor::fuzz
