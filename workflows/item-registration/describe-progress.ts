import type { RegistrationProgress } from "../../src/contract/index.ts";

export function describeProgress({ total, counts }: RegistrationProgress): string[] {
  const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const of = total === null ? "" : ` of ${total}`;
  const kinds = Object.entries(counts).flatMap(([kind, count]) => (count > 0 ? [`${kind}: ${count}`] : []));
  return [`${done}${of} items done`, ...kinds];
}
