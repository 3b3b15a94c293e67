import { expect, test } from "vitest";

import { UnreadAnswers } from "./unread-answers.ts";

const counted = () => {
  const clock = { nowMs: 0 };
  return { clock, answers: new UnreadAnswers(() => clock.nowMs, 3) };
};

test("three unreadable answers over more than five seconds count as a lasting failure", () => {
  const { clock, answers } = counted();
  expect([answers.persist("a"), answers.persist("a")]).toEqual([false, false]);
  clock.nowMs = 6_000;
  expect(answers.persist("a")).toBe(true);
});

test("unreadable answers of the night before do not count, since another process may have had a readable one", () => {
  const { clock, answers } = counted();
  answers.persist("a");
  answers.persist("a");
  clock.nowMs = 24 * 60 * 60_000;
  expect(answers.persist("a")).toBe(false);
});
