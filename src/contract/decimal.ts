/**
 * Exact arithmetic on the decimal numbers that JSON carries. Money and quantities are compared and added as they are
 * written, never as binary fractions (0.1 + 0.2 is 0.3 here).
 */
interface Decimal {
  units: bigint;
  scale: number;
}

const NONE: Decimal = { units: 0n, scale: 0 };

const DIVISION_SCALE = 6;

export function sumOf(numbers: readonly number[]): number {
  return toNumber(numbers.map(decimal).reduce(add, NONE));
}

export function differsByMoreThan(tolerance: number, a: number, b: number): boolean {
  const difference = add(decimal(a), negated(decimal(b)));
  const absolute = difference.units < 0n ? negated(difference) : difference;
  return add(absolute, negated(decimal(tolerance))).units > 0n;
}

/** Σ(quantity × price) / Σ quantity, rounded half up to six places if it does not end earlier. */
export function weightedPrice(parts: readonly Priced[]): number {
  const [first] = parts;
  if (first && parts.every((part) => part.unitPrice === first.unitPrice)) return first.unitPrice;
  const total = parts.map(price).reduce(add);
  const quantity = parts.map((p) => decimal(p.quantity)).reduce(add);
  const numerator = total.units * 10n ** BigInt(DIVISION_SCALE + quantity.scale);
  const denominator = quantity.units * 10n ** BigInt(total.scale);
  return toNumber({ units: (2n * numerator + denominator) / (2n * denominator), scale: DIVISION_SCALE });
}

/**
 * The number as it is written in decimal, without an exponent and without zeros that say nothing: `1200.5`,
 * `0.0000001`.
 */
export function decimalText(value: number): string {
  return textOf(decimal(value));
}

interface Priced {
  quantity: number;
  unitPrice: number;
}

function price({ quantity, unitPrice }: Priced): Decimal {
  return multiply(decimal(quantity), decimal(unitPrice));
}

export function worthOf(parts: readonly Priced[]): string {
  return textOf(parts.map(price).reduce(add, NONE));
}

/** The same, each line rounded half up to cents, as the document of these lines is going to state it. */
export function documentWorthOf(lines: readonly Priced[]): string {
  return textOf(lines.map((line) => toCents(price(line))).reduce(add, NONE));
}

/** Half up; neither a quantity nor a price is negative. */
function toCents({ units, scale }: Decimal): Decimal {
  if (scale <= 2) return { units, scale };
  const divisor = 10n ** BigInt(scale - 2);
  return { units: (2n * units + divisor) / (2n * divisor), scale: 2 };
}

function textOf({ units, scale }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${whole}${fraction ? `.${fraction}` : ""}`;
}

function decimal(value: number): Decimal {
  const [mantissa = "0", exponent = "0"] = value.toString().toLowerCase().split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  const scale = fraction.length - Number(exponent);
  const units = BigInt(whole + fraction);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: rescaled(a, scale) + rescaled(b, scale), scale };
}

function multiply(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, scale: a.scale + b.scale };
}

function negated(value: Decimal): Decimal {
  return { units: -value.units, scale: value.scale };
}

function rescaled(value: Decimal, scale: number): bigint {
  return value.units * 10n ** BigInt(scale - value.scale);
}

function toNumber(value: Decimal): number {
  return Number(`${value.units}e${-value.scale}`);
}

/** A decimal text for programs: two places, and more only if there are more; never rounded. `-1200.50` */
export function amount(text: string): string {
  const [whole = "0", fraction = ""] = text.split(".");
  return `${whole}.${fraction.replace(/0+$/, "").padEnd(2, "0")}`;
}

/** A decimal text for people: thousands apart, two places at least, and more if there are more. `-1,200.50` */
export function money(text: string): string {
  return amount(text).replace(/\B(?=(\d{3})+\.)/g, ",");
}
