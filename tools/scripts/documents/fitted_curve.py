"""What a curve says that knows nothing of machines: a + c sqrt(size) + size / b, fitted to one table alone.

A simulation has to be better than that where it can; it can say something of sizes, ranks and machines that nobody measured.
"""

import math

TERMS = (lambda size: 1.0, math.sqrt, float)


def solved(matrix, right):
    """Gauss and Jordan, with pivots; the matrix is regular."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r, i=i: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(len(rows)):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def fitted(points):
    """Factors of TERMS, none negative, with the least sum of squares of relative errors over (size, time)."""
    columns = [[term(size) / time for size, time in points] for term in TERMS]
    used = list(range(len(TERMS)))
    while True:
        products = [[sum(map(lambda x, y: x * y, columns[i], columns[j])) for j in used] for i in used]
        factors = solved(products, [sum(columns[i]) for i in used])
        if min(factors) >= 0 or len(used) == 1:
            return [factors[used.index(i)] if i in used else 0.0 for i in range(len(TERMS))]
        del used[factors.index(min(factors))]


def errors(points):
    """(size, |fitted / measured - 1|) of each point."""
    factors = fitted(points)
    return [(size, abs(sum(factor * term(size) for factor, term in zip(factors, TERMS)) / time - 1))
            for size, time in points]
