import { ApplicationFailure } from "@temporalio/workflow";

import { FAILURES, type Mend } from "../../src/contract/index.ts";
import type { Run } from "./run.ts";

/** Refuses a message: what is true, and what the present stage allows. */
export function notAllowed(run: Run, why: string): never {
  throw ApplicationFailure.nonRetryable(`${why} ${allowedNow(run)}`, FAILURES.notAllowed);
}

function allowedNow(run: Run): string {
  const mends = new Set<Mend | "refund">(run.attentions.flatMap((attention) => attention.mendedBy));
  if (run.workflow === "sale" && run.stage === "completed" && !run.refund) mends.add("refund");
  if (!run.settled && run.stage !== "crediting" && run.cancelRequested === undefined) mends.add("cancel");
  const noun = run.workflow === "sale" ? "sale" : "credit note";
  const needs = run.attentions.map((attention) => attention.code).join(", ");
  const standing = `The ${noun} is at stage ${run.stage}${needs ? ` and needs a person for ${needs}` : ""}`;
  return `${standing}; it takes: ${[...mends, "outcome"].join(", ")}.`;
}

/** The message's object, where it is one with these fields only. Messages come from people's hands, so each is checked. */
export function checkedObject(run: Run, message: unknown, fields: readonly string[]): Record<string, unknown> {
  if (message === undefined || message === null) return {};
  if (typeof message !== "object" || Array.isArray(message)) notAllowed(run, "Expected one JSON object.");
  const unknown = Object.keys(message).filter((key) => !fields.includes(key));
  if (unknown.length > 0) notAllowed(run, `Unknown field ${unknown.join(", ")}; expected ${fields.join(", ")}.`);
  return { ...message };
}

export function requireText(run: Run, message: Record<string, unknown>, field: string): void {
  const value = message[field];
  if (typeof value !== "string" || value.trim() === "") {
    notAllowed(run, `Expected the field ${field} with a text in it.`);
  }
}
