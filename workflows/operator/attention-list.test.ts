import { expect, test } from "vitest";

import { Attended } from "./attention-list.ts";

/** A run outside a workflow: nothing is published. */
class StandingRun extends Attended {
  readonly standing = "";
  readonly cancelDue = false;
  publish(): void {}
}

test("an acknowledgement without a subject leaves what only a retry mends", () => {
  const run = new StandingRun();
  run.raise({ code: "unexpected-answer", message: "The document's answer fits no rule.", mendedBy: ["retry"] });
  const moved = { code: "unexpected-answer", subject: "INV-1/tea/sold", mendedBy: ["acknowledge"] } as const;
  run.raise({ ...moved, message: "The answer names another branch." });
  run.acknowledge({ code: "unexpected-answer", note: "looked" });
  expect(run.attentions).toMatchObject([{ mendedBy: ["retry"] }]);
  expect(run.decisions).toMatchObject([{ update: "acknowledge", subject: "INV-1/tea/sold", note: "looked" }]);
});
