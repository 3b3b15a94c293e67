import { amount } from "../../contract/decimal.ts";

export { amount, money } from "../../contract/decimal.ts";

/** For JSON: the decimal texts in these fields, at any depth, as {@link amount} writes them. */
export function withAmounts(data: unknown, fields: ReadonlySet<string>): unknown {
  if (Array.isArray(data)) return data.map((one) => withAmounts(one, fields));
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]: [string, unknown]) => [
      name,
      fields.has(name) && typeof value === "string" ? amount(value) : withAmounts(value, fields),
    ]),
  );
}

/** A decimal text without zeros that say nothing. */
export function plain(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** `B 16 %`. */
export function rateText({ taxTypeCode, taxRate }: { taxTypeCode: string | null; taxRate: string }): string {
  return `${taxTypeCode ?? "-"} ${plain(taxRate)} %`;
}

const MINUTE_MS = 60_000;

/** How long ago, in its two largest units: `2 d 4 h`. */
export function age(sinceMs: number, nowMs: number): string {
  const minutes = Math.max(0, Math.floor((nowMs - sinceMs) / MINUTE_MS));
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${rest} min` : `${rest} min`;
}
