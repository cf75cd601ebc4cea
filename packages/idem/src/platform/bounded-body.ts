// Reads an answer's body up to a bound: `fetch` inflates 316 bytes of brotli into 200 MB without asking (reliability S11).
export async function readBounded(response: Response, bytesMax: number): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      await reader.cancel();
      throw new Error(`the answer is larger than ${bytesMax} bytes`);
    }
    chunks.push(value);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
