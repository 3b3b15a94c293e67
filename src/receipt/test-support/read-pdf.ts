import { PDFiumLibrary, type PDFiumPage } from "@hyzyla/pdfium";

import { readQr } from "./read-qr.ts";

export interface PdfPage {
  text: string;
  /** What its QR code holds, found in the drawn page. */
  qr: string | undefined;
}

/** The pages as Chrome's PDF reader has them: their text, and the QR code out of the drawn picture. */
export async function readPdf(pdf: Uint8Array): Promise<PdfPage[]> {
  return await eachPage(pdf, async (page) => {
    // Drawing a page closes it.
    const text = textOf(page);
    return { text, qr: readQr(await page.render({ scale: 1.5, render: "bitmap" })) };
  });
}

/** The text alone: to draw a page and to look for its QR code takes most of the time. */
export async function readPdfText(pdf: Uint8Array): Promise<string> {
  return (await eachPage(pdf, textOf)).join("\n");
}

const textOf = (page: PDFiumPage): string => page.getText().replaceAll("\r\n", "\n");

async function eachPage<T>(pdf: Uint8Array, read: (page: PDFiumPage) => T | Promise<T>): Promise<T[]> {
  reader ??= PDFiumLibrary.init();
  const document = await (await reader).loadDocument(pdf);
  const pages: T[] = [];
  for (const page of document.pages()) pages.push(await read(page));
  document.destroy();
  return pages;
}

/** It takes a second to begin, and is the same for all. */
let reader: Promise<PDFiumLibrary> | undefined;
