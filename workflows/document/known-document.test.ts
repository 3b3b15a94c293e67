import { describe, expect, test } from "vitest";

import { sampleSale } from "../../src/compliance/test-support/samples.ts";
import { fateOf } from "./known-document.ts";

describe("a document", () => {
  test.each([
    ["completed", "whole"],
    ["pending", "in-flight"],
    ["ready_to_submit", "in-flight"],
    ["retrying", "in-flight"],
    ["failed", "failed"],
    ["cancelled", "cancelled"],
    ["archived", "strange"],
    ["COMPLETED", "strange"],
    ["", "strange"],
  ])("that reads %j, with a receipt, is %s", (status, fate) => {
    expect(fateOf(sampleSale({ status }))).toBe(fate);
  });

  test("that is completed without its receipt is not whole yet", () => {
    const { receipt: _receipt, ...without } = sampleSale();
    expect(fateOf(sampleSale({ receipt: null }))).toBe("unsigned");
    expect(fateOf(without)).toBe("unsigned");
  });

  test.each(["pending", "failed", "cancelled", "archived"])(
    "that reads %j is not signed by a receipt alone",
    (status) => {
      expect(fateOf(sampleSale({ status }))).toBe(fateOf(sampleSale({ status, receipt: null })));
    },
  );
});
