import { Client, Connection } from "@temporalio/client";
import { expect, test } from "vitest";

import { createStarter, type SaleKey, type UpdateTarget } from "./index.ts";

const starter = createStarter({ client: new Client({ connection: Connection.lazy() }), connections: ["default"] });
const refused = (expected: string) => ({ code: "InvalidInput", problems: [expect.stringContaining(expected)] });

test.each([
  "A",
  undefined,
  null,
  {},
  { invoice: 5 },
  { invoice: "A", businessId: 5 },
  { invoice: "A", workflowId: "B" },
])("a key of the wrong shape, %j, is refused by every function that takes one", async (wrong) => {
  const key = wrong as unknown as SaleKey;
  const corrected = { traderInvoiceNumber: "B", lines: [{ sku: "S", quantity: 1, unitPrice: 1 }] };
  for (const call of [
    () => starter.getSale(key),
    () => starter.outcome(key),
    () => starter.correction(key),
    () => starter.refund(key, { reason: "06", traderInvoiceNumber: "CN" }),
    () => starter.correct(key, { reason: "06", traderInvoiceNumber: "CN", replaceWith: corrected }),
  ])
    await expect(call()).rejects.toMatchObject(refused("expected { invoice: string"));
});

test.each([undefined, {}, { invoice: 5 }, { workflowId: "" }])(
  "the target %j of an update is refused",
  async (wrong) => {
    const expected = refused("or { workflowId: string }");
    await expect(starter.retry(wrong as unknown as UpdateTarget)).rejects.toMatchObject(expected);
  },
);

test("a sale without a business is refused with where one can be named, in a program and on the command line", async () => {
  const sale = { traderInvoiceNumber: "A", lines: [{ sku: "S", quantity: 1, unitPrice: 1 }] };
  const where = "(`businesses` of createStarter; on the command line COMPLIANCE_BUSINESS_ID or --business)";
  await expect(starter.startSale(sale)).rejects.toMatchObject(
    refused(`no default of connection "default" is known here ${where}`),
  );
});

test("options without a client are refused with what is expected", () => {
  expect(() => createStarter({} as { client: Client })).toThrow(
    "The options of the starter are not valid:\n  client: expected a Client of @temporalio/client",
  );
});
