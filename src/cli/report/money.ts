/** A decimal text for programs: two places, and more only where there are more; never rounded. `-1200.50` */
export function amount(text: string): string {
  const [whole = "0", fraction = ""] = text.split(".");
  return `${whole}.${fraction.replace(/0+$/, "").padEnd(2, "0")}`;
}

/** A decimal text for people: thousands apart, two places at least, and more where there are more. `-1,200.50` */
export function money(text: string): string {
  return amount(text).replace(/\B(?=(\d{3})+\.)/g, ",");
}

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
