import { expect, expectTypeOf, test } from "vitest";

import type { ComplianceActivities } from "./activities.ts";
import { type COMPLIANCE_CALLS, isComplianceCall } from "./compliance-calls.ts";

test("every activity that calls the API is known as one", () => {
  expectTypeOf<keyof ComplianceActivities>().toEqualTypeOf<(typeof COMPLIANCE_CALLS)[number]>();
  expect(isComplianceCall("createSale")).toBe(true);
  expect(isComplianceCall("prepareSale")).toBe(false);
});
