import { expect, test } from "vitest";
import { SilentPeers } from "./silent-peers.ts";

function peers(max: number, perAddressMax: number) {
  const gone: string[] = [];
  const silent = new SilentPeers<string>({ max, perAddressMax, cut: (peer) => void gone.push(peer) });
  return { silent, gone };
}

test("whoever has been silent longest goes for a newcomer, and the newcomer stays", () => {
  const { silent, gone } = peers(3, 3);
  for (const peer of ["a", "b", "c"]) silent.add(peer, peer);
  silent.heard("a");
  silent.add("d", "d");
  silent.add("e", "e");
  expect(gone).toEqual(["b", "c"]);
  expect([silent.size, silent.cutCount]).toEqual([3, 2]);
});

test("an address that has its share pushes out its own and nobody else's", () => {
  const { silent, gone } = peers(10, 2);
  silent.add("honest", "198.51.100.1");
  for (let i = 0; i < 5; i++) silent.add(`loud ${i}`, "203.0.113.9");
  expect(gone).toEqual(["loud 0", "loud 1", "loud 2"]);
});

test("whoever has left is not asked to go again, and leaves nothing behind", () => {
  const { silent, gone } = peers(1, 1);
  silent.add("a", "x");
  expect([silent.delete("a"), silent.delete("a")]).toEqual([true, false]);
  silent.heard("a");
  expect([silent.size, silent.cutLongest()]).toEqual([0, false]);
  silent.add("b", "x");
  expect([silent.cutLongest("b"), gone]).toEqual([false, []]);
});
