/** The known name that the caller most likely meant: at most two slips away, and fewer than half of its letters. */
export function nearMiss(name: string, known: Iterable<string>): string | undefined {
  let best: { candidate: string; slips: number } | undefined;
  for (const candidate of known) {
    const slips = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (slips > 2 || slips * 2 >= candidate.length) continue;
    if (best === undefined || slips < best.slips) best = { candidate, slips };
  }
  return best?.candidate;
}

/** Letters to insert, drop, replace, or swap with their neighbour. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 2) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (same ? 0 : 1),
          swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
