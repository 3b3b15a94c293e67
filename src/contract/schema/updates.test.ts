import { expect, test } from "vitest";

import { problemsOfAnswer } from "./updates.ts";

test("an answer about a document says either that it was found, or that it was not created", () => {
  const problems = (request: object) => problemsOfAnswer("resolveDocument", { note: "seen", ...request });
  const either = "input: expected either saleId or notCreated, found";
  expect(problems({ saleId: "sal_1", notCreated: true })).toEqual([`${either} both`]);
  expect(problems({})).toEqual([`${either} neither`]);
  expect(problems({ saleId: "sal_1" })).toEqual([]);
});
