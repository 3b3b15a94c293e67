import { expect, expectTypeOf, test } from "vitest";

import type { AccountingActivities, ComplianceActivities } from "./activities.ts";
import { type ACCOUNTING_CALLS, calledService, type COMPLIANCE_CALLS } from "./service-trouble.ts";

test("every activity that calls a service is known as one", () => {
  expectTypeOf<keyof ComplianceActivities>().toEqualTypeOf<(typeof COMPLIANCE_CALLS)[number]>();
  expectTypeOf<keyof AccountingActivities>().toEqualTypeOf<(typeof ACCOUNTING_CALLS)[number]>();
  expect(calledService("createSale")).toBe("compliance");
  expect(calledService("processSyncBatch")).toBe("accounting");
  expect(calledService("prepareSale")).toBeUndefined();
});
