import { NO_SUCH_ID } from "./compliance-probe.ts";
import { candidatesFor, settingMeantBy } from "../../dialect/candidates.ts";

/** The names without which no service can take a sale. */
export const NEEDED = [
  "createSale.fields.traderInvoiceNumber",
  "createSale.fields.lines",
  "createSale.lineFields.itemId",
  "createSale.lineFields.quantity",
  "createSale.lineFields.unitPrice",
] as const;
export type NeededName = (typeof NEEDED)[number];

/** Under which names a sale is sent. */
export type SaleNames = Readonly<Record<NeededName, string>>;

export interface SaleContent {
  number: string;
  itemId: string;
  quantity: number;
  unitPrice: unknown;
}

export function saleBody(names: SaleNames, content: SaleContent): Record<string, unknown> {
  return {
    [names["createSale.fields.traderInvoiceNumber"]]: content.number,
    [names["createSale.fields.lines"]]: [
      {
        [names["createSale.lineFields.itemId"]]: content.itemId,
        [names["createSale.lineFields.quantity"]]: content.quantity,
        [names["createSale.lineFields.unitPrice"]]: content.unitPrice,
      },
    ],
  };
}

/** A sale that cannot be made: nobody has such an item. */
export function unsellable(names: SaleNames, number: string, unitPrice: unknown = 1): Record<string, unknown> {
  return saleBody(names, { number: `${number}-X`, itemId: NO_SUCH_ID, quantity: 1, unitPrice });
}

/** What a refused sale has taught so far. */
export interface SaleSearch {
  names: SaleNames;
  /** Names that were refused, or replaced by one that the service named. */
  refuted: ReadonlyMap<NeededName, ReadonlySet<string>>;
}

/**
 * What to send next after a 400 whose message holds these words. A word that means one of the needed names and was not
 * sent is that name. A name that was sent and is complained about gives way to the next candidate. Undefined: there is
 * nothing more to try. Pure.
 */
export function nextSearch({ names, refuted }: SaleSearch, words: readonly string[]): SaleSearch | undefined {
  const isRefuted = (path: NeededName, name: string): boolean => refuted.get(path)?.has(name) === true;
  const sent = new Set<string>(Object.values(names));
  for (const word of words) {
    if (sent.has(word)) continue;
    const path = settingMeantBy(word, NEEDED) as NeededName | undefined;
    if (path !== undefined && !isRefuted(path, word)) return replaced({ names, refuted }, path, word);
  }
  const blamed = NEEDED.find((path) => words.includes(names[path])) ?? NEEDED[0];
  const used = (name: string): boolean => sent.has(name) || isRefuted(blamed, name);
  const next = candidatesFor(blamed, undefined).find((name) => !used(name));
  return next === undefined ? undefined : replaced({ names, refuted }, blamed, next);
}

function replaced({ names, refuted }: SaleSearch, path: NeededName, name: string): SaleSearch {
  const gone = new Set([...(refuted.get(path) ?? []), names[path]]);
  return { names: { ...names, [path]: name }, refuted: new Map([...refuted, [path, gone]]) };
}
