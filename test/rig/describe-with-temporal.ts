import { describe, inject } from "vitest";

/** Suites on a real Temporal server: skipped, with the reason in their name, where none can be had. */
export function describeWithTemporal(name: string, suite: () => void): void {
  const reason = inject("skipReason");
  if (reason === undefined) describe(name, suite);
  else describe.skip(`${name} (skipped: ${reason.split("\n", 1)[0] ?? ""})`, suite);
}
