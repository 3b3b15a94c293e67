import { expect, test } from "vitest";

import { correctionInputSchema } from "./correction-input.ts";
import { parseInput } from "./parse-input.ts";

test("a correction whose credit note has the number of the sale itself is refused", () => {
  const sale = { traderInvoiceNumber: "INV-2", lines: [{ sku: "TEA-500", quantity: 1, unitPrice: 1 }] };
  const input = { invoice: "INV-1", reason: "06", creditNote: "INV-1", sale };
  expect(() => parseInput(correctionInputSchema, input, "input of the correction")).toThrow(
    "creditNote: expected another number than that of the sale that it corrects",
  );
});
