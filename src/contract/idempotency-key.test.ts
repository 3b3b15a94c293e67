import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { idempotencyKey, saleWorkflowId } from "./ids.ts";
import { printable, saleIdentity } from "./test-support/arbitraries.ts";

/** As the document of the API writes it (POST /v1/credit-notes), and not as the code does. */
const VALID = /^[A-Za-z0-9._:-]{8,128}$/;

const workflowId = saleIdentity.map(saleWorkflowId);
const step = fc.oneof(
  fc.constantFrom("sale", "credit-note CN-1"),
  printable(50).map((number) => `credit-note ${number}`),
  printable(200),
);
const intent = fc.integer({ min: 1, max: 1_000_000 });

describe("an idempotency key", () => {
  test("shows its step and its invoice number in readable form", () => {
    expect(idempotencyKey("sale/default/biz_1/INV-1001", "sale")).toMatch(/^sale:INV-1001:[0-9a-f]{64}$/);
  });

  test("names the first intent where none is given", () => {
    expect(idempotencyKey("sale/default/biz_1/INV-1", "sale")).toBe(
      idempotencyKey("sale/default/biz_1/INV-1", "sale", 1),
    );
  });

  test("is valid and stable for any number, business and step", () => {
    fc.assert(
      fc.property(workflowId, step, intent, (id, what, which) => {
        const key = idempotencyKey(id, what, which);
        expect(key).toMatch(VALID);
        expect(idempotencyKey(id, what, which)).toBe(key);
      }),
    );
  });

  test("is valid for a workflow that was started under an arbitrary id", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (id) => {
        expect(idempotencyKey(id, "sale")).toMatch(VALID);
      }),
    );
  });

  test("differs where the workflow, the step or the intent differs", () => {
    const parts = fc.tuple(workflowId, step, intent);
    fc.assert(
      fc.property(parts, parts, ([id, what, which], [otherId, otherWhat, otherWhich]) => {
        const key = idempotencyKey(id, what, which);
        expect(idempotencyKey(otherId, what, which) === key).toBe(id === otherId);
        expect(idempotencyKey(id, otherWhat, which) === key).toBe(what === otherWhat);
        expect(idempotencyKey(id, what, otherWhich) === key).toBe(which === otherWhich);
      }),
    );
  });

  test("is not shared by a workflow and a step whose texts run together alike", () => {
    expect(idempotencyKey("sale/a", "b", 1)).not.toBe(idempotencyKey("sale/", "ab", 1));
    expect(idempotencyKey("sale/a", "b 1", 1)).not.toBe(idempotencyKey("sale/a", "b", 11));
  });

  test("differs for two credit notes of one sale by their numbers", () => {
    const id = "sale/default/biz_1/INV-1";
    expect(idempotencyKey(id, "credit-note CN-1")).not.toBe(idempotencyKey(id, "credit-note CN-2"));
  });
});
