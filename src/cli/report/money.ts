export { amount, money } from "../../contract/decimal.ts";

/** A decimal text without zeros that say nothing. */
export function plain(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

const MINUTE_MS = 60_000;

/** How long ago, in its two largest units: `2 d 4 h`. */
export function age(sinceMs: number, nowMs: number): string {
  const minutes = Math.max(0, Math.floor((nowMs - sinceMs) / MINUTE_MS));
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${rest} min` : `${rest} min`;
}
