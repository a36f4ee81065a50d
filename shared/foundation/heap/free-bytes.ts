// Frees what lies outside V8's heap at once: a buffer of megabytes is small to V8, which collects it late.

/** Nothing may read the bytes any more: a reader would find none. Bytes that share their memory with others stay. */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
