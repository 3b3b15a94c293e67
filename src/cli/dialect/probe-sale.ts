import { settingMeantBy } from "../../dialect/candidates.ts";
import type { Finding } from "../../dialect/compare.ts";
import { type ComplianceProbe, found, foundName, type Place, send } from "./compliance-probe.ts";
import type { SeenItem } from "./compliance-reads.ts";
import { compareContent, probeOptionalFields } from "./probe-sale-fields.ts";
import type { Answer } from "./prober.ts";
import { NEEDED, nextSearch, saleBody, type SaleNames, type SaleSearch, unsellable } from "./sale-body.ts";
import { documentOf, isRefused, named, refusedOnly, verdictOf, type Write } from "./write.ts";

const MOST_BODIES = 40;

/**
 * Searches with sales of an item that does not exist, then one sale. A sale that was made is reported at once: what
 * comes after it may fail.
 */
export async function probeSale(
  probe: ComplianceProbe,
  item: SeenItem,
  number: string,
  onWrite: (write: Write) => void,
): Promise<Write> {
  const { path } = probe.configured.createSale;
  const write = (outcome: Write["outcome"], detail: string): Write => ({ what: "sale", number, outcome, detail });
  let place: Place = probe.configured.createSale.businessIdIn;
  const post = (body: Readonly<Record<string, unknown>>, idempotencyKey?: string): Promise<Answer> =>
    send(probe, "createSale", { path, body, place, idempotencyKey });
  const postUnsellable = async (body: Readonly<Record<string, unknown>>): Promise<Answer> =>
    refusedOnly(await post(body));

  const empty = await postUnsellable({});
  if (isRefused(empty, 404)) {
    probe.findings.set("createSale.path", { kind: "wrong", evidence: "the API answers 404" });
    return write("not sent", "the API knows no such path");
  }
  probe.findings.set("createSale.path", found(path, "an empty body is refused with 400"));

  let search: SaleSearch = { names: configuredNames(probe), refuted: new Map() };
  let answer = empty;
  const triedPlaces = new Set<Place>();
  for (let bodies = 0; bodies < MOST_BODIES; bodies++) {
    answer = await postUnsellable(unsellable(search.names, number));
    if (answer.kind !== "refused" || answer.status !== 400) break;
    const isAboutBusiness = answer.words.includes("businessId") || !namesAField(search, answer.words);
    if (probe.keyReach === "organisation" && isAboutBusiness && !triedPlaces.has(place)) {
      triedPlaces.add(place);
      place = place === "query" ? "body" : "query";
      continue;
    }
    const next = nextSearch(search, answer.words);
    if (next === undefined) break;
    search = next;
  }
  if (verdictOf(answer) !== "taken") {
    noteRefused(probe, search);
    return write("not sent", "the API refused every body that was tried");
  }
  const evidence = "a sale with it is refused for its item alone";
  probe.findings.set("createSale.businessIdIn", found(place, evidence));
  for (const name of NEEDED) probe.findings.set(name, found(search.names[name], evidence));

  const { optional, sent } = await probeOptionalFields(probe, search.names, number, postUnsellable);
  // Not the item's own price: what comes back tells whether it was taken.
  const content = { number, itemId: item.id, quantity: 1, unitPrice: item.unitPrice + 1 };
  const names = { ...search.names, ...namesFound(probe) };
  const body = { ...saleBody(names, content), ...optional };
  const key = `${number}-sale`;
  const sold = await post(body, key);
  if (sold.kind === "unknown") return write("unknown", sold.message);
  if (sold.kind === "refused") {
    const refused = write("refused", `HTTP ${sold.status}${named(sold.words, body)}`);
    return sold.document === undefined ? refused : { ...refused, id: sold.document.id };
  }
  const document = documentOf(sold);
  const { id } = document;
  if (typeof id !== "string") return write("unknown", "the answer names no id");
  const made: Write = { what: "sale", number, outcome: "made", id };
  onWrite(made);
  compareContent(probe, document, content, sent);
  await probeIdempotencyKey(probe, id, () => post(unsellable(search.names, number), key));
  return made;
}

/** Whether a refusal names something that was sent, or that a sale could need. */
function namesAField({ names }: SaleSearch, words: readonly string[]): boolean {
  const sent = new Set<string>(Object.values(names));
  return words.some((word) => sent.has(word) || settingMeantBy(word, NEEDED) !== undefined);
}

function namesFound(probe: ComplianceProbe): Partial<Record<(typeof NEEDED)[number], string>> {
  const entries = NEEDED.flatMap((path) => {
    const name = foundName(probe, path);
    return name === undefined ? [] : [[path, name]];
  });
  return Object.fromEntries(entries);
}

function configuredNames({ configured }: ComplianceProbe): SaleNames {
  const { fields, lineFields } = configured.createSale;
  return {
    "createSale.fields.traderInvoiceNumber": fields.traderInvoiceNumber,
    "createSale.fields.lines": fields.lines,
    "createSale.lineFields.itemId": lineFields.itemId,
    "createSale.lineFields.quantity": lineFields.quantity,
    "createSale.lineFields.unitPrice": lineFields.unitPrice ?? "unitPrice",
  };
}

/** The service named another word, or refused what is configured, though the whole was not understood in the end. */
function noteRefused(probe: ComplianceProbe, { refuted }: SaleSearch): void {
  for (const path of NEEDED) {
    if (refuted.get(path)?.has(configuredNames(probe)[path]) !== true) continue;
    probe.findings.set(path, { kind: "wrong", evidence: "a sale with it is refused with 400" });
  }
}

/**
 * Under the key of the sale a sale that cannot be made: only a service that knows the key answers with the first one.
 * Who states less trust than that has a reason.
 */
async function probeIdempotencyKey(
  probe: ComplianceProbe,
  saleId: string,
  again: () => Promise<Answer>,
): Promise<void> {
  const { idempotencyKey: configured } = probe.configured.createSale;
  const isReplayed = documentOf(await again())["id"] === saleId;
  const evidence = isReplayed
    ? "a repeated key returned the first sale"
    : "a repeated key did not return the first sale";
  const trust = configured === "trusted" ? evidence : `${evidence}; trusted would do as well`;
  const finding: Finding = isReplayed ? found(configured, trust) : { kind: "open", evidence };
  probe.findings.set("createSale.idempotencyKey", finding);
}
