import type { BusinessFigures } from "../../ledger/index.ts";
import { amountsRow, rateText } from "./money.ts";

/**
 * What was sold to buyers with a PIN and to buyers without one, since a tax return asks for the two apart: name, count,
 * taxable, tax, total. Where the two together have more than one rate, each has a row.
 */
export function buyerRows({ buyers: { withPin, withoutPin } }: Pick<BusinessFigures, "buyers">): string[][] {
  const groups = [
    ["with", withPin],
    ["without", withoutPin],
  ] as const;
  const kinds = [
    ["sales", "sales"],
    ["credit notes", "creditNotes"],
  ] as const;
  const byRate = new Set(groups.flatMap(([, { taxes }]) => taxes.map(rateText))).size > 1;
  return kinds.flatMap(([words, kind]) => {
    if (groups.every(([, figures]) => figures[kind].count === 0)) return [];
    return groups.flatMap(([has, figures]) => {
      const name = `${words} to buyers ${has} a PIN`;
      const rates = figures.taxes.map((tax) => amountsRow(`${name}, at ${rateText(tax)}`, "", tax[kind]));
      return [amountsRow(name, String(figures[kind].count), figures[kind]), ...(byRate ? rates : [])];
    });
  });
}
