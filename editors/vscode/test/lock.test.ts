// `npm ci` works with npm 10 and 11, on every platform, and takes nothing but what was locked.

import { expect, test } from "vitest";
import lock from "../package-lock.json";

interface Locked {
  integrity?: string;
  optionalDependencies?: Record<string, string>;
}

const { "": own, ...packages } = lock.packages as Record<string, Locked>;

test("what is locked is known by its content", () => {
  expect(own).toBeDefined();
  expect(Object.keys(packages).filter((it) => !packages[it]?.integrity)).toEqual([]);
});

test("packages for other platforms are locked, too", () => {
  const named = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).map((it) => [`${place}/node_modules/${it}`, `node_modules/${it}`]),
  );
  expect(named.filter((places) => !places.some((it) => it in packages))).toEqual([]);
});
