import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { createCallbackReceiver } from "./receiver.ts";
import type { SignalOutcome } from "./temporal-signaller.ts";
import { createCallbackToken } from "./callback-token.ts";
import { SECRET, WORKFLOW, TOKEN, PATH, Surroundings, listen, send } from "./test-support/listening-receiver.ts";

describe("what the callback receiver logs and answers", () => {
  it("names the workflow in its log and never a token or a secret", async () => {
    const around = new Surroundings();
    const { url, port } = await listen(around.options());
    await fetch(url + PATH, { method: "POST", body: '{"event":"sale.completed"}' });
    around.answer = () => Promise.reject(new Error(`cannot signal ${TOKEN}`));
    await fetch(url + PATH, { method: "POST" });
    await send(port, "POST", `${PATH}%zz`, "");
    await send(port, "POST", `${PATH}x`, "");
    const log = around.lines.join("\n");
    expect(log).toContain(WORKFLOW);
    expect(log).toContain("sale.completed");
    for (const hidden of [TOKEN, TOKEN.split(".")[2] ?? TOKEN, SECRET]) expect(log).not.toContain(hidden);
  });

  it("is one of its answers, never a 5xx but 503 and never a stack, for 10,000 requests of any kind", async () => {
    const around = new Surroundings();
    const outcomes: SignalOutcome[] = ["delivered", "gone", "unreachable"];
    let calls = 0;
    around.answer = () => {
      calls += 1;
      const outcome = outcomes[calls % 4];
      return outcome === undefined ? Promise.reject(new Error("broken")) : Promise.resolve(outcome);
    };
    const app = createCallbackReceiver(around.options({ bodyLimitBytes: 300 }));
    onTestFinished(() => app.close());
    const segment = fc.oneof(
      fc.constantFrom("callbacks", "healthz", "readyz", TOKEN, "..", "%00", "%", ""),
      fc.string(),
    );
    const url = fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .nat(1_000)
          .map((sale) => `/callbacks/${createCallbackToken({ workflowId: `sale/${sale}` }, SECRET)}`),
      },
      { weight: 2, arbitrary: fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join("/")}`) },
      fc.string({ maxLength: 50 }).map((text) => `/callbacks/${encodeURIComponent(text)}?${text}`),
    );
    const request = fc.record({
      method: fc.constantFrom("POST", "GET", "PUT", "DELETE", "PATCH", "QUERY", "HEAD", "OPTIONS", "TRACE", "LOCK"),
      url,
      payload: fc.oneof(fc.constant(undefined), fc.json(), fc.string({ unit: "binary", maxLength: 400 })),
      contentType: fc.constantFrom(undefined, "application/json", "text/xml", ";", "multipart/form-data"),
    });
    const answers = new Set([200, 202, 404, 405, 413, 429, 503]);
    await fc.assert(
      fc.asyncProperty(request, async ({ method, url: path, payload, contentType }) => {
        fc.pre(URL.canParse(path, "http://localhost"));
        const headers = contentType === undefined ? {} : { "content-type": contentType };
        const response = await app.inject({ method: method as "POST", url: path, payload, headers });
        expect(answers).toContain(response.statusCode);
        expect(["", '{"status":"alive"}', '{"status":"ready"}']).toContain(response.body);
      }),
      { numRuns: 10_000 },
    );
    expect(around.signals.length).toBeGreaterThan(20);
  }, 60_000);
});
