import { describe, expect, test } from "vitest";

import { teaRequest, sellTea } from "../test-support/requests.ts";
import { API_KEY, failureOf, inActivity, serve, type Served, START_MS } from "../test-support/served.ts";

const MINUTE = 60_000;
const TARGET = { connection: "default", businessId: "biz_1" };
const WITH_OTHER_NAMES = { dialect: { businesses: { list: "unheard_of" } } };

/** One look so many minutes after the last try, in a wait that had lasted so many minutes until then. */
function looking(
  { activities }: Served,
  refused: { status?: number; operation?: string } | undefined,
  { sinceTry = 2, waited = 0 } = {},
) {
  const wait = { triedAtMs: START_MS, sinceMs: START_MS - waited * MINUTE, ...(refused && { refused }) };
  const act = () => activities.awaitService({ ...TARGET, ...wait });
  const which = { scheduledAtMs: START_MS + sinceTry * MINUTE };
  return { ends: () => inActivity(act, which), goesOn: () => failureOf(act, which) };
}

describe("the wait for the service", () => {
  test("does not end within a minute of the last try, and sends nothing", async () => {
    const served = await serve();
    const wait = looking(served, { status: 401 }, { sinceTry: 0.5 });
    expect(await wait.goesOn()).toMatchObject({ type: "StillWaiting", benign: true, pauseMs: MINUTE / 2 });
    expect(served.simulator.calls()).toHaveLength(0);
  });

  test("for a key sends one read for all that wait, until the key is accepted", async () => {
    const served = await serve();
    served.simulator.setApplication("simulator", { suspended: true });
    const wait = looking(served, { status: 401, operation: "createSale" });
    expect(await wait.goesOn()).toMatchObject({ type: "StillWaiting", benign: true });
    expect(await wait.goesOn()).toMatchObject({ type: "StillWaiting", benign: true });
    expect(served.simulator.calls()).toMatchObject([{ operation: "listBusinesses", status: 401 }]);
    served.simulator.setApplication("simulator", { suspended: false });
    served.clock.nowMs += 10 * MINUTE;
    await wait.ends();
    expect(served.simulator.calls()).toHaveLength(2);
  });

  test("for a key ends without a call where another call was accepted meanwhile", async () => {
    const served = await serve();
    const sold = teaRequest(served, "OTHER");
    await inActivity(() => served.activities.createSale(sold), { scheduledAtMs: START_MS + MINUTE });
    const before = served.simulator.calls().length;
    await looking(served, { status: 401 }).ends();
    expect(served.simulator.calls()).toHaveLength(before);
  });

  test("for a permission ends with the first accepted call of that kind, and sends no call of its own", async () => {
    const served = await serve();
    served.simulator.setKey(API_KEY, { scopes: ["sales:read", "catalog:read"] });
    expect(await sellTea(served, "FIRST")).toMatchObject({ attention: "credentials", operation: "createSale" });
    const wait = looking(served, { status: 403, operation: "createSale" }, { sinceTry: 40, waited: 600 });
    expect(await wait.goesOn()).toMatchObject({ type: "StillWaiting", benign: true });
    expect(served.simulator.calls()).toHaveLength(1);
    served.simulator.setKey(API_KEY, { scopes: ["sales:read", "catalog:read", "sales:write"] });
    const retried = { ...teaRequest(served, "OTHER"), retriedAtMs: START_MS + MINUTE };
    await inActivity(() => served.activities.createSale(retried), { scheduledAtMs: START_MS + MINUTE });
    await wait.ends();
    expect(served.simulator.calls()).toHaveLength(2);
  });

  test("for a permission ends where a try of its own is due", async () => {
    const served = await serve();
    await looking(served, { status: 403, operation: "createSale" }).ends();
    expect(served.simulator.calls()).toHaveLength(0);
  });

  test("for a deferred call goes on while the service is away, and ends once it answers", async () => {
    const served = await serve();
    const heal = served.simulator.inject({ operation: "listBusinesses", when: "before", kind: "status", status: 503 });
    const wait = looking(served, undefined);
    expect(await wait.goesOn()).toMatchObject({ type: "StillWaiting", benign: true });
    heal();
    await wait.ends();
  });

  test("for a deferred call ends with an answer that does not have the names of the dialect", async () => {
    const served = await serve(WITH_OTHER_NAMES);
    await looking(served, undefined).ends();
    expect(served.runtime.health.trouble).toBeUndefined();
  });

  test("for a key ends with an answer that does not have the names of the dialect", async () => {
    const served = await serve(WITH_OTHER_NAMES);
    served.simulator.setApplication("simulator", { suspended: true });
    const wait = looking(served, { status: 401 });
    expect(await wait.goesOn()).toMatchObject({ type: "StillWaiting", benign: true });
    served.simulator.setApplication("simulator", { suspended: false });
    served.clock.nowMs += 10 * MINUTE;
    await wait.ends();
  });

  test("for a deferred call goes on after a page that is no answer of the API", async () => {
    const served = await serve();
    served.simulator.inject({ operation: "listBusinesses", when: "after", kind: "not-json" });
    expect(await looking(served, undefined).goesOn()).toMatchObject({ type: "StillWaiting", benign: true });
  });
});
