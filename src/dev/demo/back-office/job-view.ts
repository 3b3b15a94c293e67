import type { OutputStream } from "../../../cli/context.ts";
import { plainLine } from "../../../contract/plain-text.ts";

const CLEAR_LINE = "\r\u001b[2K";

/** Shows how far the job is that runs now. */
export interface JobView {
  show(line: string): void;
  /** The line is done, and stays. */
  end(line: string): void;
}

/** One line that changes in place where there is a terminal; else a line for each change. */
export function jobView(screen: OutputStream): JobView {
  const columns = screen.columns ?? 80;
  const cut = (line: string): string => plainLine(line).slice(0, columns - 1);
  if (screen.isTTY) {
    return {
      show: (line) => void screen.write(`${CLEAR_LINE}${cut(line)}`),
      end: (line) => void screen.write(`${CLEAR_LINE}${cut(line)}\n`),
    };
  }
  let shown = "";
  const show = (line: string): void => {
    if (line !== shown) screen.write(`${plainLine(line)}\n`);
    shown = line;
  };
  return { show, end: show };
}
