/** Reads a body to its end. Undefined: it is larger than `maxBytes`; what was read is dropped. */
export async function readBoundedBody(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onBytes: () => void,
): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of body) {
    size += bytes.length;
    if (size > maxBytes) return undefined;
    parts.push(bytes);
    onBytes();
  }
  return Buffer.concat(parts).toString('utf8');
}
