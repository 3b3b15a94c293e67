import { expect, test } from "vitest";

import { AttentionList } from "./attention-list.ts";

/** A run outside a workflow: nothing is published. */
class StandingRun extends AttentionList {
  readonly allowed = { stands: "", updates: [] };
  readonly cancelDue = false;
  publish(): void {}
}

test("an acknowledgement without a subject leaves what only a retry resolves", () => {
  const run = new StandingRun();
  run.raise({ code: "unexpected-answer", message: "The document's answer fits no rule.", resolvedBy: ["retry"] });
  const moved = { code: "unexpected-answer", subject: "INV-1/tea/sold", resolvedBy: ["acknowledge"] } as const;
  run.raise({ ...moved, message: "The answer names another branch." });
  run.acknowledge({ code: "unexpected-answer", note: "looked" });
  expect(run.attentions).toMatchObject([{ resolvedBy: ["retry"] }]);
  expect(run.decisions).toMatchObject([{ update: "acknowledge", subject: "INV-1/tea/sold", note: "looked" }]);
});

test("a retry without a name does not mean a slow authority while something else waits for one", () => {
  const run = new StandingRun();
  const slow = run.raise({ code: "authority-slow", subject: "sale_1", message: "Pending for 60 minutes." });
  const refused = run.raise({ code: "stock-refused", subject: "INV-1/tea/sold", message: "Too little on hand." });
  run.countRetry({});
  expect([run.retriesOf(slow), run.retriesOf(refused)]).toEqual([0, 1]);
  run.clear(refused);
  run.countRetry({});
  expect(run.retriesOf(slow)).toBe(1);
});

test("a retry that names a subject does not bring the automatic try forward", () => {
  const run = new StandingRun();
  let broughtForward = 0;
  run.bringForward = () => (broughtForward += 1);
  const refused = run.raise({ code: "stock-refused", subject: "INV-1/tea/sold", message: "Too little on hand." });
  run.countRetry({ subject: "INV-1/tea/sold" });
  expect([broughtForward, run.retriesOf(refused)]).toEqual([0, 1]);
  run.countRetry({ code: "rejected" });
  expect(broughtForward).toBe(1);
});

test("an attention whose message changes shows the evidence of the new one alone, and since when it has been open", () => {
  const run = new StandingRun();
  const key = run.raise({ code: "credentials", message: "401", evidence: { status: 401 }, sinceMs: 7 });
  run.updateMessage(key, { message: "403", evidence: { status: 403 } });
  expect(run.attentions).toMatchObject([{ message: "403", evidence: { status: 403 }, sinceMs: 7 }]);
  run.updateMessage(key, { message: "not sent" });
  expect(run.attentions[0]).not.toHaveProperty("evidence");
});

test("a decision that a restart brought is not listed again out of the ledger", () => {
  const run = new StandingRun();
  const cancelled = { update: "cancel", note: "wrong till", by: "njeri", atMs: 7 } as const;
  const counted = { update: "resolveStock", subject: "INV-1/tea/sold", note: "counted", atMs: 5 } as const;
  run.decide(cancelled, cancelled.atMs);
  run.takeOverDecisions([counted, cancelled]);
  expect(run.decisions).toEqual([counted, cancelled]);
});

test("the most pressing attention comes first, whichever was raised first", () => {
  const run = new StandingRun();
  run.raise({ code: "authority-slow", subject: "sale_1", message: "Pending for 60 minutes." });
  run.raise({ code: "stock-unknown", subject: "INV-1/tea/sold", message: "No answer." });
  run.raise({ code: "document-unknown", message: "No answer." });
  expect(run.attentions.map(({ code }) => code)).toEqual(["document-unknown", "stock-unknown", "authority-slow"]);
});
