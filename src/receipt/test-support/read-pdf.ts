import { PDFiumLibrary } from "@hyzyla/pdfium";

import { readQr } from "./read-qr.ts";

export interface PdfPage {
  text: string;
  /** What its QR code holds, found in the drawn page. */
  qr: string | undefined;
}

/** The pages as Chrome's PDF reader has them: their text, and the QR code out of the drawn picture. */
export async function readPdf(pdf: Uint8Array): Promise<PdfPage[]> {
  reader ??= PDFiumLibrary.init();
  const document = await (await reader).loadDocument(pdf);
  const pages: PdfPage[] = [];
  for (const page of document.pages()) {
    // Drawing a page closes it.
    const text = page.getText().replaceAll("\r\n", "\n");
    pages.push({ text, qr: readQr(await page.render({ scale: 1.5, render: "bitmap" })) });
  }
  document.destroy();
  return pages;
}

/** It takes a second to begin, and is the same for all. */
let reader: Promise<PDFiumLibrary> | undefined;
