import { expect, test } from "vitest";

import { STAGE_TRANSITIONS } from "../../workflows/sale/state.ts";
import { stagesOf, storedHistories } from "./stored.ts";

test("every transition between stages is taken in a stored history, and no history takes another one", async () => {
  const taken = new Set<string>();
  const first: Record<string, string> = { sale: "resolving-items", creditNote: "submitting" };
  for (const { type, events } of await storedHistories()) {
    if (first[type] === undefined) continue;
    const stages = [first[type], ...stagesOf(events)];
    stages.forEach((to, at) => {
      const from = stages[at - 1];
      if (from !== undefined && from !== to) taken.add(`${from} → ${to}`);
    });
  }
  const allowed = Object.entries(STAGE_TRANSITIONS).flatMap(([from, tos]) => tos.map((to) => `${from} → ${to}`));
  expect([...taken].toSorted()).toEqual(allowed.toSorted());
});
