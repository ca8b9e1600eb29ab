#include "tools/crosscheck/machine/measured_collectives.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/measure/machine.hpp"

namespace athanor {

namespace {

MeasureRequest request_of(CollectiveKind kind, const CollectivesWanted& wanted) {
  MeasureRequest request;
  request.kind = kind;
  request.algorithms = {"all"};
  request.ranks = wanted.ranks;
  request.sizes = kind == CollectiveKind::barrier ? std::vector<Bytes>{Bytes::zero()} : wanted.sizes;
  request.types = {DataType::float32};
  request.reductions = {Reduction::sum};
  request.in_place = {false};
  request.iterations = wanted.iterations;
  return request;
}

/// With the first algorithms of each point alone.
std::vector<MeasuredPoint> points_of(const MeasureRequest& request, Backend& backend, std::size_t algorithms) {
  std::vector<MeasuredPoint> points = plan(request, {&backend}, [](const std::string&) {});
  for (MeasuredPoint& point : points) {
    if (point.subjects.size() > algorithms) {
      point.subjects.erase(point.subjects.begin() + static_cast<std::ptrdiff_t>(algorithms), point.subjects.end());
    }
  }
  return points;
}

}  // namespace

MeasuredCollectives measured_collectives(Backend& backend, const CollectivesWanted& wanted,
                                         const std::function<bool(const std::string& what)>& going_on) {
  MeasuredCollectives result;
  for (const CollectiveKind kind : collective_kinds()) {
    if (kind == CollectiveKind::all_to_all_v) {
      result.left_out.push_back("all_to_all_v: what it exchanges is a table of sizes; `athanor measure` has one");
      continue;
    }
    const MeasureRequest request = request_of(kind, wanted);
    std::vector<MeasuredPoint> points;
    try {
      points = points_of(request, backend, wanted.algorithms);
    } catch (const ScenarioError& error) {  // nothing fits so many ranks
      result.left_out.push_back(fmt::format("{}: {}", name(kind), error.what()));
      continue;
    }
    if (const auto available = available_memory(); available && !backend.ranks()) {
      check_memory(request, points, *available);
    }
    for (const MeasuredPoint& point : points) {
      const auto turn = [&](const Subject& subject) {
        result.interrupted = !going_on(
            fmt::format("{} of {} over {} ranks by {}", name(kind), to_string(point.size), point.ranks, subject.name));
        return !result.interrupted;
      };
      for (MeasuredRow& row : measure(request, point, turn)) { result.rows.push_back(std::move(row)); }
      if (result.interrupted) { return result; }
    }
  }
  return result;
}

}  // namespace athanor
