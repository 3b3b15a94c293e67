import { expect, test } from "vitest";

import { targetLine } from "./send-updates.ts";

test.each([
  ["sale/default/biz_1/INV-1", "INV-1", "sale/default/biz_1/INV-1"],
  ["sale/default/biz_1/INV%2F1", "INV/1", "INV/1 (sale/default/biz_1/INV%2F1)"],
  ["sale/default/biz_1/INV-1", null, "sale/default/biz_1/INV-1"],
])("of %s with the number %j a list of many says the number where its id does not", (workflowId, number, name) => {
  const target = { workflowId, number, stage: "issuing", attention: null, ended: null };
  expect(targetLine(target)).toBe(`${name}, issuing`);
});
