import { ApplicationFailure } from "@temporalio/workflow";

import { FAILURES } from "../../src/contract/index.ts";
import type { Attended } from "./attended.ts";

/** Refuses a message: what is true, and what the present stage allows. */
export function notAllowed(run: Attended, why: string): never {
  throw ApplicationFailure.nonRetryable(`${why} ${run.standing}`, FAILURES.notAllowed);
}

/** The message's object, where it is one with these fields only. Messages come from people's hands, so each is checked. */
export function checkedObject(run: Attended, message: unknown, fields: readonly string[]): Record<string, unknown> {
  if (message === undefined || message === null) return {};
  if (typeof message !== "object" || Array.isArray(message)) notAllowed(run, "Expected one JSON object.");
  const unknown = Object.keys(message).filter((key) => !fields.includes(key));
  if (unknown.length > 0) notAllowed(run, `Unknown field ${unknown.join(", ")}; expected ${fields.join(", ")}.`);
  return { ...message };
}

export function requireText(run: Attended, message: Record<string, unknown>, field: string): void {
  const value = message[field];
  if (typeof value !== "string" || value.trim() === "") {
    notAllowed(run, `Expected the field ${field} with a text in it.`);
  }
}
