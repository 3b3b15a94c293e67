import { expect, test } from "vitest";

import { itemsRegistration } from "./jobs.ts";

const NONE = { registered: 0, "registered-already": 0, "needs-data": 0, refused: 0, unknown: 0, unclear: 0 };

test.each([
  [1, "1 of 3 items: 1 lacks data"],
  [2, "2 of 3 items: 2 lack data"],
])("the progress of a registration counts %i that lack data", (count, words) => {
  const progress = { total: 3, counts: { ...NONE, "needs-data": count } };
  expect(itemsRegistration.progressLine(progress as never)).toBe(words);
});
