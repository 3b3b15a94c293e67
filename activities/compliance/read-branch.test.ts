import { describe, expect, test } from "vitest";

import type { BranchResult } from "../../src/contract/index.ts";
import { MOST_UNREAD, PASSING_MS, UnreadAnswers } from "./businesses.ts";
import { failureOf, inActivity, serve, type Served } from "../test-support/served.ts";

const asking = (branch: string, businessId?: string) => ({ connection: "default", businessId, branch });
const reading =
  (served: Served, branch: string, businessId = "biz_1") =>
  () =>
    served.activities.readBranch(asking(branch, businessId));
const read = (...asked: Parameters<typeof reading>): Promise<BranchResult> => inActivity(reading(...asked));
const lists = ({ simulator }: Served) => simulator.calls({ operation: "listBusinesses" }).length;

const MOMBASA = { kind: "branch", branch: { id: "branch_2", authorityBhfId: "01" } };

describe("a branch", () => {
  test.each(["branch_2", "01"])("given as %s is resolved to both of its names", async (name) => {
    const served = await serve();
    expect(await read(served, name)).toEqual(MOMBASA);
  });

  test("that was read is not requested again, under either of its names", async () => {
    const served = await serve();
    await read(served, "branch_2");
    expect(await read(served, "01")).toEqual(MOMBASA);
    expect(lists(served)).toBe(1);
  });

  test("that the business does not have is not found, and the result lists those that it has", async () => {
    const served = await serve();
    expect(await read(served, "branch_9")).toMatchObject({
      kind: "refused",
      attention: "not-found",
      message: expect.stringMatching(
        /^The business has no branch "branch_9"\. If it is mistyped, .* start it again\. .*businesses\.branches/,
      ),
      details: { branches: [{ id: "branch_1" }, { id: "branch_2" }] },
    });
    expect(await read(served, "branch_9")).not.toMatchObject({
      message: expect.stringMatching(/the business "[^"]*" is mistyped/),
    });
    expect(await read(served, "branch_9", "biz_typo")).toMatchObject({
      message: expect.stringContaining('"branch_9". If the business "biz_typo" is mistyped, cancel this'),
    });
  });

  test("cannot be read where the service uses other names, which is shown with the settings after several reads", async () => {
    for (const [name, setting] of Object.entries({ list: "list", id: "id", branchId: "branchId" })) {
      const served = await serve({ dialect: { businesses: { [name]: "unheard_of" } } });
      for (let answers = 1; answers < MOST_UNREAD; answers += 1)
        expect(await failureOf(reading(served, "branch_2"))).toMatchObject({ type: "Transient" });
      served.clock.nowMs += PASSING_MS;
      expect(await read(served, "branch_2")).toMatchObject({
        kind: "refused",
        attention: "not-found",
        message: expect.stringContaining(`businesses.${setting}`),
      });
    }
  });

  test("is read again after an answer that broke on the way, without calling an operator", async () => {
    const served = await serve();
    served.simulator.inject({ operation: "listBusinesses", when: "after", kind: "not-json", times: 1 });
    // Earlier attempts may have met a 429 each.
    expect(await failureOf(reading(served, "branch_2"), { attempt: 9 })).toMatchObject({ type: "Transient" });
    expect(await read(served, "branch_2")).toEqual(MOMBASA);
  });

  test("is read again after one unreadable answer that many sales receive at once", async () => {
    const served = await serve();
    const times = 2 * MOST_UNREAD;
    served.simulator.inject({ operation: "listBusinesses", when: "after", kind: "wrong-types", times });
    const looks = Array.from({ length: times }, () => failureOf(reading(served, "branch_2")));
    for (const failure of await Promise.all(looks)) expect(failure).toMatchObject({ type: "Transient" });
    expect(await read(served, "branch_2")).toEqual(MOMBASA);
  });

  test("that was not found is requested again, since it may have been opened meanwhile", async () => {
    const served = await serve();
    await read(served, "branch_9");
    await read(served, "branch_9");
    expect(lists(served)).toBe(2);
  });

  test("parks on the key after a 401", async () => {
    const served = await serve();
    served.simulator.setApplication("simulator", { suspended: true });
    expect(await read(served, "00")).toMatchObject({ kind: "refused", attention: "credentials" });
  });

  test("is tried again through an outage", async () => {
    const served = await serve();
    served.simulator.inject({ operation: "listBusinesses", when: "before", kind: "drop" });
    expect(await failureOf(() => served.activities.readBranch(asking("00", "biz_1")))).toMatchObject({
      type: "Transient",
      retryable: true,
    });
  });

  test("of the one business that a bound key sees is found under any configured business id", async () => {
    const served = await serve({ env: { COMPLIANCE_KEY_REACH: "business", COMPLIANCE_BUSINESS_ID: "our-shop" } });
    expect(await read(served, "01", "our-shop")).toEqual(MOMBASA);
  });
});

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
