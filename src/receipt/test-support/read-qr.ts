import { createRequire } from "node:module";
import type { Options, QRCode } from "jsqr";

type Decode = (data: Uint8ClampedArray, width: number, height: number, options: Options) => QRCode | null;

// Its declarations describe a default export that Node does not see.
const decode = createRequire(import.meta.url)("jsqr") as Decode;

export interface Picture {
  width: number;
  height: number;
  /** Four bytes a pixel: red, green, blue, alpha. */
  data: Uint8Array;
}

/** What the QR code in a picture holds. */
export function readQr({ data, width, height }: Picture): string | undefined {
  return decode(Uint8ClampedArray.from(data), width, height, { inversionAttempts: "dontInvert" })?.data;
}

const PIXELS_A_MODULE = 4;

/** The QR code of an HTML receipt, drawn from the path of its SVG. */
export function readSvgQr(html: string): string | undefined {
  const [, side = "0"] = /viewBox="0 0 (\d+) \d+"/.exec(html) ?? [];
  const width = Number(side) * PIXELS_A_MODULE;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y, length] of html.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let row = Number(y) * PIXELS_A_MODULE; row < (Number(y) + 1) * PIXELS_A_MODULE; row += 1) {
      const from = row * width + Number(x) * PIXELS_A_MODULE;
      for (let pixel = from; pixel < from + Number(length) * PIXELS_A_MODULE; pixel += 1)
        data.fill(0, pixel * 4, pixel * 4 + 3);
    }
  }
  return readQr({ data, width, height: width });
}
