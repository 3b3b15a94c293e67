import { nairobiInstant } from "../contract/nairobi-date.ts";

/**
 * What a command prints as JSON says when in one way: every field of Unix milliseconds (`sinceMs`) becomes one of ISO
 * 8601 with Nairobi's offset (`since`). None of these data holds a length of time, whose name would end alike.
 */
export function withInstants(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(withInstants);
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]: [string, unknown]) => {
      if (!name.endsWith("Ms") || (typeof value !== "number" && value !== null)) return [name, withInstants(value)];
      return [name.slice(0, -"Ms".length), value === null ? null : nairobiInstant(value)];
    }),
  );
}
