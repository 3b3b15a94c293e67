/** Of the page, which loads nothing. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --page: #f6f5f1; --card: #fff; --ink: #1d2433; --quiet: #667085; --line: #e4e2da;
  --sale: #1f7a5c; --note: #c8503c; --risk: #d08a1d; }
@media (prefers-color-scheme: dark) { :root { --page: #14171c; --card: #1c2027; --ink: #e8eaee; --quiet: #98a2b3; --line: #2c323c;
  --sale: #3fb48b; --note: #e4745f; --risk: #e5a83f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 36px 20px 60px; }
header p, footer { color: var(--quiet); margin: 0; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 2px; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 44px 0 14px; overflow-wrap: anywhere; }
h3 { font-size: 12px; margin: 0 0 10px; text-transform: uppercase; letter-spacing: .06em; color: var(--quiet); font-weight: 600; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(190px, 100%), 1fr)); gap: 14px; margin: 22px 0 14px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px; margin-bottom: 14px; overflow-x: auto; }
.figures .card { margin: 0; container-type: inline-size; }
.figure { font-size: min(var(--most, 25px), 100cqi / (var(--characters) * .64)); line-height: 38px; font-weight: 650; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.card small { color: var(--quiet); font-size: 13px; overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(380px, 100%), 1fr)); gap: 14px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--quiet); font-size: 12.5px; border-bottom: 1px solid var(--line); padding: 0 14px 7px 0; }
td { padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
tr:last-child td { border-bottom: 0; }
.right { text-align: right; padding-right: 0; padding-left: 14px; white-space: nowrap; }
th.right { white-space: normal; vertical-align: bottom; } td:not(.right) { min-width: 9ch; }
svg { display: block; width: 100%; height: auto; } .pair svg { max-width: 440px; }
.tick { font-size: 11px; fill: var(--quiet); font-variant-numeric: tabular-nums; }
.label { font-size: 13px; fill: var(--ink); } .value { font-size: 13px; fill: var(--ink); font-variant-numeric: tabular-nums; }
.grid { stroke: var(--line); } .axis { stroke: var(--quiet); }
rect.sale { fill: var(--sale); } rect.note { fill: var(--note); } rect.risk { fill: var(--risk); } rect.hover { fill: transparent; }
g:hover > rect.hover { fill: var(--quiet); opacity: .12; }
.key { display: flex; gap: 18px; color: var(--quiet); font-size: 13px; margin-top: 8px; }
.key i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 6px; }
.none { color: var(--quiet); margin: 0; }
footer { margin-top: 40px; font-size: 13px; }
@media (max-width: 600px) {
  main { padding: 20px 12px 40px; } h1 { font-size: 21px; } h2 { margin-top: 30px; } .card { padding: 14px; }
  .figures { grid-template-columns: 1fr 1fr; gap: 10px; } .figures .card { padding: 12px; } .figure { --most: 18px; line-height: 27px; }
  .tick { font-size: 22px; }
  thead { display: none; } tr { display: block; padding: 7px 0; border-bottom: 1px solid var(--line); }
  tr:last-child { border-bottom: 0; }
  td, td.right { display: flex; justify-content: space-between; gap: 16px; border: 0; padding: 2px 0; text-align: right; white-space: normal; }
  td::before { content: attr(data-head); color: var(--quiet); white-space: nowrap; }
  td:first-child { font-weight: 600; text-align: left; } td:first-child::before { content: none; } td:empty { display: none; }
}
@page { margin: 14mm; }
@media print {
  :root { color-scheme: light; --page: #fff; --card: #fff; --ink: #000; --quiet: #444; --line: #bbb;
    --sale: #1f7a5c; --note: #c8503c; --risk: #d08a1d; }
  body { font-size: 11px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; } h2 { margin-top: 18px; }
  .card { break-inside: avoid; overflow: visible; padding: 10px 12px; margin-bottom: 8px; border-radius: 0; }
  .figures { grid-template-columns: repeat(4, 1fr); gap: 8px; } .figure { --most: 15px; line-height: 23px; }
  .pair { grid-template-columns: 1fr 1fr; gap: 8px; }
  table, th { font-size: 10px; } thead { display: table-header-group; } tr { break-inside: avoid; }
  .card:has(table) { break-inside: auto; }
}
`;
