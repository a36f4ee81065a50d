// Frees memory outside V8's heap at once, because V8 counts a buffer of megabytes as a small object and collects it
// late.

/** Frees the bytes, which may not be read any more. Bytes that share their memory with others are not freed. */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
