#include "models/layouts/choice_problem.hpp"

#include <algorithm>
#include <set>

#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kImpossible = ChoiceProblem::kImpossible;

std::int64_t sum(std::int64_t a, std::int64_t b) { return std::min(a + b, kImpossible); }

/// Costs of the choices of some variables together, the last of which varies fastest.
struct CostTable {
  std::vector<std::uint32_t> scope;  ///< ascending
  std::vector<std::int64_t> costs;
};

/// Steps through the choices of some variables, and keeps places in several tables.
class TableWalk {
 public:
  TableWalk(std::vector<std::uint32_t> scope, const std::vector<std::uint32_t>& sizes,
            const std::vector<const CostTable*>& tables)
      : scope_(std::move(scope)), choice_(scope_.size()), places_(tables.size()), strides_(tables.size()) {
    for (const std::uint32_t variable : scope_) { sizes_.push_back(sizes[variable]); }
    for (std::size_t t = 0; t < tables.size(); ++t) {
      for (const std::uint32_t variable : scope_) { strides_[t].push_back(stride(*tables[t], variable, sizes)); }
    }
  }

  static std::size_t stride(const CostTable& table, std::uint32_t variable, const std::vector<std::uint32_t>& sizes) {
    std::size_t result = 1;
    for (std::size_t i = table.scope.size(); i-- > 0;) {
      if (table.scope[i] == variable) { return result; }
      result *= sizes[table.scope[i]];
    }
    return 0;
  }

  const std::vector<std::size_t>& places() const { return places_; }

  /// False behind the last.
  bool next() {
    for (std::size_t i = scope_.size(); i-- > 0;) {
      const bool turns = ++choice_[i] == sizes_[i];
      const std::size_t back = turns ? std::size_t{sizes_[i]} - 1 : 0;
      for (std::size_t t = 0; t < places_.size(); ++t) {
        if (turns) {
          places_[t] -= back * strides_[t][i];
        } else {
          places_[t] += strides_[t][i];
        }
      }
      if (!turns) { return true; }
      choice_[i] = 0;
    }
    return false;
  }

 private:
  std::vector<std::uint32_t> scope_;
  std::vector<std::uint32_t> sizes_;
  std::vector<std::uint32_t> choice_;
  std::vector<std::size_t> places_;
  std::vector<std::vector<std::size_t>> strides_;
};

class Elimination {
 public:
  Elimination(const ChoiceProblem& problem, std::int64_t price, const ChoiceLimits& limits, const std::stop_token& stop)
      : problem_(problem), price_(price), limits_(limits), stop_(stop) {
    for (std::uint32_t v = 0; v < problem.costs.size(); ++v) {
      sizes_.push_back(static_cast<std::uint32_t>(problem.costs[v].size()));
      tables_.push_back({{v}, priced(problem.costs[v], problem.memory[v])});
    }
    for (const ChoiceProblem::Pair& pair : problem.pairs) { tables_.push_back(table_of(pair)); }
  }

  /// With memory at its price; `cost` is without.
  ChoiceSolution solve() {
    std::set<std::uint32_t> left;
    for (std::uint32_t v = 0; v < sizes_.size(); ++v) { left.insert(v); }
    while (!left.empty()) {
      if (stop_.stop_requested()) { throw Interrupted(); }
      const std::uint32_t variable = cheapest(left);
      left.erase(variable);
      eliminate(variable);
    }
    ChoiceSolution solution;
    solution.bound = constant_;
    solution.chosen.assign(sizes_.size(), 0);
    for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend(); ++bucket) { choose(*bucket, solution.chosen); }
    improve(solution.chosen);
    return solution;
  }

  std::int64_t priced_cost(const std::vector<std::uint32_t>& chosen) const {
    std::int64_t total = 0;
    for (const CostTable& table : originals_) { total = sum(total, value(table, chosen)); }
    return total;
  }

 private:
  struct Bucket {
    std::uint32_t variable = 0;
    std::vector<CostTable> tables;
  };

  std::vector<std::int64_t> priced(const std::vector<std::int64_t>& costs,
                                   const std::vector<std::int64_t>& memory) const {
    std::vector<std::int64_t> result = costs;
    for (std::size_t i = 0; i < memory.size(); ++i) { result[i] = sum(result[i], memory[i] * price_); }
    return result;
  }

  CostTable table_of(const ChoiceProblem::Pair& pair) const {
    const std::vector<std::int64_t> costs = priced(pair.costs, pair.memory);
    if (pair.first < pair.second) { return {{pair.first, pair.second}, costs}; }
    const std::size_t rows = sizes_[pair.first];
    const std::size_t columns = sizes_[pair.second];
    if (pair.first == pair.second) {
      CostTable diagonal{{pair.first}, {}};
      for (std::size_t i = 0; i < rows; ++i) { diagonal.costs.push_back(costs[i * columns + i]); }
      return diagonal;
    }
    CostTable turned{{pair.second, pair.first}, std::vector<std::int64_t>(costs.size())};
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) { turned.costs[j * rows + i] = costs[i * columns + j]; }
    }
    return turned;
  }

  /// Choices of all variables that some tables are of; bounded.
  std::int64_t product(const std::set<std::uint32_t>& scope) const {
    std::int64_t result = 1;
    for (const std::uint32_t v : scope) { result = std::min<std::int64_t>(result * sizes_[v], INT64_MAX / 100'000); }
    return result;
  }

  std::uint32_t cheapest(const std::set<std::uint32_t>& left) const {
    std::vector<std::set<std::uint32_t>> together(sizes_.size());
    for (const CostTable& table : tables_) {
      for (const std::uint32_t v : table.scope) { together[v].insert(table.scope.begin(), table.scope.end()); }
    }
    return *std::min_element(left.begin(), left.end(), [&](std::uint32_t a, std::uint32_t b) {
      return product(together[a]) < product(together[b]);
    });
  }

  void eliminate(std::uint32_t variable) {
    Bucket bucket{variable, {}};
    for (CostTable& table : tables_) {
      const bool has = std::binary_search(table.scope.begin(), table.scope.end(), variable);
      if (has) { bucket.tables.push_back(std::move(table)); }
    }
    std::erase_if(tables_, [](const CostTable& table) { return table.scope.empty() || table.costs.empty(); });
    std::vector<const CostTable*> part;
    std::set<std::uint32_t> scope;
    for (const CostTable& table : bucket.tables) {
      std::set<std::uint32_t> wider = scope;
      wider.insert(table.scope.begin(), table.scope.end());
      if (!part.empty() && product(wider) > limits_.table) {
        minimise(variable, part, scope);
        part.clear();
        wider = {table.scope.begin(), table.scope.end()};
      }
      part.push_back(&table);
      scope = std::move(wider);
    }
    minimise(variable, part, scope);
    buckets_.push_back(std::move(bucket));
  }

  /// Adds the least costs over the variable's choices, by all others of the scope.
  void minimise(std::uint32_t variable, const std::vector<const CostTable*>& part, std::set<std::uint32_t> scope) {
    scope.erase(variable);
    CostTable result{{scope.begin(), scope.end()}, {}};
    std::vector<std::size_t> strides;
    for (const CostTable* table : part) { strides.push_back(TableWalk::stride(*table, variable, sizes_)); }
    TableWalk walk(result.scope, sizes_, part);
    do {
      std::int64_t least = kImpossible;
      for (std::uint32_t choice = 0; choice < sizes_[variable]; ++choice) {
        std::int64_t total = 0;
        for (std::size_t t = 0; t < part.size() && total < least; ++t) {
          total += part[t]->costs[walk.places()[t] + choice * strides[t]];
        }
        least = std::min(least, total);
      }
      result.costs.push_back(least);
    } while (walk.next());
    if (result.scope.empty()) {
      constant_ = sum(constant_, result.costs.front());
    } else {
      tables_.push_back(std::move(result));
    }
  }

  std::int64_t value(const CostTable& table, const std::vector<std::uint32_t>& chosen) const {
    std::size_t place = 0;
    for (const std::uint32_t v : table.scope) { place = place * sizes_[v] + chosen[v]; }
    return table.costs[place];
  }

  void choose(const Bucket& bucket, std::vector<std::uint32_t>& chosen) const {
    std::int64_t least = INT64_MAX;
    std::uint32_t best = 0;
    for (std::uint32_t choice = 0; choice < sizes_[bucket.variable]; ++choice) {
      chosen[bucket.variable] = choice;
      std::int64_t total = 0;
      for (const CostTable& table : bucket.tables) { total = sum(total, value(table, chosen)); }
      if (total >= least) { continue; }
      least = total;
      best = choice;
    }
    chosen[bucket.variable] = best;
  }

  /// Where the elimination was not exact: one variable at a time, until none gets better.
  void improve(std::vector<std::uint32_t>& chosen) {
    for (std::uint32_t v = 0; v < sizes_.size(); ++v) {
      originals_.push_back({{v}, priced(problem_.costs[v], problem_.memory[v])});
    }
    for (const ChoiceProblem::Pair& pair : problem_.pairs) { originals_.push_back(table_of(pair)); }
    for (std::int64_t cost = priced_cost(chosen); cost > constant_;) {
      for (std::uint32_t v = 0; v < sizes_.size(); ++v) { choose(bucket_of(v), chosen); }
      const std::int64_t better = priced_cost(chosen);
      if (better >= cost) { return; }
      cost = better;
    }
  }

  Bucket bucket_of(std::uint32_t variable) const {
    Bucket bucket{variable, {}};
    for (const CostTable& table : originals_) {
      if (std::binary_search(table.scope.begin(), table.scope.end(), variable)) { bucket.tables.push_back(table); }
    }
    return bucket;
  }

  const ChoiceProblem& problem_;
  std::int64_t price_;
  const ChoiceLimits& limits_;
  const std::stop_token& stop_;
  std::vector<std::uint32_t> sizes_;
  std::vector<CostTable> tables_;
  std::vector<CostTable> originals_;
  std::vector<Bucket> buckets_;
  std::int64_t constant_ = 0;
};

/// Cost and memory without a price.
void account(const ChoiceProblem& problem, ChoiceSolution& solution) {
  solution.cost = 0;
  solution.memory = 0;
  for (std::size_t v = 0; v < problem.costs.size(); ++v) {
    solution.cost = sum(solution.cost, problem.costs[v][solution.chosen[v]]);
    solution.memory += problem.memory[v][solution.chosen[v]];
  }
  for (const ChoiceProblem::Pair& pair : problem.pairs) {
    const std::size_t place =
        solution.chosen[pair.first] * problem.costs[pair.second].size() + solution.chosen[pair.second];
    solution.cost = sum(solution.cost, pair.costs[place]);
    if (!pair.memory.empty()) { solution.memory += pair.memory[place]; }
  }
}

ChoiceSolution solve_at(const ChoiceProblem& problem, std::int64_t price, const ChoiceLimits& limits,
                        const std::stop_token& stop) {
  ChoiceSolution solution = Elimination(problem, price, limits, stop).solve();
  account(problem, solution);
  if (solution.bound < kImpossible && price > 0) { solution.bound -= price * limits.memory; }
  return solution;
}

}  // namespace

ChoiceSolution solve(const ChoiceProblem& problem, const ChoiceLimits& limits, const std::stop_token& stop) {
  ChoiceSolution best = solve_at(problem, 0, limits, stop);
  if (best.memory <= limits.memory || best.cost >= kImpossible) { return best; }
  std::int64_t bound = best.bound;
  constexpr std::int64_t kMostPrice = std::int64_t{1} << 24;
  std::int64_t low = 0;
  std::int64_t high = kMostPrice;
  best.cost = kImpossible;
  const auto look = [&](std::int64_t price) {
    const ChoiceSolution found = solve_at(problem, price, limits, stop);
    bound = std::max(bound, found.bound);
    const bool fits = found.memory <= limits.memory && found.cost < kImpossible;
    if (fits && found.cost < best.cost) { best = found; }
    return fits;
  };
  if (look(high)) {
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (look(middle) ? high : low) = middle;
    }
  }
  best.bound = std::min(bound, best.cost);
  return best;
}

}  // namespace athanor
