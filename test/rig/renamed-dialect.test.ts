import { expect, test } from "vitest";

import { parseAccountingDialect as parseProductAccountingDialect } from "../../src/accounting/dialect.ts";
import { parseDialect as parseProductDialect } from "../../src/compliance/dialect.ts";
import { parseAccountingDialect, parseDialect } from "../../src/dev/simulator/dialect.ts";
import { leavesOf, renamedDialects } from "./renamed-dialect.ts";

test("the renamed dialect changes every setting of both services", () => {
  const renamed = renamedDialects();
  const now = { compliance: parseDialect(undefined), accounting: parseAccountingDialect(undefined) };
  const before = new Map(leavesOf(now));
  const same = leavesOf(renamed).filter(([path, value]) => before.get(path) === value);
  expect(same).toEqual([]);
  expect(leavesOf(renamed).map(([path]) => path)).toEqual([...before.keys()]);
});

test("the product can be configured with the renamed dialect", () => {
  const renamed = renamedDialects();
  expect(parseProductDialect(renamed.compliance)).toEqual(renamed.compliance);
  expect(parseProductAccountingDialect(renamed.accounting)).toEqual(renamed.accounting);
});
