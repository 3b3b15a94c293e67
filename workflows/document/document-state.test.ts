import { describe, expect, test } from "vitest";

import { sampleSale } from "../../src/compliance/test-support/samples.ts";
import { documentState } from "./create-document.ts";

describe("a document", () => {
  test.each([
    ["completed", "signed"],
    ["pending", "in-flight"],
    ["ready_to_submit", "in-flight"],
    ["retrying", "in-flight"],
    ["failed", "failed"],
    ["cancelled", "cancelled"],
    ["archived", "unknown-status"],
    ["COMPLETED", "unknown-status"],
    ["", "unknown-status"],
  ])("that reads %j, with a receipt, is %s", (status, state) => {
    expect(documentState(sampleSale({ status }))).toBe(state);
  });

  test("that is completed without its receipt is unsigned", () => {
    const { receipt: _receipt, ...without } = sampleSale();
    expect(documentState(sampleSale({ receipt: null }))).toBe("unsigned");
    expect(documentState(without)).toBe("unsigned");
  });

  test.each(["pending", "failed", "cancelled", "archived"])(
    "that reads %j is not signed by a receipt alone",
    (status) => {
      expect(documentState(sampleSale({ status }))).toBe(documentState(sampleSale({ status, receipt: null })));
    },
  );
});
