#include "tools/measure/request.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/measure/imports.hpp"

namespace athanor {

namespace {

constexpr const char* kAll = "all";

using Backends = std::vector<Backend*>;

/// A table of equal blocks as far as they can be: block k of a rank has the elements of its k-th part.
std::shared_ptr<const AllToAllVSizes> equal_sizes(std::uint32_t ranks, Elements count) {
  std::vector<Elements> sizes;
  sizes.reserve(std::size_t{ranks} * ranks);
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) { sizes.push_back(Elements{count.count() / ranks}); }
  }
  return std::make_shared<AllToAllVSizes>(ranks, sizes);
}

bool has_library(const Backend& backend, const std::string& name) {
  const std::vector<std::string> libraries = backend.libraries();
  return std::find(libraries.begin(), libraries.end(), name) != libraries.end();
}

void check_sizes(const MeasureRequest& request) {
  for (const DataType type : request.types) {
    for (const Bytes size : request.sizes) {
      if (size % size_of(type) == Bytes::zero()) { continue; }
      throw UsageError(fmt::format("measure: --sizes: {} is no whole number of {} elements of {}", to_string(size),
                                   athanor::name(type), to_string(size_of(type))));
    }
  }
}

void check_ranks(const MeasureRequest& request, const Backends& backends) {
  for (const Backend* backend : backends) {
    const auto only = backend->ranks();
    for (const std::uint32_t ranks : request.ranks) {
      if (only && ranks != *only) {
        throw UsageError(fmt::format("measure: --ranks {}: the backend {} has {} here, one per process", ranks,
                                     backend->name(), *only));
      }
    }
  }
}

/// Both places, or those that were asked for.
std::vector<bool> places(const MeasureRequest& request) {
  return request.in_place.empty() ? std::vector<bool>{false, true} : request.in_place;
}

/// Collects the subjects of one point.
class Subjects {
 public:
  Subjects(const MeasureRequest& request, const MeasuredPoint& point, const Backends& backends,
           const std::function<void(const std::string&)>& note)
      : request_(request), point_(point), backends_(backends), note_(note), layout_(layout_of(request, point.type)) {}

  std::vector<Subject> all() {
    for (const std::string& name : request_.algorithms) {
      if (name == kAll) {
        add_all();
      } else if (!add_library(name)) {
        add_named(name);
      }
    }
    return std::move(subjects_);
  }

 private:
  Collective collective(bool in_place) const { return collective_of(request_, point_, in_place); }

  void add(const Algorithm& algorithm, bool in_place) {
    for (Backend* backend : backends_) {
      subjects_.push_back({backend, &algorithm, std::string(algorithm.name), in_place});
    }
  }

  void add_all() {
    for (const Algorithm& algorithm : catalog()) {
      if (algorithm.kind != request_.kind) { continue; }
      if (algorithm.engine != Engine::none) {
        note_(fmt::format("{} is left out: its engine would be emulated; name it to measure it", algorithm.name));
        continue;
      }
      for (const bool in_place : places(request_)) { add_fitting(algorithm, in_place); }
    }
  }

  void add_fitting(const Algorithm& algorithm, bool in_place) {
    const auto reason = algorithm.refuses(collective(in_place), layout_);
    if (!reason) {
      add(algorithm, in_place);
    } else if (!algorithm.refuses(collective(!in_place), layout_)) {
      if (request_.in_place.empty()) { return; }
      note_(fmt::format("{} is left out {} place: {}", algorithm.name, in_place ? "in" : "out of", *reason));
    } else if (!in_place || places(request_).size() == 1) {
      note_(fmt::format("{} is left out for {} ranks: {}", algorithm.name, point_.ranks, *reason));
    }
  }

  std::optional<Problem> refusal_of(const Algorithm& algorithm, bool in_place) const {
    if (auto problem = refusal_with_alternatives(algorithm, collective(in_place), layout_)) { return problem; }
    if (!algorithm.origin) { return std::nullopt; }
    const auto reason = refuses_place(*algorithm.make(collective(in_place), layout_), collective(in_place));
    if (!reason) { return std::nullopt; }
    return Problem{"algorithm-does-not-fit",
                   fmt::format("{} does not fit {} place: {}", algorithm.name, in_place ? "in" : "out of", *reason),
                   {},
                   in_place ? "leave out --in-place" : "leave out --out-of-place"};
  }

  /// One that was asked for by name must fit, in one place at least where none was asked for.
  void add_named(const std::string& name) {
    const auto import = request_.imports.find(name);
    const Algorithm& algorithm = import == request_.imports.end() ? find(request_.kind, name) : *import->second;
    std::optional<Problem> refusal;
    std::size_t fitting = 0;
    for (const bool in_place : places(request_)) {
      const auto problem = refusal_of(algorithm, in_place);
      if (problem) {
        refusal = refusal ? refusal : problem;
      } else {
        add(algorithm, in_place);
        ++fitting;
      }
    }
    if (refusal && (fitting == 0 || !request_.in_place.empty())) { throw ScenarioError(*refusal); }
  }

  bool add_library(const std::string& name) {
    bool known = false;
    std::optional<std::string> reason;
    const std::size_t before = subjects_.size();
    for (Backend* backend : backends_) {
      if (!has_library(*backend, name)) { continue; }
      known = true;
      for (const bool in_place : places(request_)) {
        const Trial trial{.collective = collective(in_place),
                          .library = name,
                          .type = point_.type,
                          .reduction = point_.reduction,
                          .slots = {}};
        const auto refused = backend->refuses(trial);
        if (refused) {
          reason = refused;
        } else {
          subjects_.push_back({backend, nullptr, name, in_place});
        }
      }
    }
    if (known && subjects_.size() == before) {
      throw ScenarioError({"library-does-not-fit",
                           fmt::format("{} does not do this: {}", name, reason.value_or("")),
                           {},
                           "choose another type, reduction or place, or measure algorithms only"});
    }
    return known;
  }

  const MeasureRequest& request_;
  const MeasuredPoint& point_;
  const Backends& backends_;
  const std::function<void(const std::string&)>& note_;
  Layout layout_;
  std::vector<Subject> subjects_;
};

/// Reductions count only where something is reduced.
std::vector<Reduction> reductions_of(const MeasureRequest& request) {
  return reduces(request.kind) ? request.reductions : std::vector<Reduction>{Reduction::sum};
}

}  // namespace

Collective collective_of(const MeasureRequest& request, const MeasuredPoint& point, bool in_place) {
  Collective collective{.kind = request.kind,
                        .ranks = point.ranks,
                        .count = Elements{point.size / size_of(point.type)},
                        .root = request.root,
                        .in_place = in_place};
  if (request.kind == CollectiveKind::all_to_all_v) {
    collective.sizes = equal_sizes(point.ranks, collective.count);
    collective.count = collective.sizes->largest();
  }
  return collective;
}

Layout layout_of(const MeasureRequest& request, DataType type) {
  Layout layout{.channels = request.channels, .slices = request.slices, .group = request.group};
  layout.shape = GridShape{request.dimensions, request.rings};
  if (request.chunk) { layout.chunk = std::max(Elements{1}, Elements{*request.chunk / size_of(type)}); }
  return layout;
}

std::vector<MeasuredPoint> plan(const MeasureRequest& request, const Backends& backends,
                                const std::function<void(const std::string&)>& note) {
  check_sizes(request);
  check_ranks(request, backends);
  std::set<std::string> told;
  const auto once = [&](const std::string& text) {
    if (told.insert(text).second) { note(text); }
  };
  std::vector<MeasuredPoint> points;
  for (const DataType type : request.types) {
    for (const Reduction reduction : reductions_of(request)) {
      for (const std::uint32_t ranks : request.ranks) {
        for (const Bytes size : request.sizes) {
          MeasuredPoint point{.type = type, .reduction = reduction, .ranks = ranks, .size = size, .subjects = {}};
          point.subjects = Subjects(request, point, backends, once).all();
          if (!point.subjects.empty()) { points.push_back(std::move(point)); }
        }
      }
    }
  }
  if (points.empty()) {
    throw ScenarioError({"no-candidate",
                         fmt::format("no algorithm for {} fits", athanor::name(request.kind)),
                         {},
                         "the notes say why each was left out"});
  }
  return points;
}

Bytes memory_of(const Schedule& schedule, DataType type) {
  Elements total;
  for (std::uint32_t agent = 0; agent < schedule.agent_count().agents; ++agent) {
    const Memory memory = schedule.memory(AgentId{agent});
    const Elements buffers = memory.in_place ? std::max(memory.input, memory.output) : memory.input + memory.output;
    total = total + buffers + memory.scratch;
  }
  return size_of(type) * total.count();
}

}  // namespace athanor
