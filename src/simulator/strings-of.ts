/** Parameters of a path, or of a query, as they came. */
export function stringsOf(value: unknown): Record<string, string> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([name, entry]) => [name, String(entry)]));
}
