import { expect, it } from "vitest";
import { jobView } from "./job-view.ts";

function screen(more: { isTTY?: boolean; columns?: number } = {}) {
  const said = { text: "" };
  return { said, ...more, write: (text: string) => Boolean((said.text += text)) };
}

it("the job view writes a line for each change without a terminal", () => {
  const log = screen();
  const view = jobView(log);
  for (const line of ["a", "a", "b"]) view.show(line);
  view.end("done");
  expect(log.said.text).toBe("a\nb\ndone\n");
});

it("the job view updates one line in place on a terminal, cut to its width, and leaves the last state", () => {
  const terminal = screen({ isTTY: true, columns: 6 });
  const view = jobView(terminal);
  view.show("too long for it");
  view.end("done");
  expect(terminal.said.text).toBe("\r\u001b[2Ktoo l\r\u001b[2Kdone\n");
});
