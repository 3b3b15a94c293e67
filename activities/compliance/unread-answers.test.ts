import { expect, test } from "vitest";

import { UnreadAnswers } from "./unread-answers.ts";

const counted = () => {
  const clock = { nowMs: 0 };
  return { clock, answers: new UnreadAnswers(() => clock.nowMs, 3) };
};

test("three unread answers over more than five seconds are no passing trouble", () => {
  const { clock, answers } = counted();
  expect([answers.persist("a"), answers.persist("a")]).toEqual([false, false]);
  clock.nowMs = 6_000;
  expect(answers.persist("a")).toBe(true);
});

test("unread answers of the night before count for nothing, since another process may have had the answer", () => {
  const { clock, answers } = counted();
  answers.persist("a");
  answers.persist("a");
  clock.nowMs = 24 * 60 * 60_000;
  expect(answers.persist("a")).toBe(false);
});
