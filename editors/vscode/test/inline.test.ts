// An edit at a place in the text: what is shown of it, from the first letter that the model writes to the decision.

import { expect, it } from "vitest";
import { escaped } from "../src/chat/text";
import { InlineEdit } from "../src/inline/edit";
import { piecesOf } from "../src/inline/words";
import { editsIn } from "../src/inline/writing";
import type { Event, Outcome, Review, ReviewHunk } from "../src/protocol";

const URI = "file:///a.py";

function begun(...events: Event[]): InlineEdit {
  const edit = new InlineEdit("t", URI);
  for (const event of events) tell(edit, event);
  return edit;
}

function tell(edit: InlineEdit, event: Event, agentId = "main"): boolean {
  return edit.take({ seq: 0, turnId: "t", sessionId: "s", agentId, event });
}

function hunk(newText: string, line = 3, oldText = "old\n"): ReviewHunk {
  const range = { start: { line, character: 0 }, end: { line: line + 1, character: 0 } };
  return { id: `${line}`, range, oldText, newText, reason: "", state: "pending" };
}

function proposal(hunks: ReviewHunk[], uri = URI, turnId = "t"): Review {
  const file = { uri, operation: "edit", baseHash: "", proposedText: "", hunks } as const;
  return { proposalId: "p", turnId, reason: "", files: [{ ...file, hunks }] };
}

function ended(outcome: Partial<Outcome>): Event {
  const whole = { turnId: "t", sessionId: "s", mode: "edit_mode", reason: "end_turn", answer: "" } as const;
  return { kind: "turnFinished", outcome: { ...whole, ...outcome } };
}

const writes = (text: string): Event => ({ kind: "argumentsStreamed", callId: "c", name: "EditTool", text });

it("knows what goes and what comes of every beginning of a call", () => {
  const call = JSON.stringify({
    file_path: "a.py",
    edits: [
      { old_string: "x\n", new_string: "1\n" },
      { old_string: "y", new_string: "2" },
    ],
  });
  for (let end = 0; end <= call.length; end++) {
    for (const { old, text } of editsIn(call.slice(0, end))) {
      expect(["x\n", "y"]).toContain(old);
      expect("1\n".startsWith(text) || text === "2" || text === "").toBe(true);
    }
  }
  expect(editsIn(call)).toEqual([
    { old: "x\n", text: "1\n" },
    { old: "y", text: "2" },
  ]);
});

it("shows what the model writes as it grows, and takes it back with the message", () => {
  const edit = begun({ kind: "turnStarted", mode: "edit_mode", model: "m", text: "Go" });
  expect(piecesOf(edit)).toEqual([{ words: "Waiting for the model…" }]);
  tell(edit, writes('{"file_path": "a.py", "old_string": "x", "new_'));
  expect(piecesOf(edit)).toEqual([{ words: "Waiting for the model…" }]);
  tell(edit, writes('string": "grow'));
  expect(piecesOf(edit)).toEqual([{ code: "grow" }]);
  expect(edit.writing).toEqual([{ old: "x", text: "grow" }]);
  tell(edit, writes(`n${"\\nline".repeat(50)}`));
  expect(piecesOf(edit)).toEqual([{ code: `…${"\nline".repeat(40)}` }]);
  tell(edit, { kind: "streamRolledBack" });
  expect(edit.writing).toEqual([]);
});

it("is decided here if all of it is in this file", () => {
  const edit = begun();
  expect(edit.canShow(proposal([hunk("new")]))).toBe(true);
  expect(edit.canShow(proposal([hunk("new")], "file:///b.py"))).toBe(false);
  expect(edit.canShow(proposal([hunk("new")], URI, "another"))).toBe(false);
  const escaped = new InlineEdit("t", "file:///a%20%281%29.py");
  expect(escaped.canShow(proposal([hunk("new")], "file:///a%20(1).py"))).toBe(true);
});

it("shows what is proposed, and is closed with the decision", () => {
  const edit = begun(writes('{"new_string": "new'));
  const review = proposal([hunk("new\n"), hunk("", 8, "a\nb\n")]);
  edit.propose(review);
  expect(edit.phase).toBe("deciding");
  expect(piecesOf(edit)).toEqual([{ words: "Line 4:" }, { code: "new" }, { words: "Deletes 2 lines at line 9." }]);
  edit.settle(review, false);
  expect(edit.phase).toBe("closed");
});

it("waits for another proposal if the user has said what should be different", () => {
  const edit = begun();
  const review = proposal([hunk("new\n")]);
  edit.propose(review);
  edit.settle(review, true);
  expect(edit.phase).toBe("working");
  edit.propose(proposal([hunk("better\n")]));
  expect(piecesOf(edit)).toEqual([{ code: "better" }]);
});

it("leaves what waits when its turn is cancelled, and nothing else", () => {
  const edit = begun();
  edit.propose(proposal([hunk("new\n")]));
  tell(edit, ended({ reason: "interrupted" }));
  expect(edit.phase).toBe("deciding");
  const empty = begun(ended({ reason: "interrupted" }));
  expect(empty.phase).toBe("closed");
});

it("says what the model answered if it changed nothing, and why it failed", () => {
  expect(piecesOf(begun(ended({ answer: "It is fine as it is." })))).toEqual([{ words: "It is fine as it is." }]);
  expect(piecesOf(begun(ended({ reason: "failed", detail: "no key" })))).toEqual([{ words: "no key" }]);
});

it("does not listen to helpers", () => {
  expect(tell(begun(), writes('{"new_string": "x'), "helper")).toBe(false);
});

it("shows words as they are", () => {
  expect(escaped("![x](http://a) <b> `c` a_b\nd")).toBe("\\!\\[x\\]\\(http\\:\\/\\/a\\) \\<b\\> \\`c\\` a\\_b\n\nd");
});
