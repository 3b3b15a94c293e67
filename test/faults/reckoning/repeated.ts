/** The entries that share a key with another one. */
export function repeated<T>(entries: readonly T[], keyOf: (entry: T) => string): { key: string; entries: T[] }[] {
  const groups = new Map<string, T[]>();
  for (const entry of entries) {
    const key = keyOf(entry);
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return [...groups].filter(([, group]) => group.length > 1).map(([key, group]) => ({ key, entries: group }));
}
