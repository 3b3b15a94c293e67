import { expect, onTestFinished, test } from "vitest";

import { gaugesInto } from "./test-support/gauges-into.ts";
import { watchKeys } from "./watches.ts";

function watched(apiCode: string | undefined) {
  const said: unknown[] = [];
  const note = (...args: unknown[]): void => void said.push(args);
  const meter = gaugesInto((_name, ...set) => note(...set));
  const watch = watchKeys({ warn: note, info: note }, meter);
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
])("the API's code %j is %j in the log, and no label of the metric", (apiCode, shown) => {
  const labels = { connection: "default", operation: "createSale", status: "401" };
  expect(watched(apiCode)).toEqual([
    [expect.any(String), expect.objectContaining({ apiCode: shown })],
    [1, labels],
    [expect.any(String), expect.objectContaining({ apiCode: shown })],
    [0, labels],
  ]);
});

test("the alert of a refused key ends in a process that nobody asks any more, and comes back with the next refusal", async () => {
  let value: number | undefined;
  const meter = gaugesInto((_name, now) => (value = now));
  const silent = { warn: () => undefined, info: () => undefined };
  const watch = watchKeys(silent, meter, 5);
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
