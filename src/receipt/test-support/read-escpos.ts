export interface Printed {
  /** The lines, in the letters of the code page that was chosen. */
  lines: string[];
  /** White on black. */
  inverted: string[];
  /** What the printer is asked to draw as a QR code. */
  qr: string | undefined;
}

/** Reads the commands that a receipt has. @throws Error on any other, and on one that is cut short */
export function readEscPos(bytes: Uint8Array): Printed {
  const printed: Printed = { lines: [], inverted: [], qr: undefined };
  let stored: string | undefined;
  let line: number[] = [];
  let isInverted = false;
  let at = 0;
  const next = (count = 1): Uint8Array => {
    if (at + count > bytes.length) throw new Error(`cut short at byte ${at}`);
    at += count;
    return bytes.subarray(at - count, at);
  };
  const one = (): number => next()[0] ?? -1;
  const command = (): void => {
    const name = String.fromCharCode(one());
    if (name === "B") isInverted = one() === 1;
    else if (name === "V") next(2);
    else if (name === "(") {
      const [k = 0, low = 0, high = 0] = next(3);
      if (k !== 0x6b) throw new Error(`GS ( ${k} at byte ${at}`);
      const [, action, , ...data] = next(low + 256 * high);
      if (action === 0x50) stored = new TextDecoder().decode(Uint8Array.from(data));
      if (action === 0x51) printed.qr = stored;
    } else throw new Error(`GS ${name} at byte ${at}`);
  };
  while (at < bytes.length) {
    const byte = one();
    if (byte === 0x1b) {
      const name = String.fromCharCode(one());
      if (!"@Eta".includes(name)) throw new Error(`ESC ${name} at byte ${at}`);
      if (name !== "@") next();
    } else if (byte === 0x1d) command();
    else if (byte === 0x0a) {
      const text = windows1252(Uint8Array.from(line));
      printed.lines.push(text);
      if (isInverted) printed.inverted.push(text);
      line = [];
    } else line.push(byte);
  }
  return printed;
}

/** Codes 0x80 to 0x9F by Unicode's table CP1252.TXT; Node 20 decodes them as Latin-1. */
const CP1252 = (
  "20AC 81 201A 192 201E 2026 2020 2021 2C6 2030 160 2039 152 8D 17D 8F " +
  "90 2018 2019 201C 201D 2022 2013 2014 2DC 2122 161 203A 153 9D 17E 178"
).split(" ");

export function windows1252(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    String.fromCharCode(Number.parseInt(CP1252[byte - 0x80] ?? byte.toString(16), 16)),
  ).join("");
}
