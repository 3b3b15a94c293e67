/** The known name that shares most of its pairs of letters with the given one; undefined if it shares few with any. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = pairsOf(name);
  let best: { candidate: string; likeness: number } | undefined;
  for (const candidate of known) {
    const pairs = pairsOf(candidate);
    const shared = [...pairs].filter((pair) => wanted.has(pair)).length;
    const likeness = (2 * shared) / (wanted.size + pairs.size);
    if (likeness >= 0.4 && likeness > (best?.likeness ?? 0)) best = { candidate, likeness };
  }
  return best?.candidate;
}

function pairsOf(name: string): ReadonlySet<string> {
  const letters = Array.from(name.toLowerCase());
  return new Set(letters.slice(1).map((letter, index) => `${letters[index]}${letter}`));
}
