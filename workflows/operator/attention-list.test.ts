import { expect, test } from "vitest";

import { AttentionList } from "./attention-list.ts";

/** A run outside a workflow: nothing is published. */
class StandingRun extends AttentionList {
  readonly allowedUpdates = "";
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
