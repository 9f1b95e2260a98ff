import { describe, expect, it } from "vitest";
import { peerIdentity, sign } from "./peer.js";
import { type Rotation, readRotation, type SignedRotation, signRotation } from "./rotation.js";

const publisher = peerIdentity(new Uint8Array(32).fill(1));
const stranger = peerIdentity(new Uint8Array(32).fill(2));
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const ID = "nut-00000000-0000-4000-8000-000000000001";
const rotation: Rotation = {
  bundle_id: ID,
  sequence: 2,
  issued_at: "2026-03-14T10:00:00Z",
  encryption: "age",
  vault: "AAAA",
  scopes: [],
};
const holder = { bundleId: ID, publicKey: hex(publisher.publicKey), sequence: 1 };
const text = (signed: SignedRotation) => JSON.stringify(signed);

describe("readRotation", () => {
  it("takes what the publisher signed for this bundle, when it is newer", () => {
    const signed = text(signRotation(rotation, publisher));
    expect(readRotation(signed, holder)).toEqual(rotation);
    expect(readRotation(signed, { ...holder, publicKey: holder.publicKey.toUpperCase() })).toEqual(rotation);
  });

  const good = signRotation(rotation, publisher);
  const bare = Buffer.from(good.payload, "utf8");
  it.each([
    ["another's signature and key", text(signRotation(rotation, stranger)), holder],
    [
      "another's signature under the publisher's key",
      text({ ...signRotation(rotation, stranger), public_key: good.public_key }),
      holder,
    ],
    ["a changed content", text({ ...good, payload: good.payload.replace('"sequence":2', '"sequence":9') }), holder],
    ["a signature over the bare content", text({ ...good, signature: hex(sign(bare, publisher)) }), holder],
    ["another bundle", text(good), { ...holder, bundleId: ID.replace(/1$/, "2") }],
    ["one that was applied already", text(good), { ...holder, sequence: 2 }],
    ["an older one", text(good), { ...holder, sequence: 7 }],
    ["a manifest without a publisher's key", text(good), { ...holder, publicKey: undefined }],
    ["what is no rotation", '{"rotation_version":"0.2.0"}', holder],
    ["what is no JSON", "{", holder],
    ["a signed text that is no rotation", text(signRotation({ ...rotation, sequence: 0 }, publisher)), holder],
  ])("refuses %s", (_what, file, who) => {
    expect(() => readRotation(file, who)).toThrow(expect.objectContaining({ code: "ROTATION_REFUSED" }));
  });
});
