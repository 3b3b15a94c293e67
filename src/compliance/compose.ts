import type { Branch } from "../contract/calls.ts";
import type { RefundReason } from "../contract/codes.ts";
import type { ComposedRequest } from "../contract/connection.ts";
import type { SaleDocument } from "../contract/documents.ts";
import type { CustomerInput } from "../contract/schema/sale.ts";
import { field } from "../http/json.ts";
import { CallInputError } from "../http/service-call.ts";
import type { ComplianceDialect } from "./dialect.ts";
import { operation } from "./operations.ts";

/**
 * A keyed write whose bytes are fixed before it is sent for the first time. Plain JSON: a workflow's history can hold
 * it.
 */
export type { ComposedRequest };

/** JSON in which no number was silently turned into `null` and no text into something else on the wire. */
export function composeBody(body: Record<string, unknown>): string {
  return JSON.stringify(body, (name, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new CallInputError("invalid-argument", `${name} must be a finite number, not ${value}`);
    }
    return value;
  });
}

/** The object under its dialect's names: what is `undefined` here or `null` in the dialect is left out. */
export function underNames<Field extends string>(
  names: Readonly<Record<Field, string | null>>,
  values: Readonly<Partial<Record<Field, unknown>>>,
): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  for (const field of Object.keys(names) as Field[]) {
    const sentAs = names[field];
    const value = values[field];
    if (sentAs !== null && value !== undefined) renamed[sentAs] = value;
  }
  return renamed;
}

/**
 * What names the branch in a body. Nothing where no branch is given, or where the dialect's name is `null`: then the
 * service takes the business's first branch.
 *
 * @throws CallInputError where the dialect wants the authority's id and the branch has none
 */
export function branchField(
  name: string | null,
  by: "id" | "authorityId",
  branch: Branch | undefined,
): Record<string, string> {
  if (name === null || branch === undefined) return {};
  const value = by === "id" ? branch.id : branch.authorityBhfId;
  if (value !== undefined && value !== "") return { [name]: value };
  throw new CallInputError(
    "invalid-argument",
    `branch ${JSON.stringify(branch.id)} has no authorityBhfId, and the dialect sends branches by it (branchBy "authorityId")`,
  );
}

/**
 * Of a dialect that sends no branch: no movement names one, so none waits for somebody to look at another one's branch.
 */
export const BRANCH_NOT_SENT = "not sent";

/** The name and the form under which the dialect sends the branch of a movement. */
export function branchSentAs({ branch, branchBy }: ComplianceDialect["stock"]): string {
  return branch === null ? BRANCH_NOT_SENT : `${JSON.stringify(branch)} by ${branchBy}`;
}

/** `organisation`: the key acts for every business of its organisation. `business`: it is bound to one. */
export type KeyReach = "organisation" | "business";

/**
 * The `businessId` that is sent (Fiscal Compliance API, "Authentication", 3): required with an organisation-wide key,
 * never sent with a bound one.
 *
 * @throws CallInputError `missing-business-id`
 */
function sentBusinessId(keyReach: KeyReach, businessId: string | undefined): string | undefined {
  if (keyReach === "business") return undefined;
  if (businessId !== undefined && businessId !== "") return businessId;
  throw new CallInputError(
    "missing-business-id",
    "an organisation-wide key must name the business it acts for: give businessId, or set the key's reach to `business` if it is bound to one",
  );
}

/** The business, in the place that the dialect gives it. */
export function placeBusinessId(
  keyReach: KeyReach,
  businessId: string | undefined,
  place: "query" | "body",
): { query: Record<string, string>; body: Record<string, string> } {
  const sent = sentBusinessId(keyReach, businessId);
  const fields: Record<string, string> = sent === undefined ? {} : { businessId: sent };
  return place === "query" ? { query: fields, body: {} } : { query: {}, body: fields };
}

export interface CreateSaleInput {
  businessId?: string | undefined;
  traderInvoiceNumber: string;
  /** `YYYY-MM-DD`. */
  saleDate?: string | undefined;
  paymentTypeCode?: string | undefined;
  customer?: CustomerInput | undefined;
  lines: readonly { itemId: string; quantity: number; unitPrice: number }[];
  branch?: Branch | undefined;
  callbackUrl?: string | undefined;
}

/**
 * POST /v1/sales. The document names the operation and does not show its shape: every name comes from the dialect.
 * Pure: the same input gives the same bytes.
 *
 * @throws CallInputError
 */
export function composeCreateSale(
  dialect: ComplianceDialect,
  keyReach: KeyReach,
  input: CreateSaleInput,
): ComposedRequest {
  const { path, businessIdIn, fields, lineFields, customerFields, branchBy } = dialect.createSale;
  const { branch: branchName, ...names } = fields;
  const business = placeBusinessId(keyReach, input.businessId, businessIdIn);
  const customer = underNames(customerFields, input.customer ?? {});
  const body = {
    ...business.body,
    ...underNames(names, {
      traderInvoiceNumber: input.traderInvoiceNumber,
      saleDate: input.saleDate,
      paymentTypeCode: input.paymentTypeCode,
      customer: Object.keys(customer).length === 0 ? undefined : customer,
      lines: input.lines.map(({ itemId, quantity, unitPrice }) =>
        underNames(lineFields, { itemId, quantity, unitPrice }),
      ),
      callbackUrl: input.callbackUrl,
    }),
    ...branchField(branchName, branchBy, input.branch),
  };
  return { method: "POST", path, query: business.query, bodyJson: composeBody(body) };
}

interface CreditNoteComposition {
  businessId?: string | undefined;
  /** The credit note's own number, at most 50 characters. */
  traderInvoiceNumber: string;
  /** `YYYY-MM-DD`. */
  returnDate: string;
  /** The accepted sale to reverse. */
  saleId: string;
  reason: RefundReason;
  callbackUrl?: string | undefined;
}

/**
 * POST /v1/credit-notes (Fiscal Compliance API, the section of that name). Pure: the same input gives the same bytes.
 *
 * @throws CallInputError
 */
export function composeCreditNote(
  dialect: ComplianceDialect,
  keyReach: KeyReach,
  input: CreditNoteComposition,
): ComposedRequest {
  const business = placeBusinessId(keyReach, input.businessId, dialect.creditNote.businessIdIn);
  const { traderInvoiceNumber, returnDate, saleId, reason, callbackUrl } = input;
  const body = { ...business.body, traderInvoiceNumber, returnDate, saleId, reason, callbackUrl };
  return {
    method: "POST",
    path: operation("createCreditNote").path,
    query: business.query,
    bodyJson: composeBody(body),
  };
}

interface IgnoredField {
  /** `createSale.fields.customer`, for example. */
  setting: string;
  /** The setting's value, under which it was sent. */
  sentAs: string;
}

/**
 * Optional parts of a sale that were sent and that the created document does not have: the service may not know the
 * name under which they were sent. Its answer shows no branch, so that an ignored one is not seen here. A part that is
 * there and differs may have been put into the service's own form, but for the date and the payment type, which have
 * one form.
 *
 * @param bodyJson as it was composed under the dialect
 */
export function ignoredFields(
  { createSale: { fields, customerFields } }: ComplianceDialect,
  bodyJson: string,
  document: SaleDocument,
): IgnoredField[] {
  const body: unknown = JSON.parse(bodyJson);
  const ignored: IgnoredField[] = [];
  const look = (
    setting: string,
    sentAs: string | null,
    isKept: (sent: string) => boolean,
    of: unknown = body,
  ): void => {
    const sent = sentAs === null ? undefined : field(of, sentAs);
    if (sentAs !== null && typeof sent === "string" && sent !== "" && !isKept(sent)) ignored.push({ setting, sentAs });
  };
  look("createSale.fields.saleDate", fields.saleDate, (sent) => document.saleDate?.slice(0, 10) === sent);
  look("createSale.fields.paymentTypeCode", fields.paymentTypeCode, (sent) => document.paymentTypeCode === sent);
  look("createSale.fields.callbackUrl", fields.callbackUrl, () => Boolean(document.callback));
  const customer = fields.customer === null ? undefined : field(body, fields.customer);
  const before = ignored.length;
  for (const part of ["name", "pin", "phone", "email"] as const) {
    const isKept = (): boolean => Boolean(document.customer?.[part]);
    look(`createSale.customerFields.${part}`, customerFields[part], isKept, customer);
  }
  const lost = ignored.length - before;
  const sentParts =
    typeof customer === "object" && customer !== null ? Object.values(customer).filter(Boolean).length : 0;
  if (fields.customer === null || lost === 0 || lost < sentParts) return ignored;
  return [...ignored.slice(0, before), { setting: "createSale.fields.customer", sentAs: fields.customer }];
}
