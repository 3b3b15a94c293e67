import { expect, test } from "vitest";

import { COMPLIANCE, load } from "./test-support/load.ts";

test("the sellers are read from the variable, by business", () => {
  const { compliance } = load({
    ...COMPLIANCE,
    COMPLIANCE_SELLERS: '{"biz_1": {"name": "Duka Moja", "pin": "P051234567Z"}}',
  });
  expect(compliance[0]?.sellers).toEqual({ biz_1: { name: "Duka Moja", pin: "P051234567Z" } });
});

test.each([
  ["[1]", /expected an object of businesses and who they are, such as .*, found a list/],
  ["{", /expected an object of businesses and who they are, such as .*, found "\{"/],
  ['{"biz_demo": "X"}', /biz_demo: Invalid input: expected object, received string/],
  ['{"biz_1": {"pin": "P051234567Z"}}', /biz_1\.name: expected a name of 1 to 300 characters, found nothing/],
  ['{"biz_1": {"name": "A", "adress": "B"}}', /biz_1: Unrecognized key: "adress"/],
  ['{"biz_1": {"name": "A", "PIN": "B"}}', /biz_1: Unrecognized key: "PIN"/],
  ['{"biz_1": {"name": "A", "pin": "P0"}}', /biz_1\.pin: expected a PIN .* such as P051234567Z\), found "P0"/],
])("%s is refused, with the field and what is wrong with it", (text, message) => {
  expect(() => load({ ...COMPLIANCE, COMPLIANCE_SELLERS: text })).toThrow(message);
});
