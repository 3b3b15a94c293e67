import { expect, test } from "vitest";

import { COMPLIANCE, load } from "./test-support/load.ts";

test("the sellers are read from the variable, by business", () => {
  const { compliance } = load({ ...COMPLIANCE, COMPLIANCE_SELLERS: '{"biz_1": {"name": "Duka Moja", "pin": "P0"}}' });
  expect(compliance[0]?.sellers).toEqual({ biz_1: { name: "Duka Moja", pin: "P0" } });
});

test.each(['{"biz_1": {"pin": "P0"}}', '{"biz_1": "Duka Moja"}', '{"biz_1": {"name": "A", "PIN": "P0"}}', "{"])(
  "%s is refused, with what was expected",
  (text) => {
    expect(() => load({ ...COMPLIANCE, COMPLIANCE_SELLERS: text })).toThrow(
      /COMPLIANCE_SELLERS.*expected an object of businesses and who they are, such as/s,
    );
  },
);
