/** The decimal that a JSON number shows: 1.005 is 1005 at scale 3, not the nearest binary fraction. */
function decimalOf(value: number): { digits: bigint; scale: number } {
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  const digits = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** Of amounts that are at least 0, as those of a sale are. */
function divideHalfUp(numerator: bigint, denominator: bigint): number {
  return Number((2n * numerator + denominator) / (2n * denominator));
}

/** `quantity * unitPrice` in cents, each line rounded half up to 2 decimals. */
export function productInCents(quantity: number, unitPrice: number): number {
  const left = decimalOf(quantity);
  const right = decimalOf(unitPrice);
  return divideHalfUp(left.digits * right.digits * 100n, 10n ** BigInt(left.scale + right.scale));
}

/** The tax inside an amount that includes it, in cents. */
export function taxInsideCents(totalCents: number, ratePercent: number): number {
  const rate = decimalOf(ratePercent);
  return divideHalfUp(BigInt(totalCents) * rate.digits, 100n * 10n ** BigInt(rate.scale) + rate.digits);
}

/** The sum that one would write by hand, without binary drift: 0.1 + 0.2 is 0.3. */
export function addExactly(left: number, right: number): number {
  const a = decimalOf(left);
  const b = decimalOf(right);
  const scale = Math.max(a.scale, b.scale);
  const sum = a.digits * 10n ** BigInt(scale - a.scale) + b.digits * 10n ** BigInt(scale - b.scale);
  return Number(`${sum}e-${scale}`);
}

/** Never -0, which is not equal to 0 for those who compare books. */
export function negated(value: number): number {
  return value === 0 ? 0 : -value;
}
