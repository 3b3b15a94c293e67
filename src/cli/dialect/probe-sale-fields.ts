import { nairobiDate } from "../../contract/index.ts";
import { fieldsOf, rowsIn } from "../../dialect/find-in-answers.ts";
import { valueAt } from "../../dialect/settings.ts";
import { candidates, type ComplianceProbe, found, foundName, NO_SUCH_NAME } from "./compliance-probe.ts";
import { findBranch } from "./compliance-reads.ts";
import { findingOf, findName, type NameSearch } from "./find-name.ts";
import type { Answer } from "./prober.ts";
import { type SaleContent, type SaleNames, unsellable } from "./sale-body.ts";
import { verdictOf } from "./write.ts";

/** Nobody real, and it says so. */
const CUSTOMER = {
  name: "Dialect Test",
  pin: "A000000000Z",
  phone: "+254700000000",
  email: "dialect-test@example.com",
} as const;
/** Cash, in the tax authority's code list. */
const PAYMENT_TYPE = "01";
const CALLBACK_URL = "https://example.com/dialect";

/** Which fields the sale is sent with, and under which settings each value stands. */
interface OptionalFields {
  optional: Record<string, unknown>;
  sent: ReadonlyMap<string, unknown>;
}

/**
 * Looks for the fields that a sale can do without. Where a lenient service shows nothing, the configured name is sent:
 * the sale in the answer will tell.
 */
export async function probeOptionalFields(
  probe: ComplianceProbe,
  names: SaleNames,
  number: string,
  post: (body: Readonly<Record<string, unknown>>) => Promise<Answer>,
): Promise<OptionalFields> {
  const sale = unsellable(names, number);
  const strict = verdictOf(await post({ ...sale, [NO_SUCH_NAME]: "1" })) === "refused";
  const taken: string[] = Object.values(names);
  const inBody = (name: string, value: unknown): Promise<Answer> => post({ ...sale, [name]: value });
  const search = async (
    path: string,
    values: Pick<NameSearch, "valid" | "invalid">,
    how: { sendAs?: NameSearch["send"]; taken?: readonly string[] } = {},
  ): Promise<string | undefined> => {
    const { sendAs = inBody, taken: others = taken } = how;
    const names = candidates(probe, path, others);
    const result = await findName({ candidates: names, send: sendAs, verdictOf, strict, ...values });
    const now = valueAt(probe.configured, path);
    const finding = findingOf(now, result);
    probe.findings.set(path, finding);
    return result.found?.name ?? (finding.kind === "open" && !strict && typeof now === "string" ? now : undefined);
  };
  // A lenient service takes a sale without the price, or with one under a name that it does not know.
  if (!strict) {
    const path = "createSale.lineFields.unitPrice";
    const sendAs: NameSearch["send"] = (name, value) => post(unsellable({ ...names, [path]: name }, number, value));
    const others = [names["createSale.lineFields.itemId"], names["createSale.lineFields.quantity"]];
    await search(path, { valid: [1], invalid: "odd" }, { sendAs, taken: others });
  }
  const wrongType = { odd: true };
  const optional: Record<string, unknown> = {};
  const sent = new Map<string, unknown>();
  const add = (path: string, name: string | undefined, value: unknown): void => {
    if (name === undefined) return;
    taken.push(name);
    optional[name] = value;
    sent.set(path, value);
  };
  const today = nairobiDate(Date.now());
  const datePath = "createSale.fields.saleDate";
  add(datePath, await search(datePath, { valid: [today], invalid: "not-a-date" }), today);
  const paymentPath = "createSale.fields.paymentTypeCode";
  add(paymentPath, await search(paymentPath, { valid: [PAYMENT_TYPE], invalid: wrongType }), PAYMENT_TYPE);
  const customerPath = "createSale.fields.customer";
  const customer = await search(customerPath, { valid: [{}], invalid: "not an object" });
  if (customer !== undefined) {
    const inCustomer = (name: string, value: unknown): Promise<Answer> =>
      post({ ...sale, [customer]: { [name]: value } });
    const fields: Record<string, string> = {};
    for (const [field, value] of Object.entries(CUSTOMER)) {
      const path = `createSale.customerFields.${field}`;
      const how = { sendAs: inCustomer, taken: Object.keys(fields) };
      const name = await search(path, { valid: [value], invalid: wrongType }, how);
      if (name === undefined) continue;
      fields[name] = value;
      sent.set(path, value);
    }
    add(customerPath, customer, fields);
  }
  await search("createSale.fields.callbackUrl", { valid: [CALLBACK_URL], invalid: "not a URL" });
  await findBranch(probe, "createSale", { verdictOf, strict, send: inBody }, taken);
  const branch = foundName(probe, "createSale.fields.branch");
  const { id, authorityId } = probe.branches[1] ?? probe.branches[0] ?? {};
  const value = foundName(probe, "createSale.branchBy") === "authorityId" ? authorityId : id;
  if (branch !== undefined && value !== undefined) optional[branch] = value;
  return { optional, sent };
}

/** The document tells which values were taken: one that is missing was sent under a wrong name. */
export function compareContent(
  probe: ComplianceProbe,
  document: Readonly<Record<string, unknown>>,
  content: SaleContent,
  sent: ReadonlyMap<string, unknown>,
): void {
  const [line = {}] = rowsIn(document["lines"]);
  const customer = fieldsOf(document["customer"]);
  const check = (path: string, value: unknown, got: unknown): void => {
    const finding = probe.findings.get(path);
    const name = finding?.kind === "found" ? finding.value : valueAt(probe.configured, path);
    if (value === undefined) return;
    if (value === got) probe.findings.set(path, found(name, "the sale in the answer has the value"));
    else probe.findings.set(path, { kind: "wrong", evidence: "its value is missing from the sale in the answer" });
  };
  check("createSale.fields.traderInvoiceNumber", content.number, document["traderInvoiceNumber"]);
  check("createSale.lineFields.itemId", content.itemId, line["itemId"]);
  check("createSale.lineFields.quantity", content.quantity, line["quantity"]);
  check("createSale.lineFields.unitPrice", content.unitPrice, line["unitPrice"]);
  for (const field of ["saleDate", "paymentTypeCode"]) {
    const path = `createSale.fields.${field}`;
    check(path, sent.get(path), document[field]);
  }
  for (const field of Object.keys(CUSTOMER)) {
    const path = `createSale.customerFields.${field}`;
    check(path, sent.get(path), customer[field]);
  }
  const path = "createSale.fields.customer";
  if (!sent.has(path)) return;
  const isThere = Object.values(customer).some((value) => typeof value === "string");
  const name = foundName(probe, path) ?? probe.configured.createSale.fields.customer;
  if (isThere) probe.findings.set(path, found(name, "the sale in the answer has the customer"));
  else probe.findings.set(path, { kind: "wrong", evidence: "the sale in the answer has no customer" });
}
