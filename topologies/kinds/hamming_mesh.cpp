#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "topologies/generators/direct/direct_network.hpp"
#include "topologies/generators/direct/router_graph.hpp"
#include "topologies/kinds/grids.hpp"

namespace athanor {

namespace {

struct HammingMeshShape {
  std::array<std::uint32_t, 2> board{1, 1};   ///< a, b: positions of a board along a row and a column
  std::array<std::uint32_t, 2> boards{1, 1};  ///< x, y: boards in a row and in a column
  std::optional<std::uint32_t> radix;         ///< of the switches; absent: one takes a whole row or column
};

/// What joins the boards of one row or column: one switch, or leaves and spines without oversubscription. Its switches
/// are numbered leaves first. Ports of a leaf: those to positions, then those up; up-link u leads to spine u mod
/// spines.
struct BoardTree {
  std::uint32_t places = 0;  ///< cables to positions
  std::uint32_t leaves = 1;
  std::uint32_t spines = 0;
  std::uint32_t down = 0;  ///< cables down of one leaf, the last of which may have fewer; with spines as many up

  std::uint32_t switches() const { return leaves + spines; }
  std::uint32_t down_of(std::uint32_t leaf) const { return std::min(down, places - leaf * down); }
  std::uint32_t side_by_side() const { return down / spines; }  // cables between a leaf and a spine
  std::uint32_t ports(std::uint32_t number) const {
    if (number >= leaves) { return leaves * side_by_side(); }
    return down_of(number) + (spines > 0 ? down : 0);
  }
};

/// `what`: "row".
BoardTree board_tree(const char* what, std::uint64_t places, const std::optional<std::uint32_t>& radix) {
  const auto all = static_cast<std::uint32_t>(places);
  if (!radix || places <= *radix) { return {all, 1, 0, all}; }
  const std::uint32_t down = *radix / 2;
  const std::uint64_t most = std::uint64_t{down} * *radix;
  if (places > most) {
    throw ScenarioError(Problem{
        "does-not-fit",
        fmt::format("a {} of boards of a HammingMesh has {} cables, and two tiers of switches of radix {} take {}",
                    what, places, *radix, most),
        {},
        "use larger switches, or fewer boards side by side"});
  }
  BoardTree tree{all, (all + down - 1) / down, 1, down};
  while (down % tree.spines != 0 || tree.leaves * tree.side_by_side() > *radix) { ++tree.spines; }
  return tree;
}

const HammingMeshShape& checked(const HammingMeshShape& shape) {
  check_box("a HammingMesh", {shape.boards[1], shape.boards[0], shape.board[0], shape.board[1]});
  return shape;
}

/// HammingMesh (Hoefler, Bonato, De Sensi, Di Girolamo, Li, Heddes, Belk, Goel, Castro, Scott, "HammingMesh: a network
/// topology for large-scale deep learning", SC 2022): boards on which a x b positions are a mesh, x boards in each of y
/// rows. Every position has four cables; those that lead off its board towards east and west end at the network of its
/// row of boards, those towards north and south at that of its column of boards. Such a network is one switch, or a fat
/// tree of two tiers where the radix is less than its 2 b x or 2 a y cables.
///   endpoints  a b x y
///   switches   x + y with one for each row and column, of radix max(2 b x, 2 a y)
///   cables     x y (2 a b - a - b) on boards, 2 x y (a + b) to rows and columns
///   diameter   4 + floor((a - 1) / 2) + floor((b - 1) / 2) with one switch for each, x, y > 1 and |a - b| < 5
///   bisection  x y min(a, b), x and y even: 1 / (2 max(a, b)) of what all positions can send
///
/// Routing `minimal`: by the networks of row (R) and column (C) of boards in the order in which the fewest cables are
/// taken: none on one board, R, C, R C, C R, R C R or C R C; of equal ones, and of equally near edges, one is drawn.
/// With one switch for each network these are shortest paths. `valiant`: minimal to a position drawn by the flow and
/// on.
///
/// Positions: number ((row * x + column of the board) * a + place along its row) * b + place along its column; then the
/// networks of all rows, then those of all columns. Ports of a position: along its row forward and back, along its
/// column forward and back.
class HammingMesh : public ValiantGraph {
 public:
  /// Throws ScenarioError("does-not-fit", "too-large") where there is no such network.
  explicit HammingMesh(const HammingMeshShape& shape)
      : shape_(checked(shape)),
        trees_{board_tree("row", 2ULL * b() * x(), shape.radix), board_tree("column", 2ULL * a() * y(), shape.radix)} {}

  std::string title() const override {
    return fmt::format("HammingMesh of {} x {} boards of {} x {}", x(), y(), a(), b());
  }
  PictureHint picture() const override { return {"sheets", {y(), x(), a(), b()}}; }

  std::uint32_t routers() const override { return first_switch(kColumn, x()); }
  std::uint32_t hosting() const override { return a() * b() * x() * y(); }
  VertexKind kind(std::uint32_t router) const override {
    if (router < hosting()) { return VertexKind::router; }
    return number_in_tree(router) < trees_[line_of(router)].leaves ? VertexKind::leaf : VertexKind::spine;
  }
  /// To the networks of rows and columns; cables on boards may be others.
  bool is_global(std::uint32_t router, std::uint32_t port) const override {
    return router >= hosting() || neighbour(router, port) >= hosting();
  }

  std::uint32_t ports(std::uint32_t router) const override {
    return router < hosting() ? 4 : trees_[line_of(router)].ports(number_in_tree(router));
  }

  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override {
    if (router >= hosting()) { return neighbour_of_switch(router, port); }
    const Position at = position(router);
    const Line line = port < 2 ? kRow : kColumn;
    const bool forward = port % 2 == 0;
    if (forward ? at.on_board[line] + 1 < shape_.board[line] : at.on_board[line] > 0) {
      return number(moved(at, line, forward));
    }
    return first_switch(line, at.board[1 - line]) + place(at, line, forward) / trees_[line].down;
  }

  std::vector<RouterSet> cut_sets() const override {
    const std::uint32_t board = a() * b();
    std::vector<RouterSet> found{{"board 0", {{0, board}}, false}};
    if (x() > 1) {
      RouterSet half{"half of the columns of boards", {{first_switch(kColumn, 0), x() / 2 * switches(kColumn)}}, true};
      for (std::uint32_t row = 0; row < y(); ++row) { half.routers.push_back({row * x() * board, x() / 2 * board}); }
      found.push_back(std::move(half));
    }
    if (y() > 1) {
      found.push_back({"half of the rows of boards",
                       {{0, y() / 2 * x() * board}, {first_switch(kRow, 0), y() / 2 * switches(kRow)}},
                       true});
    }
    return found;
  }

 private:
  /// Lines of boards. Along a row the first coordinate of each pair changes, along a column the second.
  using Line = std::uint32_t;
  static constexpr Line kRow = 0;
  static constexpr Line kColumn = 1;
  using Pair = std::array<std::uint32_t, 2>;
  struct Position {
    Pair board;     // in its row, and in its column
    Pair on_board;  // likewise
  };
  /// Networks that a path takes one after the other.
  using Legs = std::vector<Line>;

  std::uint32_t a() const { return shape_.board[0]; }
  std::uint32_t b() const { return shape_.board[1]; }
  std::uint32_t x() const { return shape_.boards[0]; }
  std::uint32_t y() const { return shape_.boards[1]; }

  Position position(std::uint32_t router) const {
    const std::uint32_t board = router / (a() * b());
    return {{board % x(), board / x()}, {router / b() % a(), router % b()}};
  }
  std::uint32_t number(const Position& at) const {
    return ((at.board[1] * x() + at.board[0]) * a() + at.on_board[0]) * b() + at.on_board[1];
  }
  static Position moved(Position at, Line line, bool forward) {
    at.on_board[line] += forward ? 1 : -1U;
    return at;
  }

  /// Of the network of one row or column.
  std::uint32_t switches(Line line) const { return trees_[line].switches(); }
  std::uint32_t first_switch(Line line, std::uint32_t which) const {
    return hosting() + (line == kRow ? 0 : y() * switches(kRow)) + which * switches(line);
  }
  Line line_of(std::uint32_t router) const { return router < first_switch(kColumn, 0) ? kRow : kColumn; }
  std::uint32_t number_in_tree(std::uint32_t router) const {
    const Line line = line_of(router);
    return (router - first_switch(line, 0)) % switches(line);
  }

  /// The cable of a position at the edge of its board among those of the network of its line.
  std::uint32_t place(const Position& at, Line line, bool forward) const {
    return (at.board[line] * 2 + (forward ? 1 : 0)) * shape_.board[1 - line] + at.on_board[1 - line];
  }
  /// The position at the other end of that cable.
  Position at_place(Line line, std::uint32_t which, std::uint32_t place) const {
    const std::uint32_t across = shape_.board[1 - line];
    Position at{};
    at.board[line] = place / across / 2;
    at.board[1 - line] = which;
    at.on_board[line] = place / across % 2 == 1 ? shape_.board[line] - 1 : 0;
    at.on_board[1 - line] = place % across;
    return at;
  }

  std::uint32_t neighbour_of_switch(std::uint32_t router, std::uint32_t port) const {
    const Line line = line_of(router);
    const BoardTree& tree = trees_[line];
    const std::uint32_t which = (router - first_switch(line, 0)) / tree.switches();
    const std::uint32_t own = number_in_tree(router);
    if (own >= tree.leaves) { return first_switch(line, which) + port / tree.side_by_side(); }
    if (port < tree.down_of(own)) { return number(at_place(line, which, own * tree.down + port)); }
    return first_switch(line, which) + tree.leaves + (port - tree.down_of(own)) % tree.spines;
  }

  /// Steps to the nearer of the two edges of a board that end a line.
  std::uint32_t to_edge(const Position& at, Line line) const {
    return std::min(at.on_board[line], shape_.board[line] - 1 - at.on_board[line]);
  }
  std::uint32_t on_board(const Position& from, const Position& to) const {
    std::uint32_t steps = 0;
    for (const Line line : {kRow, kColumn}) {
      steps += std::max(from.on_board[line], to.on_board[line]) - std::min(from.on_board[line], to.on_board[line]);
    }
    return steps;
  }
  /// Cables of a path by these networks. Boards in between are met at a corner, which all four networks reach.
  std::uint32_t length(const Position& from, const Position& to, const Legs& legs) const {
    if (legs.empty()) { return on_board(from, to); }
    std::uint32_t cables = to_edge(from, legs.front()) + to_edge(to, legs.back());
    for (const Line line : legs) { cables += trees_[line].spines > 0 ? 4 : 2; }
    return cables;
  }

  Legs fastest(FlowDraws& draws, const Position& from, const Position& to) const {
    std::vector<Legs> possible = {{kRow, kColumn}, {kColumn, kRow}, {kRow, kColumn, kRow}, {kColumn, kRow, kColumn}};
    if (from.board == to.board) { possible.push_back({}); }
    for (const Line line : {kRow, kColumn}) {
      if (from.board[1 - line] == to.board[1 - line]) { possible.push_back({line}); }
    }
    std::uint32_t least = ~0U;
    for (const Legs& legs : possible) { least = std::min(least, length(from, to, legs)); }
    std::erase_if(possible, [&](const Legs& legs) { return length(from, to, legs) > least; });
    return possible[draws.below(static_cast<std::uint32_t>(possible.size()))];
  }

  void walk_directly(FlowDraws& draws, std::uint32_t from, std::uint32_t target, PathBuilder& path) const override {
    Position at = position(from);
    const Position to = position(target);
    const Legs legs = fastest(draws, at, to);
    for (std::size_t leg = 0; leg < legs.size(); ++leg) {
      const Line line = legs[leg];
      const bool forward = nearer_edge(draws, at, line);
      along(at, line, forward ? shape_.board[line] - 1 : 0, path);
      const Position entry = leg + 1 == legs.size() ? entry_of(draws, to, line) : corner(draws, at, to, legs, leg);
      cross(draws, at, forward, entry, line, path);
      at = entry;
    }
    for (const Line line : {kRow, kColumn}) { along(at, line, to.on_board[line], path); }
  }

  /// Whether the edge at the end of a line is nearer than that at its beginning; of equally near ones, one is drawn.
  bool nearer_edge(FlowDraws& draws, const Position& at, Line line) const {
    const std::uint32_t ahead = shape_.board[line] - 1 - at.on_board[line];
    return ahead == at.on_board[line] ? draws.below(2) == 1 : ahead < at.on_board[line];
  }

  void along(Position& at, Line line, std::uint32_t target, PathBuilder& path) const {
    while (at.on_board[line] != target) {
      const bool forward = at.on_board[line] < target;
      path.take(number(at), line * 2 + (forward ? 0 : 1));
      at = moved(at, line, forward);
    }
  }

  /// Where a path comes onto the board of `to` by the last network: at the edge that is nearer to it.
  Position entry_of(FlowDraws& draws, Position to, Line line) const {
    to.on_board[line] = nearer_edge(draws, to, line) ? shape_.board[line] - 1 : 0;
    return to;
  }

  /// A corner of the board on which a path changes from one network to another. Before the last but one it is on any
  /// other board of the line.
  Position corner(FlowDraws& draws, Position at, const Position& to, const Legs& legs, std::size_t leg) const {
    const Line line = legs[leg];
    const bool last_of_line = leg + 2 >= legs.size();
    const std::uint32_t others = shape_.boards[line] - 1;
    at.board[line] = last_of_line  ? to.board[line]
                     : others == 0 ? at.board[line]
                                   : (at.board[line] + 1 + draws.below(others)) % shape_.boards[line];
    for (const Line each : {kRow, kColumn}) {
      at.on_board[each] = shape_.board[each] > 1 && draws.below(2) == 1 ? shape_.board[each] - 1 : 0;
    }
    return at;
  }

  /// From an edge of a board over the network of a line to another board of it. `forward`: of the cable that is taken.
  void cross(FlowDraws& draws, const Position& at, bool forward, const Position& entry, Line line,
             PathBuilder& path) const {
    const BoardTree& tree = trees_[line];
    const std::uint32_t first = first_switch(line, at.board[1 - line]);
    // A board that is one position wide has both edges there: the cable that ends at the same leaf is as good.
    const bool at_end =
        entry.on_board[line] + 1 == shape_.board[line] && (shape_.board[line] > 1 || draws.below(2) == 1);
    const std::uint32_t up = place(at, line, forward);
    const std::uint32_t down = place(entry, line, at_end);
    path.take(number(at), line * 2 + (forward ? 0 : 1));
    const std::uint32_t leaf = up / tree.down;
    const std::uint32_t target = down / tree.down;
    if (leaf != target) {
      const std::uint32_t link = draws.below(tree.down);
      path.take(first + leaf, tree.down_of(leaf) + link);
      const std::uint32_t spine = first + tree.leaves + link % tree.spines;
      path.take(spine, target * tree.side_by_side() + draws.below(tree.side_by_side()));
    }
    path.take(first + target, down % tree.down);
  }

  HammingMeshShape shape_;
  std::array<BoardTree, 2> trees_;  // of each row, of each column
};

std::array<std::uint32_t, 2> pair_of(const char* key, const std::vector<std::uint32_t>& sizes) {
  if (sizes.size() == 2) { return {sizes[0], sizes[1]}; }
  throw ScenarioError(Problem{"does-not-fit",
                              fmt::format("\"{}\" of a HammingMesh has {} numbers", key, sizes.size()),
                              {},
                              "give two: along a row and along a column"});
}

}  // namespace

/// Positions are members: bare devices, or nodes that have a router vertex their NICs are on.
struct HammingMeshFabric : FabricKind {
  Switching switching;
  std::vector<std::uint32_t> board, boards;
  std::optional<NetworkLink> board_link;
  VertexKind at_positions = VertexKind::host;

  static Topology words() {
    return {.name = "hamming_mesh",
            .title = "HammingMesh",
            .summary = "Boards of a mesh each, joined along rows and columns by switches or fat trees",
            .explanation =
                "Boards on which accelerators are joined to their neighbours by short cables; every row of boards and "
                "every column of boards is joined by a switch or, where its ports do not suffice, by a fat tree of two "
                "tiers. The bandwidth of a torus for rings at the price of few switches, and jobs may take any rows "
                "and columns of boards. A node is a position, and its NICs share the position's four ports.",
            .symbols = "boards of a x b positions, x boards in each of y rows; one switch for a row or column",
            .endpoints = "a b x y",
            .switches = "x + y, of radix 2 a y and 2 b x",
            .cables = "x y (2 a b - a - b) on boards, 2 x y (a + b) to switches",
            .diameter = "4 + floor((a - 1) / 2) + floor((b - 1) / 2), for x, y > 1 and |a - b| < 5",
            .bisection = "x y min(a, b), x and y even",
            .source =
                "Hoefler, Bonato, De Sensi, Di Girolamo, Li, Heddes, Belk, Goel, Castro, Scott, \"HammingMesh: a "
                "network topology for large-scale deep learning\", SC'22",
            .routings = {Routing::minimal, Routing::valiant, Routing::ugal}};
  }

  void visit(Fields& fields) override {
    athanor::visit(fields, switching);
    read_radix(fields, switching);
    fields.required("board", board, "Positions of a board along a row and along a column: [a, b]", kPositionRange);
    fields.required("boards", boards, "Boards in a row and in a column: [x, y]", kPositionRange);
    fields.optional_object("board_link", board_link, "Between neighbours on a board; default: as the others");
    read_positions(fields, at_positions);
  }

  const Switching& switches() const override { return switching; }
  bool members_are_routers() const override { return true; }
  VertexKind positions() const override { return at_positions; }
  Wide capacity(NicsPerNode /*nics*/) const override { return product(board) * product(boards); }

  std::shared_ptr<NetworkTopology> build(const FabricSite& site) const override {
    const HammingMeshShape shape{pair_of("board", board), pair_of("boards", boards), site.radix};
    return std::make_shared<DirectNetwork>(
        site.population, std::make_shared<HammingMesh>(shape),
        DirectSpec{{}, {}, site.nic_cable, cable_or(board_link, site.cable), site.cable});
  }
};

template Topology topology_of<HammingMeshFabric>();

}  // namespace athanor
