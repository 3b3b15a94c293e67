import { expect, it } from "vitest";

import { readDemoPlan } from "./read-demo-plan.ts";
import { renumber } from "./renumber.ts";
import { EXAMPLES } from "./test-support/refunded-sale.ts";

it("renumbering changes the number in sales, credit notes, the authority's scripts and faults", async () => {
  const plan = renumber(await readDemoPlan(EXAMPLES, EXAMPLES), "x1");
  const numbers = plan.examples.flatMap(({ invoice, refund }) => [invoice, refund?.traderInvoiceNumber ?? invoice]);
  expect(numbers.filter((number) => !number.endsWith("-x1"))).toEqual([]);
  const { authority, sales } = plan.scenario;
  const named = [...Object.keys(authority.documents), ...sales.map(({ traderInvoiceNumber }) => traderInvoiceNumber)];
  expect(named.filter((number) => !numbers.includes(number))).toEqual([]);
  expect(plan.faults.map(({ match }) => match)).toEqual([{ referenceId: "DUKA-1009-x1/item_mkate/sold" }]);
});
