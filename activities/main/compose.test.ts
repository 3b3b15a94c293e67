import { describe, expect, test } from "vitest";

import { verifyCallbackToken } from "../../src/callbacks/callback-token.ts";
import { Secret } from "../../src/config/index.ts";
import type { Composed, ComposeCreditNoteRequest, ComposeSaleRequest } from "../../src/contract/index.ts";
import { createCallbackUrlFor } from "../../src/worker/runtimes.ts";
import { serve, type ServeOptions } from "../test-support/served.ts";
import { createComposeActivities } from "./compose.ts";

const SECRET = "a secret that signs";
const callbacks = {
  publicUrl: "https://till.example.com/fiscal",
  secrets: [new Secret(SECRET), new Secret("an older one")],
  port: 0,
  host: "127.0.0.1",
  allowLoopback: false,
};

const sale: ComposeSaleRequest = {
  connection: "default",
  businessId: "biz_1",
  traderInvoiceNumber: "INV-1",
  saleDate: "2026-11-21",
  customer: { name: "Wanjirũ", pin: "A012345678Z" },
  lines: [
    { itemId: "itm_1", quantity: 2, unitPrice: 116 },
    { itemId: "itm_2", quantity: 0.5, unitPrice: 9.99 },
  ],
  branch: { id: "branch_1", authorityBhfId: "00" },
  callback: "auto",
  workflowId: "sale/default/biz_1/INV-1",
};

const note: ComposeCreditNoteRequest = {
  connection: "default",
  businessId: "biz_1",
  traderInvoiceNumber: "CN-1",
  returnDate: "2026-11-21",
  saleId: "sal_1",
  reason: "06",
  callback: "auto",
  workflowId: "sale/default/biz_1/INV-1",
};

async function composeActivities(options: ServeOptions = {}, from: typeof callbacks | undefined = callbacks) {
  const { context } = await serve(options);
  return createComposeActivities(context, createCallbackUrlFor(from));
}

function bodyOf(composed: Composed): Record<string, unknown> {
  if (composed.kind !== "composed") throw new Error(composed.message);
  return JSON.parse(composed.request.bodyJson) as Record<string, unknown>;
}

describe("the request for a sale", () => {
  test("contains what was asked for, under the names of the dialect", async () => {
    const { composeSale } = await composeActivities();
    const composed = await composeSale(sale);
    expect(composed).toMatchObject({
      kind: "composed",
      request: { method: "POST", path: "/v1/sales", query: { businessId: "biz_1" } },
      callbackExpected: true,
    });
    expect(bodyOf(composed)).toEqual({
      traderInvoiceNumber: "INV-1",
      saleDate: "2026-11-21",
      customer: { name: "Wanjirũ", pin: "A012345678Z" },
      lines: sale.lines,
      branchId: "branch_1",
      callbackUrl: expect.stringMatching(/^https:\/\/till\.example\.com\/fiscal\/callbacks\/c1\./),
    });
  });

  test("has the same bytes each time, in this process and in any other", async () => {
    const one = await composeActivities();
    const other = await composeActivities();
    const first = await one.composeSale(sale);
    expect(await one.composeSale(structuredClone(sale))).toEqual(first);
    expect(await other.composeSale(sale)).toEqual(first);
  });

  test("carries a callback URL that names its workflow, signed with the first secret", async () => {
    const { composeSale } = await composeActivities();
    const token =
      String(bodyOf(await composeSale(sale))["callbackUrl"])
        .split("/")
        .at(-1) ?? "";
    expect(verifyCallbackToken(token, [SECRET])).toBe("sale/default/biz_1/INV-1");
    expect(verifyCallbackToken(token, ["an older one"])).toBeUndefined();
  });

  test.each<[string, Partial<ComposeSaleRequest>, ServeOptions, typeof callbacks | undefined]>([
    ["it is not wanted", { callback: "off" }, {}, callbacks],
    ["no receiver is configured", {}, {}, undefined],
    ["the workflow's id is too long for a URL", { workflowId: "x".repeat(201) }, {}, callbacks],
    ["the dialect has no name for it", {}, { dialect: { createSale: { fields: { callbackUrl: null } } } }, callbacks],
  ])("carries no callback URL, and expects no callback, where %s", async (_where, changes, options, from) => {
    const { context } = await serve(options);
    const { composeSale } = createComposeActivities(context, createCallbackUrlFor(from));
    const composed = await composeSale({ ...sale, ...changes });
    expect(composed).toMatchObject({ kind: "composed", callbackExpected: false });
    expect(bodyOf(composed)).not.toHaveProperty("callbackUrl");
  });

  test("has no customer where nothing is known of one", async () => {
    const { composeSale } = await composeActivities();
    expect(bodyOf(await composeSale({ ...sale, customer: {} }))).not.toHaveProperty("customer");
  });

  test("never sends the business of a bound key", async () => {
    const { composeSale } = await composeActivities({ env: { COMPLIANCE_KEY_REACH: "business" } });
    const composed = await composeSale(sale);
    expect(composed).toMatchObject({ request: { query: {} } });
    expect(bodyOf(composed)).not.toHaveProperty("businessId");
  });

  test("is refused where an organisation-wide key has no business to act for", async () => {
    const { composeSale } = await composeActivities();
    expect(await composeSale({ ...sale, businessId: undefined })).toMatchObject({
      kind: "refused",
      attention: "invalid-request",
      message: expect.stringContaining("businessId"),
    });
  });

  test("is refused where the branch lacks the name that the dialect sends", async () => {
    const { composeSale } = await composeActivities({ dialect: { createSale: { branchBy: "authorityId" } } });
    expect(await composeSale({ ...sale, branch: { id: "branch_1" } })).toMatchObject({
      kind: "refused",
      attention: "invalid-request",
      message: expect.stringContaining("authorityBhfId"),
    });
  });
});

describe("the request for a credit note", () => {
  test("holds the fields of the API's document, and a callback URL that names its workflow", async () => {
    const { composeCreditNote } = await composeActivities();
    const composed = await composeCreditNote(note);
    expect(composed).toMatchObject({
      request: { method: "POST", path: "/v1/credit-notes", query: { businessId: "biz_1" } },
      callbackExpected: true,
    });
    const { callbackUrl, ...fields } = bodyOf(composed);
    expect(fields).toEqual({
      traderInvoiceNumber: "CN-1",
      returnDate: "2026-11-21",
      saleId: "sal_1",
      reason: "06",
    });
    const token = String(callbackUrl).split("/").at(-1) ?? "";
    expect(verifyCallbackToken(token, [SECRET])).toBe("sale/default/biz_1/INV-1");
  });

  test("names the business in the body where the dialect says so", async () => {
    const { composeCreditNote } = await composeActivities({ dialect: { creditNote: { businessIdIn: "body" } } });
    const composed = await composeCreditNote(note);
    expect(composed).toMatchObject({ request: { query: {} } });
    expect(bodyOf(composed)).toMatchObject({ businessId: "biz_1" });
  });

  test("expects no callback where none is wanted", async () => {
    const { composeCreditNote } = await composeActivities();
    expect(await composeCreditNote({ ...note, callback: "off" })).toMatchObject({ callbackExpected: false });
  });

  test("is the same to the byte each time", async () => {
    const { composeCreditNote } = await composeActivities();
    expect(await composeCreditNote(note)).toEqual(await composeCreditNote(structuredClone(note)));
  });
});
