import type { ConfigProblem } from "./config-error.ts";
import { nearMiss } from "./near-miss.ts";
import type { Environment } from "./setting.ts";

/** Nothing but this product's timings begins like this. */
const OURS_ALONE = "FISCALFLOW_TIMING_";
/** Other programs may have variables that begin like these, so only a likely slip is refused. */
const SHARED = /^(COMPLIANCE|ACCOUNTING|CALLBACK|FISCALFLOW|LEDGER)_/;

/** Variables that are set, that nothing reads, and that were probably meant for the product. */
export function checkVariables(
  env: Environment,
  known: readonly string[],
  referred: ReadonlySet<string>,
): ConfigProblem[] {
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || known.includes(name) || referred.has(name) || !SHARED.test(name)) return [];
    const meant = nearMiss(name, known);
    if (meant !== undefined) {
      const message = `is not known; did you mean ${meant}? (A variable that the file refers to may have any name.)`;
      return [{ path: name, message }];
    }
    return name.startsWith(OURS_ALONE) ? [{ path: name, message: "is not known, so it would change nothing" }] : [];
  });
}
