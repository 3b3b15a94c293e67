export interface Printed {
  /** The lines, in the letters of the code page that was chosen. */
  lines: string[];
  /** White on black. */
  inverted: string[];
  /** What the printer is asked to draw as a QR code. */
  qr: string | undefined;
  /** How it is asked to: modules of so many dots, correction level L, M, Q or H, in the middle of the paper. */
  qrDrawn: { model: number; dots: number; correction: string; isCentred: boolean } | undefined;
  /** After how many lines the paper is cut. */
  cuts: number[];
}

const ESC = 0x1b;
const FS = 0x1c;
const GS = 0x1d;
/** Of `ESC t`: the number of WPC1252, Windows-1252. */
const WPC1252 = 16;

/**
 * Reads a receipt as Epson's command reference describes its commands, and takes nothing that is not described there:
 * neither a command without its arguments, an argument out of its range, nor a byte that the code page has no letter
 * for.
 * @throws Error that names the byte
 */
export function readEscPos(bytes: Uint8Array): Printed {
  const printed: Printed = { lines: [], inverted: [], qr: undefined, qrDrawn: undefined, cuts: [] };
  let isInitialised = false;
  let codePage = 0;
  // As printers for China begin: two bytes from 0x80 on are one character.
  let isChinese = true;
  let alignment = 0;
  let isInverted = false;
  const symbol = { model: 50, dots: 3, correction: 48, data: undefined as string | undefined };
  let line: number[] = [];
  let at = 0;
  const refuse = (what: string): never => {
    throw new Error(`${what} before byte ${at}`);
  };
  const next = (count: number): Uint8Array => {
    if (at + count > bytes.length) refuse("cut short");
    at += count;
    return bytes.subarray(at - count, at);
  };
  const one = (least: number, most: number): number => {
    const [value = -1] = next(1);
    return value >= least && value <= most ? value : refuse(`${value} is not from ${least} to ${most}`);
  };
  const atLineStart = (command: string): void => {
    if (line.length > 0) refuse(`${command} within a line`);
  };
  /** GS ( k, of the symbol 49, which is a QR code. */
  const drawQr = (): void => {
    const length = one(0, 255) + 256 * one(0, 255);
    const end = at + length;
    if (length < 3) refuse(`GS ( k of ${length} bytes`);
    one(49, 49);
    const action = one(65, 81);
    if (action === 65) {
      symbol.model = one(49, 50);
      one(0, 0);
    } else if (action === 67) symbol.dots = one(1, 16);
    else if (action === 69) symbol.correction = one(48, 51);
    else if (action === 80) {
      one(48, 48);
      symbol.data = new TextDecoder("utf-8", { fatal: true }).decode(next(length - 3));
    } else if (action === 81) {
      one(48, 48);
      atLineStart("GS ( k");
      if (!symbol.data || printed.qr !== undefined) refuse("no symbol, or a second one");
      printed.qr = symbol.data;
      const correction = "LMQH".charAt(symbol.correction - 48);
      printed.qrDrawn = { model: symbol.model - 48, dots: symbol.dots, correction, isCentred: alignment === 1 };
    } else refuse(`GS ( k of function ${action}`);
    if (at !== end) refuse(`GS ( k of ${length} bytes`);
  };
  const commands: Readonly<Record<string, () => void>> = {
    [`${ESC} @`]: () => {
      isInitialised = true;
      isChinese = true;
    },
    [`${FS} .`]: () => {
      isChinese = false;
    },
    [`${ESC} t`]: () => {
      codePage = one(0, 255);
    },
    [`${ESC} a`]: () => {
      atLineStart("ESC a");
      alignment = one(0, 2);
    },
    [`${ESC} E`]: () => {
      one(0, 1);
    },
    [`${GS} B`]: () => {
      isInverted = one(0, 1) === 1;
    },
    [`${GS} V`]: () => {
      atLineStart("GS V");
      one(65, 66);
      one(0, 255);
      printed.cuts.push(printed.lines.length);
    },
    [`${GS} (`]: () => {
      one(0x6b, 0x6b);
      drawQr();
    },
  };
  while (at < bytes.length) {
    const byte = one(0x0a, 0xff);
    if (byte === ESC || byte === FS || byte === GS) {
      const name = `${byte} ${String.fromCharCode(one(0x21, 0x7e))}`;
      (commands[name] ?? (() => refuse(`the command ${name}`)))();
      if (!isInitialised) refuse("ESC @ is not the first command");
    } else if (byte === 0x0a) {
      const text = windows1252(Uint8Array.from(line));
      printed.lines.push(text);
      if (isInverted) printed.inverted.push(text);
      line = [];
    } else {
      if (byte < 0x20 || byte === 0x7f || OPEN.has(byte)) refuse(`no letter: ${byte}`);
      if (byte > 0x7f && isChinese) refuse("a letter in Chinese mode");
      if (byte > 0x7f && codePage !== WPC1252) refuse(`a letter of code page ${codePage}`);
      line.push(byte);
    }
  }
  atLineStart("the end");
  return printed;
}

/** Codes 0x80 to 0x9F by Unicode's table CP1252.TXT; Node 20 decodes them as Latin-1. */
const CP1252 = (
  "20AC 81 201A 192 201E 2026 2020 2021 2C6 2030 160 2039 152 8D 17D 8F " +
  "90 2018 2019 201C 201D 2022 2013 2014 2DC 2122 161 203A 153 9D 17E 178"
).split(" ");
/** Windows-1252 has no letter for them. */
const OPEN: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

export function windows1252(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    String.fromCharCode(Number.parseInt(CP1252[byte - 0x80] ?? byte.toString(16), 16)),
  ).join("");
}
