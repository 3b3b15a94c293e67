import { ACCOUNTING_GUIDE } from "../accounting/dialect-guide.ts";
import { accountingDialectSchema } from "../accounting/dialect.ts";
import { COMPLIANCE_GUIDE } from "../compliance/dialect-guide.ts";
import { dialectSchema } from "../compliance/dialect.ts";
import { guidedSettings } from "./guide.ts";

/** Every setting of the Compliance API's dialect. */
export const complianceSettings = guidedSettings(dialectSchema, COMPLIANCE_GUIDE);
/** Every setting of the Accounting Service's dialect. */
export const accountingSettings = guidedSettings(accountingDialectSchema, ACCOUNTING_GUIDE);
