import type { ComposedRequest } from "../contract/connection.ts";
import { ComplianceInputError } from "./errors.ts";

/**
 * A keyed write whose bytes are fixed before it is sent for the first time. Plain JSON: a workflow's history can hold
 * it.
 */
export type { ComposedRequest };

/** JSON in which no number was silently turned into `null` and no text into something else on the wire. */
export function composeBody(body: Record<string, unknown>): string {
  return JSON.stringify(body, (name, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new ComplianceInputError("invalid-argument", `${name} must be a finite number, not ${value}`);
    }
    return value;
  });
}

/** The object under its dialect's names: what is `undefined` here or `null` in the dialect is left out. */
export function underNames<Field extends string>(
  names: Readonly<Record<Field, string | null>>,
  values: Readonly<Partial<Record<Field, unknown>>>,
): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  for (const field of Object.keys(names) as Field[]) {
    const sentAs = names[field];
    const value = values[field];
    if (sentAs !== null && value !== undefined) renamed[sentAs] = value;
  }
  return renamed;
}
