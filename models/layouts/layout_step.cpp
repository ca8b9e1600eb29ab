#include "models/layouts/layout_step.hpp"

#include <algorithm>
#include <functional>

namespace athanor {

std::string_view name(LayoutStepKind kind) {
  switch (kind) {
    case LayoutStepKind::slice: return "slice";
    case LayoutStepKind::all_gather: return "all-gather";
    case LayoutStepKind::reduce_scatter: return "reduce-scatter";
    case LayoutStepKind::all_reduce: return "all-reduce";
    case LayoutStepKind::all_to_all: return "all-to-all";
    case LayoutStepKind::permute: return "permute";
  }
  return "";
}

namespace {

void append(MeshAxes& to, const MeshAxes& what) { to.insert(to.end(), what.begin(), what.end()); }

/// All ordered choices of one or more of these axes.
void for_arrangements(const MeshAxes& axes, MeshAxes& chosen, const std::function<void(const MeshAxes&)>& visit) {
  for (const std::uint8_t axis : axes) {
    if (std::find(chosen.begin(), chosen.end(), axis) != chosen.end()) { continue; }
    chosen.push_back(axis);
    visit(chosen);
    for_arrangements(axes, chosen, visit);
    chosen.pop_back();
  }
}

class StepList {
 public:
  StepList(const TensorLayout& layout, const TensorShape& shape, const DeviceMesh& mesh)
      : layout_(layout), shape_(shape), mesh_(mesh), local_(local_elements(layout, shape, mesh)) {}

  std::vector<LayoutStep> all() {
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      move_last_axes(i);
      add_slices(i);
      add_reduce_scatters(i);
    }
    add_all_reduces();
    permute_axes();
    return std::move(steps_);
  }

 private:
  void add(LayoutStepKind kind, const MeshAxes& axes, TensorLayout to, std::int64_t count) {
    if (divides(to, shape_, mesh_)) { steps_.push_back({kind, axes, layout_, std::move(to), count}); }
  }

  /// Gathers them, or lets them shard another dimension.
  void move_last_axes(std::size_t from) {
    const MeshAxes& own = layout_.dimensions[from];
    for (std::size_t kept = 0; kept < own.size(); ++kept) {
      const auto cut = own.begin() + static_cast<std::ptrdiff_t>(kept);
      const MeshAxes moved(cut, own.end());
      TensorLayout gathered = layout_;
      gathered.dimensions[from].assign(own.begin(), cut);
      add(LayoutStepKind::all_gather, moved, gathered, local_ * mesh_.size(moved));
      for (std::size_t to = 0; to < shape_.size(); ++to) {
        if (to == from) { continue; }
        TensorLayout result = gathered;
        append(result.dimensions[to], moved);
        add(LayoutStepKind::all_to_all, moved, std::move(result), local_);
      }
    }
  }

  void add_slices(std::size_t dimension) {
    for (const std::uint8_t axis : unused_axes(layout_, mesh_)) {
      TensorLayout result = layout_;
      result.dimensions[dimension].push_back(axis);
      add(LayoutStepKind::slice, {axis}, std::move(result), local_ / mesh_.axes[axis].size);
    }
  }

  TensorLayout without_partial(const MeshAxes& axes) const {
    TensorLayout result = layout_;
    std::erase_if(result.partial,
                  [&](std::uint8_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); });
    return result;
  }

  void add_reduce_scatters(std::size_t dimension) {
    MeshAxes chosen;
    for_arrangements(layout_.partial, chosen, [&](const MeshAxes& axes) {
      TensorLayout result = without_partial(axes);
      append(result.dimensions[dimension], axes);
      add(LayoutStepKind::reduce_scatter, axes, std::move(result), local_);
    });
  }

  /// In ascending order alone: another one sums the same.
  void add_all_reduces() {
    MeshAxes chosen;
    for_arrangements(layout_.partial, chosen, [&](const MeshAxes& axes) {
      if (!std::is_sorted(axes.begin(), axes.end())) { return; }
      add(LayoutStepKind::all_reduce, axes, without_partial(axes), local_);
    });
  }

  /// Other axes of the same sizes in the same places.
  void permute_axes() {
    TensorLayout result{std::vector<MeshAxes>(shape_.size()), layout_.partial};
    place_axes(0, 0, result);
  }

  void place_axes(std::size_t dimension, std::size_t position, TensorLayout& result) {
    if (dimension == shape_.size()) {
      if (result != layout_) { add(LayoutStepKind::permute, {}, result, local_); }
      return;
    }
    const MeshAxes& own = layout_.dimensions[dimension];
    if (position == own.size()) { return place_axes(dimension + 1, 0, result); }
    for (const std::uint8_t axis : unused_axes(result, mesh_)) {
      if (mesh_.size(own) % mesh_.axes[axis].size != 0) { continue; }
      result.dimensions[dimension].push_back(axis);
      const bool last = position + 1 == own.size();
      if (!last || mesh_.size(result.dimensions[dimension]) == mesh_.size(own)) {
        place_axes(dimension, position + 1, result);
      }
      result.dimensions[dimension].pop_back();
    }
  }

  const TensorLayout& layout_;
  const TensorShape& shape_;
  const DeviceMesh& mesh_;
  std::int64_t local_;
  std::vector<LayoutStep> steps_;
};

/// Writes the digits of `place` into the coordinates of these axes, the last of which varies fastest.
void set_place(const DeviceMesh& mesh, const MeshAxes& axes, std::uint32_t place,
               std::vector<std::uint32_t>& coordinates) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    coordinates[*axis] = place % mesh.axes[*axis].size;
    place /= mesh.axes[*axis].size;
  }
}

}  // namespace

std::vector<LayoutStep> steps_from(const TensorLayout& layout, const TensorShape& shape, const DeviceMesh& mesh) {
  return StepList(layout, shape, mesh).all();
}

std::vector<std::uint32_t> senders(const TensorLayout& from, const TensorLayout& to, const DeviceMesh& mesh) {
  const MeshAxes free_before = unused_axes(from, mesh);
  const MeshAxes free_after = unused_axes(to, mesh);
  std::vector<std::uint32_t> result;
  for (std::uint32_t device = 0; device < mesh.devices(); ++device) {
    const std::vector<std::uint32_t> own = mesh.coordinates(device);
    std::vector<std::uint32_t> source = own;
    for (std::size_t i = 0; i < to.dimensions.size(); ++i) {
      set_place(mesh, from.dimensions[i], mesh.place(own, to.dimensions[i]), source);
    }
    set_place(mesh, free_before, mesh.place(own, free_after), source);
    result.push_back(mesh.device(source));
  }
  return result;
}

}  // namespace athanor
