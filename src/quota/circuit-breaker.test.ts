import { describe, expect, test } from "vitest";
import { TransportError, type TransportErrorDetails } from "../http/errors.ts";
import type { HttpAnswer } from "../http/request.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { budgetRules } from "./budget.ts";

const REQUEST = {
  method: "GET",
  url: new URL("http://a.example/"),
  headers: {},
  timeoutMs: 1,
  maxBodyBytes: 1,
} as const;

function behindBreaker() {
  const clock = { nowMs: 1_000_000 };
  const service = {
    /** 0: no answer comes, as `lost` says. */
    status: 200,
    headers: {} as Record<string, string>,
    lost: { code: "timeout", sent: "maybe" } as TransportErrorDetails,
    calls: 0,
    refused: 0,
  };
  const breaker = new CircuitBreaker({
    rules: budgetRules(120, 1_000),
    nowMs: () => clock.nowMs,
    onRefused: () => void (service.refused += 1),
    transport: {
      send: (): Promise<HttpAnswer> => {
        service.calls += 1;
        if (service.status === 0) return Promise.reject(new TransportError("lost", service.lost));
        const { status, headers } = service;
        return Promise.resolve({
          status,
          headers,
          bodyText: "",
          bodyLength: 0,
          sentAtMs: clock.nowMs,
          answeredAtMs: clock.nowMs,
        });
      },
    },
  });
  const ask = (more: { freshConnection?: boolean } = {}): Promise<number | string> =>
    breaker.send({ ...REQUEST, ...more }).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof TransportError ? error.code : "other"),
    );
  return { clock, service, breaker, ask };
}

describe("a service without a documented limit", () => {
  test("is closed by a 429 for all callers, for as long as it says", async () => {
    const { clock, service, breaker, ask } = behindBreaker();
    service.status = 429;
    service.headers = { "retry-after": "7" };
    expect(await ask()).toBe(429);
    expect(service.refused).toBe(1);
    service.status = 200;
    clock.nowMs += 6_999;
    expect(breaker.isOpen()).toBe(false);
    await expect(breaker.send(REQUEST)).rejects.toMatchObject({ code: "held-back", sent: "no", retryAfterMs: 1 });
    expect(service.calls).toBe(1);
    clock.nowMs += 1;
    expect(breaker.isOpen()).toBe(true);
    expect(await ask()).toBe(200);
  });

  test("is closed for a minute by a 429 that says nothing, and never for long by one that says too much", async () => {
    const { clock, service, breaker, ask } = behindBreaker();
    service.status = 429;
    await ask();
    clock.nowMs += 59_999;
    expect(breaker.isOpen()).toBe(false);
    clock.nowMs += 1;
    service.headers = { "retry-after": "80000" };
    await ask();
    clock.nowMs += 600_000;
    expect(breaker.isOpen()).toBe(true);
  });

  test("is closed by a 503 for as long as it says, and never for long", async () => {
    for (const [seconds, closedMs] of [
      ["30", 30_000],
      ["86400", 600_000],
    ] as const) {
      const { ask, service, clock } = behindBreaker();
      Object.assign(service, { status: 503, headers: { "retry-after": seconds } });
      expect(await ask()).toBe(503);
      service.status = 200;
      clock.nowMs += closedMs - 1;
      expect(await ask()).toBe("held-back");
      clock.nowMs += 1;
      expect(await ask()).toBe(200);
    }
  });

  test("is probed by one call at a time once its calls keep failing, and is open to all after an answer", async () => {
    const { clock, service, breaker, ask } = behindBreaker();
    service.status = 503;
    for (let call = 0; call < 4; call++) expect(await ask()).toBe(503);
    service.status = 0;
    expect(await ask()).toBe("timeout");
    expect(await ask()).toBe("held-back");
    clock.nowMs += 1_000;
    expect(breaker.isOpen()).toBe(true);
    expect(await ask({ freshConnection: true })).toBe("held-back");
    expect(await Promise.all([ask(), ask()])).toEqual(["timeout", "held-back"]);
    clock.nowMs += 1_999;
    expect(await ask()).toBe("held-back");
    clock.nowMs += 1;
    service.status = 404;
    expect(await ask()).toBe(404);
    expect(await Promise.all([ask(), ask({ freshConnection: true })])).toEqual([404, 404]);
    expect(service.calls).toBe(9);
  });

  test("counts a 408 as a failure, and is not open again because of one", async () => {
    const { clock, service, ask } = behindBreaker();
    service.status = 408;
    for (let call = 0; call < 5; call++) expect(await ask()).toBe(408);
    expect(await ask()).toBe("held-back");
    clock.nowMs += 1_000;
    expect(await ask()).toBe(408);
    expect(await ask()).toBe("held-back");
    clock.nowMs += 2_000;
    service.status = 200;
    expect(await ask()).toBe(200);
    expect(await ask()).toBe(200);
  });

  test("is not blamed for a call that our own deadline kept back", async () => {
    const { clock, service, ask } = behindBreaker();
    service.lost = { code: "too-late", sent: "no" };
    service.status = 0;
    for (let call = 0; call < 6; call++) expect(await ask()).toBe("too-late");
    service.status = 500;
    for (let call = 0; call < 5; call++) expect(await ask()).toBe(500);
    clock.nowMs += 1_000;
    service.status = 0;
    // As a probe it lets the next call be one at once.
    expect([await ask(), await ask()]).toEqual(["too-late", "too-late"]);
    service.status = 200;
    expect(await ask()).toBe(200);
  });

  test("does not stay closed for an hour by a clock that is set back by that hour", async () => {
    const { clock, service, ask } = behindBreaker();
    clock.nowMs += 7_200_000;
    Object.assign(service, { status: 429, headers: { "retry-after": "60" } });
    await ask();
    clock.nowMs -= 3_600_000;
    expect(await ask()).toBe(429);
    expect(await ask()).toBe("held-back");
    clock.nowMs += 60_000;
    Object.assign(service, { status: 503, headers: {} });
    for (let call = 0; call < 5; call++) expect(await ask()).toBe(503);
    expect(await ask()).toBe("held-back");
    clock.nowMs -= 3_600_000;
    expect(await ask()).toBe(503);
  });

  test("notifies waiting callers when it may have opened", async () => {
    const { clock, service, breaker, ask } = behindBreaker();
    service.status = 429;
    service.headers = { "retry-after": "1" };
    await ask();
    let told = 0;
    const end = breaker.whenOpen(() => void (told += 1));
    end();
    await ask();
    expect(told).toBe(0);
    clock.nowMs += 1_000;
    service.status = 200;
    const opened = new Promise<void>((resolve) => breaker.whenOpen(resolve));
    await ask();
    await opened;
    expect(breaker.isOpen()).toBe(true);
  });
});
