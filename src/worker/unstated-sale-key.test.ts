import { expect, test } from "vitest";

import { unstatedSaleKey } from "./check-connection.ts";

const LIVE = { name: "default", environment: "live", statesSaleKey: false } as const;

test("a connection with a live key that does not state createSale.idempotencyKey is warned with the meaning of each value", () => {
  const told = unstatedSaleKey(LIVE);
  expect(told?.message).toContain("createSale.idempotencyKey");
  for (const value of ["trusted", "sent", "off"]) expect(told?.todo).toContain(`"${value}"`);
});

test("a connection that states createSale.idempotencyKey, or has a test key, is not warned", () => {
  expect(unstatedSaleKey({ ...LIVE, statesSaleKey: true })).toBeUndefined();
  expect(unstatedSaleKey({ ...LIVE, environment: "test" })).toBeUndefined();
});
