// Texts in the user's language. The English text is the key, as in VS Code's own bundles; without one it is the text.

export type Texts = Readonly<Record<string, string>>;
type Value = string | number;

let texts: Texts = {};
let language = "en";

/** Have texts from this bundle from now on. Without one they are English, and so are numbers and times. */
export function speak(bundle: Texts | undefined, of: string): void {
  texts = bundle ?? {};
  language = bundle ? of : "en";
}

/** For whoever speaks elsewhere: the chat's page. */
export function spoken(): { texts: Texts; language: string } {
  return { texts, language };
}

/** The text, with the values in the places of `{0}`, `{1}` and so on. It is a literal: the bundle is made from those. */
export function t(text: string, ...values: Value[]): string {
  return (texts[text] ?? text).replace(/\{(\d+)\}/g, (place, index) => String(values[Number(index)] ?? place));
}

/** As many of something as `{0}` says. */
export function tn(count: number, one: string, many: string, ...values: Value[]): string {
  return t(count === 1 ? one : many, numberOf(count), ...values);
}

export function numberOf(count: number): string {
  return count.toLocaleString(language);
}
