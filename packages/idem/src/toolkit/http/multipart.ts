// A multipart form without its boundary, which is another one on every attempt: compared as bytes, no retry would ever be the same request.

export interface FormPart {
  /** Content-Disposition as it came: the field's name and the file's. */
  readonly disposition: string;
  readonly type: string;
  /** Content-Transfer-Encoding, which hardly anybody sends. */
  readonly encoding: string;
  readonly content: Uint8Array;
}

const partCountMax = 1_000;
const headBytesMax = 8 * 1_024;

/** Null for what is not a whole multipart body; its bytes are compared then. */
export function multipartParts(body: Uint8Array, contentType: string): FormPart[] | null {
  const boundary = boundaryOf(contentType);
  if (boundary === null) return null;
  // With the line end in front, the first delimiter is found like the others.
  const bytes = Buffer.concat([Buffer.from("\r\n"), body]);
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  const parts: FormPart[] = [];
  let at = bytes.indexOf(delimiter);
  for (;;) {
    if (at === -1) return null;
    at += delimiter.length;
    if (bytes.toString("latin1", at, at + 2) === "--") return parts;
    if (bytes.toString("latin1", at, at + 2) !== "\r\n" || parts.length === partCountMax) return null;
    const headEnd = bytes.indexOf("\r\n\r\n", at);
    if (headEnd === -1 || headEnd - at > headBytesMax) return null;
    const next = bytes.indexOf(delimiter, headEnd + 2);
    if (next === -1) return null;
    const head = headersOf(bytes.toString("latin1", at + 2, headEnd));
    parts.push({
      disposition: head.get("content-disposition") ?? "",
      type: head.get("content-type") ?? "",
      encoding: head.get("content-transfer-encoding") ?? "",
      // A part without content ends where its head does.
      content: bytes.subarray(Math.min(headEnd + 4, next), next),
    });
    at = next;
  }
}

function headersOf(head: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of head.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon !== -1) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

// RFC 2046, 5.1.1: at most 70 characters.
function boundaryOf(contentType: string): string | null {
  const found = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  return found?.[1] ?? found?.[2] ?? null;
}
