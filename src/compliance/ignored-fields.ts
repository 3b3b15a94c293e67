import type { SaleDocument } from "../contract/documents.ts";
import { field } from "../http/json.ts";
import type { ComplianceDialect } from "./dialect.ts";

export interface IgnoredField {
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
