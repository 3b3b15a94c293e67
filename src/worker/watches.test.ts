import { expect, onTestFinished, test } from "vitest";

import { watchKeys } from "./watches.ts";

function watched(apiCode: string | undefined) {
  const said: unknown[] = [];
  const note = (...args: unknown[]): void => void said.push(args);
  const gauge = { set: note, withTags: () => gauge, name: "", kind: "gauge", valueType: "int" } as const;
  const watch = watchKeys({ warn: note, info: note }, { createGauge: () => gauge });
  const trouble = { connection: "default", status: 401, apiCode, operation: "createSale", businessId: undefined };
  watch.refused(trouble, () => true);
  watch.works(trouble, 1);
  watch.close();
  return said;
}

test.each([
  ["invalid_api_key", "invalid_api_key"],
  ["forbidden", "forbidden"],
  ["unknown_key_P051234567Z", "other"],
  ["\u001B[2J", "other"],
  [undefined, "none"],
])("the API's code %j is the label %j, in the metric as in the log", (apiCode, label) => {
  const labels = { connection: "default", operation: "createSale", status: "401", apiCode: label };
  expect(watched(apiCode)).toMatchObject([
    [expect.any(String), { apiCode: label }],
    [1, labels],
    [expect.any(String), { apiCode: label }],
    [0, labels],
  ]);
});

test("the alert of a refused key ends in a process that nobody asks any more, and comes back with the next refusal", async () => {
  let value: number | undefined;
  const set = (now: number): void => void (value = now);
  const gauge = { set, withTags: () => gauge, name: "", kind: "gauge", valueType: "int" } as const;
  const silent = { warn: () => undefined, info: () => undefined };
  const watch = watchKeys(silent, { createGauge: () => gauge }, 5);
  onTestFinished(watch.close);
  const trouble = {
    connection: "default",
    status: 401,
    apiCode: undefined,
    operation: "getSale",
    businessId: undefined,
  };
  let isRefused = true;
  watch.refused(trouble, () => isRefused);
  expect(value).toBe(1);
  isRefused = false;
  await expect.poll(() => value).toBe(0);
  isRefused = true;
  await expect.poll(() => value).toBe(1);
});
