#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/layouts/layout_graph.hpp"

namespace athanor {

/// Layouts that a user gives, by tensor; none is a sum.
using GivenLayouts = std::map<std::string, TensorLayout>;

/// By node of the graph, the strategies that it may have: all whose axes divide, of given tensors those that have the
/// layout. `training`: strategies of gradients, too. A node that has none is refused: LayoutModelError.
std::vector<std::vector<OperatorStrategy>> possible_strategies(const LayoutGraph& graph, const DeviceMesh& mesh,
                                                               const GivenLayouts& given, bool training);

/// Leaves of these the ones that follow from given layouts, as GSPMD propagates them: along the graph, from the first
/// input to the last, then back, then along again, until nothing changes. A dimension is sharded once it is known by
/// what, where the axes are free in the operator and divide it. What nothing leads to is replicated. Sums may go
/// through linear operators all the same.
void propagate(const LayoutGraph& graph, const DeviceMesh& mesh, const GivenLayouts& given,
               std::vector<std::vector<OperatorStrategy>>& strategies);

}  // namespace athanor
