#include "models/experiments/scenario/parameter_server_section.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "models/experiments/parameter_server.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/sizes.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;
using Update = ParameterServerSetup::Update;
using Placement = ParameterServerConfig::Placement;

constexpr std::uint64_t kMostPairs = 4'000'000;         ///< of a worker and a shard
constexpr std::uint64_t kMostMessages = 1'000'000'000;  ///< of all steps

void read_distribution(Fields& fields, ComputeTime& time) {
  // The lambdas that run are those of the distribution that the scenario names.
  const auto as = [&](ComputeTime::Kind kind, auto visit) {
    return [&time, kind, visit](Fields& nested) {
      time.kind = kind;
      visit(nested);
    };
  };
  fields.required("mean", time.mean, "Of all iterations");
  fields.choice("distribution", "How it differs from one iteration to the next",
                {{"constant", "it does not", as(ComputeTime::Kind::constant, [](Fields&) {})},
                 {"normal", "symmetric about the mean, never below 0",
                  as(ComputeTime::Kind::normal,
                     [&](Fields& f) { f.required("deviation", time.deviation, "Standard deviation"); })},
                 {"exponential", "what exceeds the least time falls exponentially",
                  as(ComputeTime::Kind::exponential,
                     [&](Fields& f) { f.optional("least", time.least, "Never shorter than this; at most the mean"); })},
                 {"pareto", "a tail that falls as a power",
                  as(ComputeTime::Kind::pareto,
                     [&](Fields& f) {
                       f.optional("shape", time.shape, "That power; smaller is heavier", {{101, 100}, {1'000, 1}});
                     })}},
                "constant");
  if (time.least > time.mean) {
    fields.problem("least", "out-of-range", "the least time is longer than the mean", "make it shorter");
  }
}

void read_compute(FieldValue& value, ComputeTime& time) {
  value.one_of({{Type::string, [&](FieldValue& text) { text.visit(time.mean); }},
                {Type::object,
                 [&](FieldValue& object) { object.object([&](Fields& inner) { read_distribution(inner, time); }); }}});
}

void read_update(Fields& fields, ParameterServerSetup& setup) {
  const auto as = [&](Update update, auto visit) {
    return [&setup, update, visit](Fields& nested) {
      setup.update = update;
      visit(nested);
    };
  };
  fields.choice("update", "When gradients change the parameters",
                {{"synchronous", "all of a step together; then the next one begins",
                  as(Update::synchronous,
                     [&](Fields& f) {
                       f.optional("backup_workers", setup.backup_workers,
                                  "So many gradients of each step are not waited for, and dropped when they come");
                     })},
                 {"asynchronous", "each when it comes", as(Update::asynchronous, [](Fields&) {})},
                 {"stale", "each when it comes, and nobody runs ahead too far",
                  as(Update::stale,
                     [&](Fields& f) {
                       f.required("bound", setup.bound, "By how many iterations a worker may be ahead of the slowest");
                     })}},
                "synchronous");
}

void read_servers(Fields& fields, ParameterServerConfig& config) {
  fields.required_value(
      "servers", "How many shards the parameters have, or the endpoints that hold them", [&](FieldValue& value) {
        value.one_of(
            {{Type::number, [&](FieldValue& n) { n.visit(config.shards.emplace(1), Range<std::uint32_t>{1}); }},
             {Type::list, [&](FieldValue& list) { list.visit(config.servers); }}});
      });
  fields.optional("placement", config.placement,
                  "Of a number of servers: apart, on the first endpoints, or with_workers, beside them",
                  {{"apart", Placement::apart}, {"with_workers", Placement::with_workers}});
  fields.optional("copies", config.copies, "Of each shard, on so many servers", {1, 1'000});
  fields.optional("replication", config.setup.replication,
                  "How a change comes to all copies before workers are answered",
                  {{"chain", ParameterServerSetup::Replication::chain},
                   {"all_to_all", ParameterServerSetup::Replication::all_to_all}});
}

void visit_failure(Fields& fields, ParameterServerSetup::Failure& failure) {
  fields.optional("shard", failure.shard, "Whose first copy fails, which workers talk to");
  fields.required("at", failure.at, "Since the beginning");
  fields.required("detection", failure.detection, "Until the next copy takes its place");
}

void visit_straggler(Fields& fields, ParameterServerSetup::Straggler& straggler) {
  fields.required("worker", straggler.worker, "Its number among workers");
  fields.required("factor", straggler.factor, "Of its times of computing", {{1, 1'000}, {1'000'000, 1}});
}

class EndpointFinder {
 public:
  EndpointFinder(ParameterServerConfig& config, std::uint32_t endpoints, Problems& problems)
      : config_(config), endpoints_(endpoints), problems_(problems) {}

  void find() {
    if (config_.servers.empty() && config_.placement == Placement::with_workers) {
      place_with_workers();
    } else {
      place_apart();
    }
  }

 private:
  void refuse(std::string_view key, const char* code, std::string message, std::string hint) {
    problems_.add({code, std::move(message), config_.places.find(key)->second, std::move(hint)});
  }

  void shard(const std::vector<std::uint32_t>& servers) {
    for (std::size_t first = 0; first < servers.size(); first += config_.copies) {
      const auto begin = servers.begin() + static_cast<std::ptrdiff_t>(first);
      config_.setup.shards.emplace_back(begin, begin + config_.copies);
    }
  }

  void place_apart() {
    std::vector<std::uint32_t> servers = config_.servers;
    if (servers.empty()) {
      const std::uint64_t count = std::uint64_t{*config_.shards} * config_.copies;
      if (count >= endpoints_) {
        return refuse("servers", "too-few-endpoints",
                      fmt::format("{} servers leave none of {} endpoints to workers", count, endpoints_),
                      R"(take fewer, or "placement": "with_workers")");
      }
      for (std::uint32_t s = 0; s < count; ++s) { servers.push_back(s); }
    }
    if (servers.size() % config_.copies != 0) {
      return refuse(
          "servers", "wrong-endpoints",
          fmt::format("{} servers are no whole number of shards of {} copies", servers.size(), config_.copies),
          "name the copies of the first shard, then those of the next one");
    }
    std::vector<bool> taken(endpoints_);
    for (const std::uint32_t server : servers) {
      if (server >= endpoints_) { return refuse_endpoint(server); }
      taken[server] = true;
    }
    shard(servers);
    for (std::uint32_t e = 0; e < endpoints_; ++e) {
      if (!taken[e]) { config_.setup.workers.push_back(e); }
    }
    keep_workers();
  }

  void refuse_endpoint(std::uint32_t server) {
    refuse("servers", "unknown-endpoint", fmt::format("endpoint {} is none of the cluster's {}", server, endpoints_),
           fmt::format("they are counted from 0 to {}", endpoints_ - 1));
  }

  void place_with_workers() {
    for (std::uint32_t e = 0; e < endpoints_; ++e) { config_.setup.workers.push_back(e); }
    keep_workers();
    const std::uint64_t workers = config_.setup.workers.size();
    const std::uint64_t count = std::uint64_t{*config_.shards} * config_.copies;
    if (count > workers) {
      return refuse("servers", "too-few-endpoints", fmt::format("{} servers beside {} workers", count, workers),
                    "one beside each worker is the most");
    }
    std::vector<std::uint32_t> servers;
    for (std::uint64_t s = 0; s < count; ++s) { servers.push_back(static_cast<std::uint32_t>(s * workers / count)); }
    shard(servers);
  }

  /// The first of those that may be workers.
  void keep_workers() {
    std::vector<std::uint32_t>& workers = config_.setup.workers;
    const std::uint32_t wanted = config_.workers.value_or(static_cast<std::uint32_t>(workers.size()));
    if (wanted > workers.size() || wanted == 0) {
      return refuse("workers", "too-few-endpoints",
                    fmt::format("{} workers, and {} endpoints are left to them", wanted, workers.size()),
                    "take fewer workers or servers");
    }
    workers.resize(wanted);
  }

  ParameterServerConfig& config_;
  std::uint32_t endpoints_;
  Problems& problems_;
};

void check_numbers(const ParameterServerConfig& config, Problems& problems) {
  const ParameterServerSetup& setup = config.setup;
  const auto refuse = [&](std::string_view key, const char* code, std::string message, std::string hint) {
    problems.add({code, std::move(message), config.places.find(key)->second, std::move(hint)});
  };
  const std::size_t workers = setup.workers.size();
  if (setup.backup_workers >= workers) {
    refuse("backup_workers", "out-of-range",
           fmt::format("no gradient is left of {} workers with {} backups", workers, setup.backup_workers),
           "have fewer backups than workers");
  }
  std::set<std::uint32_t> slow;
  for (const ParameterServerSetup::Straggler& straggler : setup.stragglers) {
    if (!slow.insert(straggler.worker).second) {
      refuse("stragglers", "duplicate", fmt::format("worker {} is named twice", straggler.worker),
             "write one factor for it");
    }
    if (straggler.worker < workers) { continue; }
    refuse("stragglers", "out-of-range", fmt::format("there is no worker {}", straggler.worker),
           fmt::format("they are counted from 0 to {}", workers - 1));
  }
  if (setup.failure && setup.failure->shard >= setup.shards.size()) {
    refuse("failure", "out-of-range", fmt::format("there is no shard {}", setup.failure->shard),
           fmt::format("they are counted from 0 to {}", setup.shards.size() - 1));
  }
  if (setup.failure && setup.shards.front().size() < 2) {
    refuse("failure", "no-replica", "there is one copy of each shard, and nobody takes over when it fails",
           R"(write "copies": 2 or more)");
  }
  const std::uint64_t pairs = std::uint64_t{workers} * setup.shards.size();
  const std::uint64_t steps = std::uint64_t{setup.steps} + setup.warm_up;
  if (pairs > kMostPairs || pairs * steps > kMostMessages) {
    refuse("", "too-many-messages",
           fmt::format("{} workers and {} shards exchange {} gradients in {} steps, and {} are the most", workers,
                       setup.shards.size(), pairs * steps, steps, kMostMessages),
           "take fewer workers, servers or steps");
  }
}

}  // namespace

void visit(Fields& fields, ParameterServerConfig& config) {
  fields.required_value("parameters", "Of the model, all shards together: \"1GB\", \"1MB..1GB\", a list",
                        [&](FieldValue& value) { read_sizes(value, config.sizes); });
  read_servers(fields, config);
  fields.optional("workers", config.workers, "How many; absent: one on every endpoint that may have one", {1});
  read_update(fields, config.setup);
  fields.required_value("compute", "How long a worker computes in each iteration",
                        [&](FieldValue& value) { read_compute(value, config.setup.compute); });
  fields.optional_list("stragglers", config.setup.stragglers, "Workers that always take longer", visit_straggler);
  fields.optional_object("failure", config.setup.failure, "A server fails, and its replica takes over", visit_failure);
  fields.optional("gradient", config.setup.gradient, "Bytes of gradients for each byte of parameters",
                  {{0, 1}, {1'000, 1}});
  fields.optional_value("apply_rate", "Gradients that a server adds to its shard; absent: at once",
                        [&](FieldValue& value) { value.visit(config.setup.apply_rate); });
  fields.optional("warm_up", config.setup.warm_up, "Steps that are not measured", {1, 1'000'000});
  fields.optional("steps", config.setup.steps,
                  "Steps that are measured; asynchronous and stale: as many gradients of each worker, on average",
                  {1, 1'000'000});
  for (const char* key : {"", "servers", "workers", "backup_workers", "stragglers", "failure"}) {
    config.places[key] = fields.place(key);
  }
  for (const Bytes size : config.sizes) {
    if (size > Bytes::zero()) { continue; }
    fields.problem("parameters", "out-of-range", "a model of 0 B has no parameters", "sizes are at least 1B");
    return;
  }
}

void resolve(ParameterServerConfig& config, const Cluster& cluster, Problems& problems) {
  const std::size_t before = problems.size();
  EndpointFinder(config, static_cast<std::uint32_t>(cluster.endpoints.size()), problems).find();
  if (problems.size() == before) { check_numbers(config, problems); }
}

namespace {

class ParameterServerReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override {
    athanor::visit(section, config_);
    if (context.changes.sizes) { config_.sizes = *context.changes.sizes; }
  }
  void fit(CaseParts& parts) override { resolve(config_, *parts.platform().cluster, parts.context.problems); }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    refuse_software("training with parameter servers", parts);
    return std::make_shared<const ParameterServerExperiment>(std::move(config_));
  }

 private:
  ParameterServerConfig config_;
};

}  // namespace

std::unique_ptr<ExperimentReader> parameter_server_reader() { return std::make_unique<ParameterServerReader>(); }

std::string describe(const ParameterServerSetup& setup) {
  const std::size_t shards = setup.shards.size();
  const std::size_t copies = setup.shards.empty() ? 0 : setup.shards.front().size();
  std::string text = fmt::format("{} workers, {} {}", setup.workers.size(), shards, shards == 1 ? "server" : "servers");
  if (copies > 1) { text += fmt::format(" with {} copies each", copies); }
  text += fmt::format(", {}", name(setup.update));
  if (setup.backup_workers > 0) {
    text += fmt::format(" with {} backup {}", setup.backup_workers, setup.backup_workers == 1 ? "worker" : "workers");
  }
  if (setup.update == Update::stale) { text += fmt::format(" with bound {}", setup.bound); }
  if (setup.failure) { text += fmt::format("; one of shard {} fails", setup.failure->shard); }
  return text;
}

}  // namespace athanor
