#include "models/layouts/layout_conversion.hpp"

#include <random>
#include <set>

#include <doctest/doctest.h>

#include "tests/models/layouts/moved_elements.hpp"
#include "tests/models/layouts/small_graphs.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

LayoutConverter converter(const DeviceMesh& mesh, std::optional<Bytes> most = std::nullopt) {
  return LayoutConverter(
      mesh, [mesh](const LayoutStep& step, Bytes size) { return ring_time(step, size, mesh); }, nullptr, most);
}

const DeviceMesh kTwoByFour{{{"a", 2}, {"b", 4}}};
const DeviceMesh kThreeAxes{{{"a", 2}, {"b", 2}, {"c", 3}}};

std::vector<LayoutStepKind> kinds(const LayoutConversion& conversion) {
  std::vector<LayoutStepKind> result;
  for (const LayoutStep& step : conversion.steps) { result.push_back(step.kind); }
  return result;
}

using Kinds = std::vector<LayoutStepKind>;

Kinds kinds_between(const DeviceMesh& mesh, const TensorShape& shape, const TensorLayout& from,
                    const TensorLayout& to) {
  return kinds(converter(mesh).find({shape, 2}, from, to).value());
}

/// A matrix of which no dimension is sharded.
TensorLayout sum_over(const MeshAxes& axes) {
  TensorLayout layout = replicated(2);
  layout.partial = axes;
  return layout;
}

/// Each axis shards some dimension, or is partial, or neither.
TensorLayout random_layout(std::size_t dimensions, std::mt19937& random, const DeviceMesh& mesh, bool partial) {
  TensorLayout layout = replicated(dimensions);
  std::vector<std::uint8_t> axes;
  for (std::uint8_t axis = 0; axis < mesh.axes.size(); ++axis) {
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(random() % (axes.size() + 1)), axis);
  }
  for (const std::uint8_t axis : axes) {
    const std::size_t use = random() % (dimensions + 2);
    if (use < dimensions) { layout.dimensions[use].push_back(axis); }
    if (use == dimensions && partial) { layout.partial.push_back(axis); }
  }
  std::sort(layout.partial.begin(), layout.partial.end());
  return layout;
}

/// Some of its partial axes remain, which the other must not use otherwise.
TensorLayout random_target(const TensorLayout& from, std::mt19937& random, const DeviceMesh& mesh) {
  TensorLayout to = random_layout(from.dimensions.size(), random, mesh, false);
  for (const std::uint8_t axis : unused_axes(to, mesh)) {
    const bool was = std::find(from.partial.begin(), from.partial.end(), axis) != from.partial.end();
    if (was && random() % 2 == 0) { to.partial.push_back(axis); }
  }
  return to;
}

}  // namespace

TEST_CASE("devices of a mesh are numbered with the last axis fastest, and groups differ in their axes alone") {
  CHECK(kTwoByFour.devices() == 8);
  CHECK(kTwoByFour.coordinates(6) == std::vector<std::uint32_t>{1, 2});
  CHECK(kTwoByFour.groups({1}) == EndpointGroups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(kTwoByFour.groups({0}) == EndpointGroups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(kTwoByFour.groups({1, 0}) == EndpointGroups{{0, 4, 1, 5, 2, 6, 3, 7}});
  CHECK(kTwoByFour.groups({}).size() == 8);
}

TEST_CASE("moving an axis from one dimension to another is one all-to-all, not all-gather and slice") {
  const TensorLayout rows{{{1}, {}}};
  const TensorLayout columns{{{}, {1}}};
  CHECK(kinds_between(kTwoByFour, {8, 8}, rows, columns) == Kinds{LayoutStepKind::all_to_all});
  const TensorExtent tensor{{8, 8}, 2};
  CHECK(converter(kTwoByFour).find(tensor, rows, columns)->time == Time{32 * 3 / 4});  // of the 32 bytes that it has
  CHECK(converter(kTwoByFour).find_plain(tensor, rows, columns)->time == Time{128 * 3 / 4});
}

TEST_CASE("known redistributions take the collectives that they are known for") {
  using enum LayoutStepKind;
  const TensorLayout whole = replicated(2);
  CHECK(kinds_between(kTwoByFour, {8, 8}, whole, whole).empty());
  CHECK(kinds_between(kTwoByFour, {8, 8}, whole, {{{0}, {1}}}) == Kinds{slice, slice});
  CHECK(kinds_between(kTwoByFour, {8, 8}, {{{0}, {}}}, whole) == Kinds{all_gather});
  const DeviceMesh line{{{"a", 4}}};
  CHECK(kinds_between(line, {8, 8}, sum_over({0}), whole) == Kinds{all_reduce});
  CHECK(kinds_between(line, {8, 8}, sum_over({0}), {{{0}, {}}}) == Kinds{reduce_scatter});
  CHECK(kinds_between(kTwoByFour, {8, 8}, {{{}, {0}}, {1}}, {{{1}, {0}}}) == Kinds{reduce_scatter});
}

TEST_CASE("devices that hold the same share the work of a sum: each adds up its part") {
  const auto found = converter(kTwoByFour).find({{8, 8}, 2}, sum_over({1}), replicated(2));
  CHECK(found->steps.size() == 3);
  CHECK(found->time == Time{2 * 64 * 3 / 4 + 128 / 2});  // over b on a half each, then over a
  CHECK(converter(kTwoByFour).find_plain({{8, 8}, 2}, sum_over({1}), replicated(2))->time == found->time);
}

TEST_CASE("both axes of a dimension are gathered at once, and the major one alone behind a permutation") {
  using enum LayoutStepKind;
  CHECK(kinds_between(kTwoByFour, {8, 8}, {{{0, 1}, {}}}, replicated(2)) == Kinds{all_gather});
  CHECK(kinds_between(kTwoByFour, {8, 8}, {{{0, 1}, {}}}, {{{0}, {}}}) == Kinds{all_gather});
  CHECK(kinds_between(kTwoByFour, {8, 8}, {{{0, 1}, {}}}, {{{1, 0}, {}}}) == Kinds{permute});
  CHECK(kinds_between(kTwoByFour, {8, 8}, {{{0, 1}, {}}}, {{{1}, {}}}) == Kinds{permute, all_gather});
}

TEST_CASE("axes of one size change places by a permutation, in which half of the devices keep what they have") {
  const DeviceMesh square{{{"a", 2}, {"b", 2}}};
  const TensorLayout ab{{{0}, {1}}};
  const TensorLayout ba{{{1}, {0}}};
  CHECK(kinds_between(square, {4, 4}, ab, ba) == Kinds{LayoutStepKind::permute});
  CHECK(senders(ab, ba, square) == std::vector<std::uint32_t>{0, 2, 1, 3});
}

TEST_CASE("what is no sum cannot become one") {
  const TensorLayout sum = sum_over({0});
  CHECK_FALSE(converter(kTwoByFour).find({{8, 8}, 2}, replicated(2), sum));
  CHECK_FALSE(converter(kTwoByFour).time({{8, 8}, 2}, replicated(2), sum));
}

TEST_CASE("on the way no device holds more than it has room for") {
  const TensorLayout from{{{0, 1}, {}}};
  const TensorLayout to{{{1}, {0}}};
  const TensorExtent tensor{{8, 8}, 2};  // 128 bytes, 16 on each device
  for (const std::int64_t most : {16, 32, 64, 128}) {
    const auto found = converter(kTwoByFour, Bytes{most}).find(tensor, from, to);
    REQUIRE(found);
    for (const LayoutStep& step : found->steps) {
      CHECK(local_elements(step.from, tensor.shape, kTwoByFour) * 2 <= most);
    }
  }
  CHECK_FALSE(converter(kTwoByFour, Bytes{8}).find(tensor, {{{0}, {}}}, {{{}, {0}}})->steps.size() > 1);
}

TEST_CASE("conversions between random layouts leave on each device what the target says, however they go") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const DeviceMesh& mesh = round % 2 == 0 ? kTwoByFour : kThreeAxes;
    const TensorShape shape = round % 3 == 0 ? TensorShape{24, 24} : TensorShape{12, 8, 24};
    TensorLayout from = random_layout(shape.size(), random, mesh, true);
    const TensorLayout to = random_target(from, random, mesh);
    CAPTURE(text_of(from, mesh));
    CAPTURE(text_of(to, mesh));
    if (!divides(from, shape, mesh) || !divides(to, shape, mesh)) { continue; }
    const auto found = converter(mesh).find({shape, 4}, from, to);
    REQUIRE(found);
    std::vector<HeldBlock> held = held_in(from, shape, from.partial, mesh);
    for (const LayoutStep& step : found->steps) { held = carried_out(step, held, mesh); }
    CHECK(held == held_in(to, shape, from.partial, mesh));
    const auto plain = converter(mesh).find_plain({shape, 4}, from, to);
    if (plain) { CHECK(found->time <= plain->time); }
  }
}

TEST_CASE("each step from a random layout leaves what it says, and has the bytes that a device takes part with") {
  std::mt19937 random(11);
  const TensorShape shape{12, 24};
  for (int round = 0; round < 100; ++round) {
    const TensorLayout from = random_layout(2, random, kThreeAxes, true);
    const std::vector<HeldBlock> held = held_in(from, shape, from.partial, kThreeAxes);
    for (const LayoutStep& step : steps_from(from, shape, kThreeAxes)) {
      CAPTURE(name(step.kind));
      CHECK(carried_out(step, held, kThreeAxes) == held_in(step.to, shape, from.partial, kThreeAxes));
      const bool gathers = step.kind == LayoutStepKind::all_gather || step.kind == LayoutStepKind::slice;
      CHECK(step.elements == local_elements(gathers ? step.to : step.from, shape, kThreeAxes));
    }
  }
}
