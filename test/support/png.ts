/** Returns a data URL. The header of a PNG declares its size; any bytes may follow. */
export function png(width: number, height: number, bytes = 0): string {
  const header = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return `data:image/png;base64,${Buffer.concat([header, size, Buffer.alloc(bytes)]).toString('base64')}`;
}
