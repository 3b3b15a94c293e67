import { type Finding, warning } from "./finding.ts";

/** Further off, and dates and signatures are wrong around midnight. */
const CLOCK_TOLERANCE_MS = 30_000;

/** By the Date of an answer, which counts whole seconds. */
export function clockFindings(
  check: string,
  { serverDateMs, answeredAtMs }: { serverDateMs?: number; answeredAtMs: number },
): Finding[] {
  if (serverDateMs === undefined) return [];
  const offMs = Math.abs(answeredAtMs - serverDateMs);
  if (offMs <= CLOCK_TOLERANCE_MS) return [];
  const message = `this clock and the service's are ${Math.round(offMs / 1_000)} s apart`;
  return [warning(`${check}, clock`, message, "let this host take its time from the network")];
}
