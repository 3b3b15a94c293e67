import { createHash } from "node:crypto";

import { givenText, type Purchase } from "../../contract/index.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import { storableText } from "../storable-text.ts";
import type { PurchaseChange } from "./purchases.ts";

/** What a row says, in the words in which it is compared. */
export interface PurchaseState {
  status: string;
  confirmationError: string | null;
  /** Of everything else. */
  contentHash: string;
  /** Canonical JSON of the whole, unknown fields among it. */
  body: string;
}

export type Change = Pick<PurchaseChange, "what" | "before" | "after">;

export function stateOf(purchase: Purchase): PurchaseState {
  const { status, confirmationError, ...content } = purchase;
  const error = givenText(confirmationError);
  return {
    status: storableText(status),
    confirmationError: error === null ? null : storableText(error),
    contentHash: createHash("sha256").update(canonicalJson(content)).digest("hex"),
    body: storableText(canonicalJson(purchase)),
  };
}

/** What has changed between two looks, one entry for each thing that people ask about. */
export function changesBetween(before: PurchaseState, after: PurchaseState): Change[] {
  const changes: Change[] = [];
  if (before.status !== after.status) changes.push({ what: "status", before: before.status, after: after.status });
  if (before.confirmationError !== after.confirmationError) {
    const [was, is] = [before.confirmationError, after.confirmationError];
    changes.push({ what: "confirmation-error", before: was, after: is });
  }
  if (before.contentHash !== after.contentHash) {
    const [was, is] = differing(JSON.parse(before.body), JSON.parse(after.body));
    changes.push({ what: "content", before: was, after: is });
  }
  return changes;
}

type Fields = Record<string, unknown>;

/** Of two objects the fields in which they differ, without those that have a history of their own. */
function differing(before: Fields, after: Fields): [Fields, Fields] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const [was, is]: [Fields, Fields] = [{}, {}];
  for (const name of names) {
    if (name === "status" || name === "confirmationError") continue;
    if (JSON.stringify(before[name]) === JSON.stringify(after[name])) continue;
    if (Object.hasOwn(before, name)) was[name] = before[name];
    if (Object.hasOwn(after, name)) is[name] = after[name];
  }
  return [was, is];
}
