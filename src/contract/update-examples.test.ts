import { expect, test } from "vitest";

import { ATTENTION_CODES } from "./names.ts";
import { RESOLVED_BY, unfilledFields, updateExamples } from "./attention.ts";

test("the example of each update has texts to be filled in, and is refused until they are", () => {
  for (const code of ATTENTION_CODES) {
    const attention = { code, subject: "INV-1", message: "", sinceMs: 1, resolvedBy: RESOLVED_BY[code] };
    for (const { update, input } of updateExamples(attention)) {
      const unfilled = unfilledFields(update, input).map((problem) => problem.split(":")[0] ?? "");
      expect(unfilled, update).toContain(update === "cancel" ? "reason" : "note");
      const filled = Object.fromEntries(unfilled.map((field) => [field, "seen in the dashboard"]));
      expect(unfilledFields(update, { ...input, ...filled }), update).toEqual([]);
    }
  }
});
