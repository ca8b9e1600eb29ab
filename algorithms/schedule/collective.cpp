#include "algorithms/schedule/collective.hpp"

#include <algorithm>
#include <array>

#include "algorithms/schedule/aggregation_tree.hpp"

namespace athanor {

LayoutShape::LayoutShape() = default;
LayoutShape::LayoutShape(const LayoutShape& other) = default;
LayoutShape::LayoutShape(LayoutShape&& other) noexcept = default;
LayoutShape& LayoutShape::operator=(const LayoutShape& other) = default;
LayoutShape& LayoutShape::operator=(LayoutShape&& other) noexcept = default;
LayoutShape::~LayoutShape() = default;
bool LayoutShape::operator==(const LayoutShape& other) const {
  return static_cast<const variant&>(*this) == static_cast<const variant&>(other);
}

namespace {

constexpr std::array kKinds{
    CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,   CollectiveKind::broadcast,
    CollectiveKind::reduce,     CollectiveKind::all_to_all,     CollectiveKind::all_to_all_v, CollectiveKind::gather,
    CollectiveKind::scatter,    CollectiveKind::barrier,        CollectiveKind::send_receive,
};

}  // namespace

std::string_view name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce: return "all_reduce";
    case CollectiveKind::reduce_scatter: return "reduce_scatter";
    case CollectiveKind::all_gather: return "all_gather";
    case CollectiveKind::broadcast: return "broadcast";
    case CollectiveKind::reduce: return "reduce";
    case CollectiveKind::all_to_all: return "all_to_all";
    case CollectiveKind::all_to_all_v: return "all_to_all_v";
    case CollectiveKind::gather: return "gather";
    case CollectiveKind::scatter: return "scatter";
    case CollectiveKind::barrier: return "barrier";
    case CollectiveKind::send_receive: return "send_receive";
  }
  return "";
}

std::optional<CollectiveKind> collective_kind(std::string_view text) {
  const auto* const found = std::find_if(kKinds.begin(), kKinds.end(), [&](auto kind) { return name(kind) == text; });
  return found == kKinds.end() ? std::nullopt : std::optional{*found};
}

std::span<const CollectiveKind> collective_kinds() { return kKinds; }

bool reduces(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce: return true;
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::barrier:
    case CollectiveKind::send_receive: return false;
  }
  return false;
}

bool has_root(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::send_receive: return true;
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::barrier: return false;
  }
  return false;
}

Layout for_elements_of(Bytes element_size, Layout layout_of_bytes) {
  const auto elements = [&](Elements bytes) {
    if (bytes == Elements::max()) { return bytes; }
    return Elements{std::max<std::int64_t>(1, bytes.count() / element_size.count())};
  };
  Layout layout = std::move(layout_of_bytes);
  for (Elements* size : {&layout.chunk, &layout.grain, &layout.least_slice}) { *size = elements(*size); }
  if (auto* rounds = std::get_if<PeerRoundShape>(&layout.shape); rounds != nullptr && rounds->parts_by_size) {
    rounds->parts_by_size->small = elements(rounds->parts_by_size->small);
    rounds->parts_by_size->large = elements(rounds->parts_by_size->large);
  }
  return layout;
}

}  // namespace athanor
