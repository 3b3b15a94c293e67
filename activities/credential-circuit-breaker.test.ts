import { describe, expect, test } from "vitest";

import { parseDialect } from "../src/compliance/index.ts";
import { CredentialCircuitBreaker } from "./credential-circuit-breaker.ts";
import {
  apiError,
  behindBreaker,
  MINUTE,
  ONE_KEY,
  SECOND,
  START_MS,
  underWay,
  whatHappened,
} from "./test-support/behind-breaker.ts";

test("an alert stays while calls are refused, and not for ever in a process that nobody asks any more", async () => {
  const { ask, clock, told, alerts } = behindBreaker();
  await ask();
  for (let tries = 0; tries < 3; tries++) {
    clock.nowMs += 40 * MINUTE;
    expect(told.isRefused()).toBe(true);
    expect(await ask()).toBe("401");
  }
  clock.nowMs += 45 * MINUTE;
  expect(told.isRefused()).toBe(false);
  expect(await ask()).toBe("401");
  expect(told.isRefused()).toBe(true);
  expect(alerts).toHaveLength(1);
});

test("an alert stays while something looks whether the key may do it, without a call", async () => {
  const { ask, breaker, call, clock, service, told } = behindBreaker();
  service.status = 403;
  expect(await ask()).toBe("403");
  for (let looks = 0; looks < 3; looks++) {
    clock.nowMs += 30 * MINUTE;
    breaker.holds(call());
    expect(told.isRefused()).toBe(true);
  }
  clock.nowMs += 45 * MINUTE;
  expect(told.isRefused()).toBe(false);
});

test("an alert ends as soon as the key has changed", async () => {
  const { ask, key, told } = behindBreaker();
  await ask();
  key.version = 2;
  expect(told.isRefused()).toBe(false);
});

test("a key is tried again at once after the clock was set back by an hour, and not an hour later", async () => {
  const { ask, clock } = behindBreaker();
  await ask();
  expect(await ask()).toBe("held");
  clock.nowMs -= 60 * MINUTE;
  expect(await ask()).toBe("401");
  expect(await ask()).toBe("held");
});

describe("a key that may be replaced while the process runs", () => {
  test("is read again after a 401, once, before the refusal counts", async () => {
    const { ask, key, service, alerts } = behindBreaker();
    service.status = 200;
    await ask();
    expect(key.readings).toBe(0);
    service.status = 401;
    expect(await ask()).toBe("401");
    expect(key.readings).toBe(1);
    expect(alerts).toMatchObject([{ says: "refused", status: 401 }]);
  });

  test("was refused in its old form: the call is to be sent again, no other is held, and nobody is alerted", async () => {
    const { ask, key, service, alerts } = behindBreaker();
    key.inFile = 2;
    expect(await ask()).toBe("replaced");
    service.status = 200;
    expect(await Promise.all([ask(), ask()])).toEqual(["done", "done"]);
    expect(alerts).toEqual([]);
  });

  test("was replaced while the call was under way: the late 401 says nothing of the new key", async () => {
    const { breaker, call, ask, key, service, alerts } = behindBreaker();
    let refuse = (): void => {};
    const refused = new Promise<never>((_resolve, reject) => {
      refuse = () => reject(apiError("createSale", { status: 401, envelope: true }));
    });
    const late = breaker.pass(call(), () => refused).catch(whatHappened);
    key.version = key.inFile = 2;
    service.status = 200;
    expect(await ask()).toBe("done");
    refuse();
    expect(await late).toBe("replaced");
    expect(await ask()).toBe("done");
    expect(alerts).toEqual([]);
  });

  test("lets calls through at once in the place of a refused one, and is told once to work", async () => {
    const { ask, key, service, alerts } = behindBreaker();
    await ask();
    expect(await ask()).toBe("held");
    service.status = 200;
    key.inFile = 2;
    expect(await Promise.all([ask(), ask()])).toEqual(["done", "done"]);
    expect(await ask()).toBe("done");
    expect(alerts).toMatchObject([{ says: "refused" }, { says: "works" }]);
  });

  test("may have a permission that the old one lacked", async () => {
    const { ask, key, service } = behindBreaker();
    service.status = 403;
    await ask();
    expect(await ask()).toBe("held");
    service.status = 200;
    key.version = key.inFile = 2;
    expect(await ask()).toBe("done");
  });

  test("and is refused like the old one waits as long as a first one, without another alert", async () => {
    const { ask, key, clock, service, alerts } = behindBreaker();
    await ask();
    clock.nowMs += 30 * SECOND;
    await ask();
    key.version = key.inFile = 2;
    expect(await ask()).toBe("401");
    const sent = service.sent.length;
    expect(await ask()).toBe("held");
    clock.nowMs += 30 * SECOND;
    expect(await ask()).toBe("401");
    expect(service.sent).toHaveLength(sent + 1);
    expect(alerts).toHaveLength(1);
  });
});

describe("a refused key", () => {
  test("is tried by one call at a time, however many calls wait", async () => {
    const { ask, service } = behindBreaker();
    const answers = [await ask()];
    for (let i = 0; i < 999; i++) answers.push(await ask());
    expect(service.sent).toHaveLength(1);
    expect(answers.slice(1).every((answer) => answer === "held")).toBe(true);
  });

  test("is tried again by one call after each pause, which grows to ten minutes", async () => {
    const { ask, service, clock } = behindBreaker();
    await ask();
    const pauses: number[] = [];
    for (let refusedAtMs = clock.nowMs; pauses.length < 7; clock.nowMs += SECOND) {
      const before = service.sent.length;
      await Promise.all([ask(), ask(), ask()]);
      if (service.sent.length === before) continue;
      expect(service.sent).toHaveLength(before + 1);
      pauses.push((clock.nowMs - refusedAtMs) / SECOND);
      refusedAtMs = clock.nowMs;
    }
    expect(pauses).toEqual([30, 60, 120, 300, 600, 600, 600]);
  });

  test("lets all calls through after the first success", async () => {
    const { ask, service, clock } = behindBreaker();
    await ask();
    service.status = 201;
    expect(await ask()).toBe("held");
    clock.nowMs += 30 * SECOND;
    expect([await ask(), await ask(), await ask()]).toEqual(["done", "done", "done"]);
    service.status = 401;
    await ask();
    clock.nowMs += 30 * SECOND;
    expect(await ask()).toBe("401");
  });

  test("keeps the others waiting while the probe is under way", async () => {
    const { breaker, call, ask, clock } = behindBreaker();
    await ask();
    clock.nowMs += 30 * SECOND;
    const probe = underWay(breaker, call());
    expect(await ask()).toBe("held");
    await probe.answer();
    expect(await ask()).toBe("401");
  });

  test("is counted once for all whose calls were under way together", async () => {
    const { ask, alerts, clock } = behindBreaker();
    await Promise.all([ask(), ask(), ask()]);
    clock.nowMs += 30 * SECOND;
    expect(await ask()).toBe("401");
    expect(alerts).toHaveLength(1);
  });

  test("stays refused after the answer to a call that was sent before the refusal", async () => {
    const { breaker, call, ask } = behindBreaker();
    const early = underWay(breaker, call());
    await ask();
    await early.answer();
    expect(await ask()).toBe("held");
  });

  test("stays accepted after the refusal of a call that was sent before it worked again", async () => {
    const { breaker, call, ask, service, clock } = behindBreaker();
    let refuse = (): void => {};
    const answered = new Promise<never>((_resolve, reject) => {
      refuse = () => reject(apiError("createSale", { status: 401, envelope: true }));
    });
    const late = breaker.pass(call(), () => answered).catch(whatHappened);
    await ask();
    clock.nowMs += 30 * SECOND;
    service.status = 201;
    expect(await ask()).toBe("done");
    refuse();
    expect([await late, await ask()]).toEqual(["401", "done"]);
  });

  test.each([
    ["a 5xx", 503],
    ["a spent quota", 429],
  ])(
    "is tried by the next call where the probe ended with %s, which says nothing about the key",
    async (_says, status) => {
      const { ask, service, clock } = behindBreaker();
      await ask();
      clock.nowMs += 30 * SECOND;
      service.status = status;
      expect(await ask()).toBe(String(status));
      expect(await ask()).toBe(String(status));
      service.status = 401;
      expect([await ask(), await ask()]).toEqual(["401", "held"]);
    },
  );

  test("works again where the service refuses the request for another reason", async () => {
    const { ask, service, clock, alerts } = behindBreaker();
    await ask();
    clock.nowMs += 30 * SECOND;
    service.status = 422;
    expect([await ask(), await ask()]).toEqual(["422", "422"]);
    expect(alerts.map(({ says }) => says)).toEqual(["refused", "works"]);
  });

  test("gives each call that is held back the evidence: since when, how many wait, and when it is tried again", async () => {
    const { breaker, call, ask, clock } = behindBreaker();
    await ask();
    await ask({ caller: "sale/one" });
    await ask({ caller: "sale/one" });
    clock.nowMs += 10 * SECOND;
    const held = await breaker
      .pass(call({ caller: "sale/two" }), () => Promise.resolve())
      .catch((error: unknown) => error);
    expect(held).toMatchObject({
      heldForMs: 20 * SECOND,
      refusal: { status: 401 },
      evidence: {
        notSent: true,
        keyRefusedSince: "2026-11-21T09:00:00.000Z",
        nextTryAt: "2026-11-21T09:00:30.000Z",
        waiting: 3,
      },
      message: expect.stringContaining(
        "Refused since 2026-11-21 12:00 EAT, tried again from 2026-11-21 12:00 EAT on, or on retry; 3 wait.",
      ),
    });
  });
});

describe("what a refusal holds back", () => {
  test("is every call after a 401", async () => {
    const { ask, service } = behindBreaker();
    await ask();
    expect(await ask({ operation: "getSale", businessId: "biz_2" })).toBe("held");
    expect(service.sent).toEqual(["createSale"]);
  });

  test("is one operation for one business after a 403", async () => {
    const { ask, service } = behindBreaker();
    service.status = 403;
    await ask();
    service.status = 200;
    expect(await ask()).toBe("held");
    expect(await ask({ operation: "getSale" })).toBe("done");
    expect(await ask({ businessId: "biz_2" })).toBe("done");
  });

  test("is no longer the whole key once a call only lacks a permission", async () => {
    const { ask, service, clock, alerts } = behindBreaker();
    await ask();
    clock.nowMs += 30 * SECOND;
    service.status = 403;
    expect(await ask()).toBe("403");
    service.status = 200;
    expect(await ask({ operation: "getSale" })).toBe("done");
    expect(await ask()).toBe("held");
    expect(alerts.map(({ says, status }) => [says, status])).toEqual([
      ["refused", 401],
      ["works", 401],
      ["refused", 403],
    ]);
  });

  test("is nothing after a 403 that is not the service's own", async () => {
    const { ask, service, alerts } = behindBreaker();
    Object.assign(service, { status: 403, envelope: false });
    expect([await ask(), await ask()]).toEqual(["403", "403"]);
    expect(alerts).toEqual([]);
  });
});

describe("an operator's retry", () => {
  test("goes out at once where it is newer than the refusal, and only then", async () => {
    const { ask, clock } = behindBreaker();
    await ask();
    const retriedAtMs = clock.nowMs + SECOND;
    clock.nowMs += 2 * SECOND;
    expect(await ask({ retriedAtMs: START_MS - SECOND })).toBe("held");
    expect(await ask({ retriedAtMs })).toBe("401");
    expect(await ask({ retriedAtMs })).toBe("held");
  });

  test("lets all calls through where it succeeds, and delays no call where it fails", async () => {
    const { ask, service, clock } = behindBreaker();
    await ask();
    for (let i = 0; i < 5; i++) {
      clock.nowMs += SECOND;
      expect(await ask({ retriedAtMs: clock.nowMs })).toBe("401");
    }
    clock.nowMs += 30 * SECOND;
    expect(await ask()).toBe("401");
    clock.nowMs += SECOND;
    service.status = 200;
    expect(await ask({ retriedAtMs: clock.nowMs })).toBe("done");
    expect(await ask()).toBe("done");
  });
});

describe("the alert about a refused key", () => {
  test("is sent once when the key is refused, and once when it works again", async () => {
    const { ask, service, clock, alerts } = behindBreaker();
    for (let i = 0; i < 5; i++) {
      await ask();
      clock.nowMs += 10 * MINUTE;
    }
    service.status = 200;
    await Promise.all([ask(), ask()]);
    const trouble = { connection: "default", status: 401, apiCode: "no", operation: "createSale", businessId: "biz_1" };
    expect(alerts).toEqual([
      { says: "refused", ...trouble },
      { says: "works", ...trouble },
    ]);
  });

  test("is one for all businesses whose key lacks the same permission", async () => {
    const { ask, service, clock, alerts } = behindBreaker();
    service.status = 403;
    await ask({ businessId: "biz_1" });
    await ask({ businessId: "biz_2" });
    clock.nowMs += MINUTE;
    service.status = 200;
    await ask({ businessId: "biz_1" });
    expect(alerts).toMatchObject([{ says: "refused", status: 403 }]);
    await ask({ businessId: "biz_2" });
    expect(alerts).toMatchObject([{ says: "refused" }, { says: "works" }]);
  });

  test("that cannot be sent does not change the result of the call", async () => {
    const { clock } = behindBreaker();
    const broken = (): never => {
      throw new Error("the log is full");
    };
    const breaker = new CredentialCircuitBreaker({
      connection: "default",
      key: ONE_KEY,
      dialect: parseDialect({}),
      firstPauseMs: 0,
      nowMs: () => clock.nowMs,
      watch: { refused: broken, works: broken },
    });
    const call = { ...behindBreaker().call(), scheduledAtMs: START_MS };
    const refusal = () => Promise.reject(apiError("createSale", { status: 401, envelope: true }));
    expect(await breaker.pass(call, refusal).catch(whatHappened)).toBe("401");
    expect(await breaker.pass(call, () => Promise.resolve("done"))).toBe("done");
  });
});
