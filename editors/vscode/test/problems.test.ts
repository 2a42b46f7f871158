import { expect, test } from "vitest";
import { Problems } from "../src/problems";

function scene() {
  const shown: { text: string; titles: string[]; choose(title?: string): void }[] = [];
  const ran: string[] = [];
  const problems = new Problems({
    error: (text, ...titles) => new Promise((resolve) => shown.push({ text, titles, choose: resolve })),
    run: async (command) => ran.push(command),
  });
  return { problems, shown, ran };
}

const ACTIONS = [
  { title: "Restart", command: "odin.vscode.restart" },
  { title: "Show Log", command: "odin.vscode.showLog" },
];

test("a message has the actions that may help, and runs the one that is chosen", async () => {
  const { problems, shown, ran } = scene();
  const told = problems.tell("It keeps ending.", ACTIONS);
  expect(shown[0]).toMatchObject({ text: "Odin: It keeps ending.", titles: ["Restart", "Show Log"] });
  shown[0]?.choose("Show Log");
  await told;
  expect(ran).toEqual(["odin.vscode.showLog"]);
});

test("the same is not said twice while it is on the screen, but is again later", async () => {
  const { problems, shown } = scene();
  const told = problems.tell("It keeps ending.", ACTIONS);
  await problems.tell("It keeps ending.", ACTIONS);
  expect(shown).toHaveLength(1);
  shown[0]?.choose();
  await told;
  void problems.tell("It keeps ending.", ACTIONS);
  expect(shown).toHaveLength(2);
});
