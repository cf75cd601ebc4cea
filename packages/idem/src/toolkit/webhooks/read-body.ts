// The body's bytes as they came, up to a bound: nothing is believed yet, so nothing is decoded.
export async function readBody(request: Request, bytesMax: number): Promise<Uint8Array | "too-large" | "broken"> {
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) return "too-large";
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let count = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks);
      count += value.byteLength;
      if (count > bytesMax) {
        await reader.cancel();
        return "too-large";
      }
      chunks.push(value);
    }
  } catch {
    // The sender went away in the middle, and will send it again.
    return "broken";
  }
}
