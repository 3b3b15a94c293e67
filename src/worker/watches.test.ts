import { expect, test } from "vitest";

import { watchKeys } from "./watches.ts";

function watched(apiCode: string | undefined) {
  const said: unknown[] = [];
  const note = (...args: unknown[]): void => void said.push(args);
  const gauge = { set: note, withTags: () => gauge, name: "", kind: "gauge", valueType: "int" } as const;
  const watch = watchKeys({ warn: note, info: note }, { createGauge: () => gauge });
  const trouble = { connection: "default", status: 401, apiCode, operation: "createSale", businessId: undefined };
  watch.refused(trouble);
  watch.works(trouble, 1);
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
