import type { SaleDocument } from "../contract/documents.ts";
import { plainText } from "../contract/plain-text.ts";
import { type Fact, NOT_A_RECEIPT, pageOf, PROVISIONAL, type ReceiptOptions, type ReceiptPage } from "./page.ts";
import { qrOf } from "./qr.ts";

const NAMES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Other people's words as words of a page, in its text and in its attributes. */
export function escapeHtml(words: string): string {
  return plainText(words).replaceAll(/[&<>"']/g, (character) => NAMES[character] ?? character);
}

/**
 * The receipt as an HTML page that stands alone: no script, nothing loaded from outside, and a style for printing.
 * @param document a sale or a credit note; what the tax authority has not signed is shown as provisional
 */
export function receiptHtml(document: SaleDocument, options: ReceiptOptions = {}): string {
  const page = pageOf(document, options);
  const { seller, title, provisional, facts, totals, signed, verificationUrl, statedByShop } = page;
  const heading = `${provisional === undefined ? "" : `${PROVISIONAL}: `}${title}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${heading} ${document.traderInvoiceNumber}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body${new Markup(provisional === undefined ? "" : ' class="provisional"')}>
${provisional === undefined ? [] : html`<p class="warning"><strong>${PROVISIONAL}</strong> ${NOT_A_RECEIPT}<br />${provisional}</p>`}
${seller.length === 0 ? [] : html`<header>${seller.map((text) => html`<div>${text}</div>`)}</header>`}
<h1>${title}</h1>
${factList(facts)}
${linesTable(page)}
${ratesTable(page)}
<table class="totals"><tbody>${totals.map(
    ([label, sum]) =>
      html`<tr>
        <th scope="row">${label}</th>
        <td>${sum}</td>
      </tr>`,
  )}</tbody></table>
${
  signed.length === 0
    ? []
    : html`<section>
        <h2>Signed by the tax authority</h2>
        ${factList(signed)}${verificationUrl === undefined ? [] : verification(verificationUrl)}
      </section>`
}
${statedByShop === undefined ? [] : html`<footer>${statedByShop}</footer>`}
</body>
</html>
`.text;
}

function factList(facts: readonly Fact[]): Markup {
  return html`<dl>
    ${facts.map(
      ([label, value]) =>
        html`<dt>${label}</dt>
          <dd><bdi>${value}</bdi></dd>`,
    )}
  </dl>`;
}

function linesTable({ lines, withoutLines }: ReceiptPage): Markup {
  if (withoutLines !== undefined) return html`<p>${withoutLines}</p>`;
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Item</th>
        <th scope="col">Quantity</th>
        <th scope="col">Price</th>
        <th scope="col">Tax</th>
        <th scope="col">Total</th>
      </tr>
    </thead>
    <tbody>
      ${lines.map(
        ({ name, quantity, unitPrice, tax, total }) =>
          html` <tr>
            <th scope="row"><bdi>${name}</bdi></th>
            <td>${quantity}</td>
            <td>${unitPrice}</td>
            <td>${tax}</td>
            <td>${total}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function ratesTable({ rates }: ReceiptPage): Markup | [] {
  if (rates.length === 0) return [];
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Tax</th>
        <th scope="col">Taxable</th>
        <th scope="col">Tax amount</th>
        <th scope="col">Total</th>
      </tr>
    </thead>
    <tbody>
      ${rates.map(
        ({ label, taxable, tax, total }) =>
          html` <tr>
            <th scope="row">${label}</th>
            <td>${taxable}</td>
            <td>${tax}</td>
            <td>${total}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function verification(url: string): Markup {
  const code = qrOf(url);
  const address = /^https?:\/\//i.test(url) ? html`<a href="${url}" rel="noreferrer">${url}</a>` : html`${url}`;
  if (!code) return html`<p class="verify">${address}</p>`;
  const path = code.dark.map(({ x, y, length }) => `M${x} ${y}h${length}v1h-${length}z`).join("");
  const { size } = code;
  return html` <svg
      role="img"
      aria-label="QR code of the address below"
      viewBox="0 0 ${String(size)} ${String(size)}"
      shape-rendering="crispEdges"
    >
      <path fill="#fff" d="M0 0h${String(size)}v${String(size)}H0z" />
      <path d="${path}" />
    </svg>
    <p class="verify">${address}</p>`;
}

const STYLE = `
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 14px/1.4 system-ui, sans-serif; color: #000; background: #fff; overflow-wrap: anywhere }
header { text-align: center } header div:first-child { font-size: 1.3em; font-weight: bold }
h1 { font-size: 1.5em; text-align: center } h2 { font-size: 1.1em }
dl { display: grid; grid-template-columns: minmax(8rem, auto) 1fr; gap: .2rem 1rem } dt { color: #444 } dd { margin: 0 }
table { width: 100%; border-collapse: collapse; margin: 1rem 0 } thead { border-bottom: 1px solid }
th, td { padding: .2rem .4rem; text-align: right; vertical-align: top; font-variant-numeric: tabular-nums }
td, thead th { white-space: nowrap } th:first-child { text-align: left } tbody th { font-weight: normal } tr { break-inside: avoid }
.totals { border-top: 1px solid } .totals tr:last-child > * { font-weight: bold; font-size: 1.2em }
section { break-inside: avoid } svg { display: block; width: 12rem; margin: 1rem auto } .verify { text-align: center }
footer { margin-top: 1rem; color: #444; font-size: .85em }
.warning { border: 3px dashed #b00; color: #b00; padding: .6rem; text-align: center }
.warning strong { display: block; font-size: 1.6em; letter-spacing: .2em }
.provisional h1, .provisional table, .provisional dl { color: #666 }
.provisional::before { content: "PROVISIONAL"; position: fixed; inset: 0; display: grid; place-items: center; rotate: -45deg; font: bold min(5rem, 11vw) sans-serif; white-space: nowrap; overflow-wrap: normal; color: #0001 }
@media print { body { margin: 0 auto } a { color: inherit; text-decoration: none } }
`;

class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | Markup | readonly Markup[];

/** A template whose texts are escaped; only other templates go in as they are. */
function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(String.raw({ raw: strings }, ...values.map(markupOf)));
}

function markupOf(value: Value): string {
  if (value instanceof Markup) return value.text;
  if (typeof value !== "string") return value.map(({ text }) => text).join("");
  return escapeHtml(value);
}
