import { expect, test } from "vitest";

import { type ClosedStatus, endedInWords } from "./messages.ts";

test.each<[ClosedStatus, string]>([
  ["terminated", 'was terminated ("why")'],
  ["canceled", 'was canceled ("why")'],
  ["failed", 'failed ("why")'],
  ["timed-out", 'timed out ("why")'],
])("how a %s workflow ended reads after its name", (status, words) => {
  expect(endedInWords({ status, reason: "why" })).toBe(words);
});
