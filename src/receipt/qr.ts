import encodeQR from "qr";

/** What the largest code holds at this error correction (ISO/IEC 18004, version 40-M, bytes). */
const MOST_BYTES = 2331;
const QUIET_ZONE = 4;

/** A row of dark modules. */
export interface Run {
  x: number;
  y: number;
  length: number;
}

export interface QrCode {
  /** Modules on each side, the quiet zone included. */
  size: number;
  dark: Run[];
}

/** The bytes of a text that a QR code can hold; undefined where it is too long. */
export function qrBytes(text: string): Uint8Array | undefined {
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= MOST_BYTES ? bytes : undefined;
}

/** Undefined where the text is too long for a QR code. */
export function qrOf(text: string): QrCode | undefined {
  if (!qrBytes(text)) return undefined;
  // As a printer encodes it, whose code must have the size that ours has.
  const rows = encodeQR(text, "raw", { ecc: "medium", border: QUIET_ZONE, encoding: "byte" });
  return { size: rows.length, dark: rows.flatMap(runsOf) };
}

function runsOf(row: readonly boolean[], y: number): Run[] {
  const runs: Run[] = [];
  for (const [x, isDark] of row.entries()) {
    if (!isDark) continue;
    const last = runs.at(-1);
    if (last && last.x + last.length === x) last.length += 1;
    else runs.push({ x, y, length: 1 });
  }
  return runs;
}
