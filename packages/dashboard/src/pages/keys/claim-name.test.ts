import { expect, test } from "vitest";
import { claimName, readClaimName } from "./claim-name.ts";

test("a claim's place in an address is read back as it was, whatever stands in its key", () => {
  for (const key of ["", "7", '"a/b~c"', "~-", "~0~1", "%2F", '{"a":1}', "ключ"]) {
    const place = { scope: "fn:shop/a~b", key };
    expect(readClaimName(claimName(place))).toEqual(place);
    expect(claimName(place)).not.toContain("/");
  }
});
