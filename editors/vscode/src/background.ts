// One way to let something go on by itself: what goes wrong there is told, and stops nobody else.

type Tell = (error: unknown) => void;

let tell: Tell = (error) => console.error(error);

/** Have failures that nobody waits for told here. */
export function tellFailures(to: Tell): void {
  tell = to;
}

/** Nobody waits for it. */
export function inBackground(work: PromiseLike<unknown> | undefined): void {
  Promise.resolve(work).catch((error: unknown) => tell(error));
}

/** Do it, whatever comes of it: others do not depend on it. */
export function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    tell(error);
  }
}
