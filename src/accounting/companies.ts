import { z } from "zod";
import { bodyOf } from "../http/read-body.ts";
import {
  type AccountingCallOptions,
  type AccountingContext,
  type AccountingResult,
  callAccounting,
} from "./call-operation.ts";
import { ACCOUNTING_OPERATIONS } from "./operations.ts";

/** A company's fields are not shown: what there is is kept as it came. */
export type Company = Readonly<Record<string, unknown>>;

/** GET /companies: the document's sample of an authenticated call. */
export async function listCompanies(
  context: AccountingContext,
  options: AccountingCallOptions = {},
): Promise<AccountingResult<Company[]>> {
  const operation = ACCOUNTING_OPERATIONS.listCompanies;
  const { list } = context.dialect.companies;
  const companies = z.array(z.looseObject({}));
  const read =
    list === null
      ? bodyOf(companies, (all): Company[] => all)
      : bodyOf(z.looseObject({ [list]: companies }), (body): Company[] => companies.parse(body[list]));
  return callAccounting(context, operation, { path: operation.path }, read, options);
}
